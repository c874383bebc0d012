"""Copies of documents that were handed over: {uploads}/{sha256}/{name}, each written whole before it is spoken of."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import time
import unicodedata
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from carrel.errors import InvalidSource, TooLarge
from carrel.files import flush, writing

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_NAME = 100
_PIECE = 1 << 20
_UNSAFE = re.compile(r"[^\w.+,;=@()\[\] -]+")
_WAITING = ".incoming-"
_DAY = 86_400.0
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Stored(NamedTuple):
    path: Path
    digest: str
    """SHA-256."""
    size: int


def safe_name(name: str, suffix: str) -> str:
    """What a sender calls a file, as a name that leads nowhere else, ending as its format wants it."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    stem = last[: -len(suffix)] if suffix and last.lower().endswith(suffix) else Path(last).stem
    clean = " ".join(_UNSAFE.sub("_", stem).split()).strip(". ")
    return f"{clean.encode()[:_LONGEST_NAME].decode(errors='ignore').strip('. ') or 'document'}{suffix}"


@contextmanager
def incoming(folder: Path) -> Iterator[Path]:
    """A file to write to, that is gone afterwards unless it was moved."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{_WAITING}{secrets.token_hex(8)}"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def receive(source: IO[bytes], into: Path, most: int) -> None:
    """Copy what a client sends, up to so many bytes."""
    size = 0
    with writing(into), into.open("xb") as file:
        while piece := source.read(_PIECE):
            size += len(piece)
            if size > most:
                raise TooLarge(f"the file has more than the {most:,} bytes allowed", hint="See serve.upload_megabytes.")
            file.write(piece)
        flush(file)


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def settle(waiting: Path, digest: str, name: str, folder: Path) -> Stored:
    """Give a file that was received the place where it is kept. One with the same bytes and name is the same."""
    size = waiting.stat().st_size
    if not size:
        raise InvalidSource("the file is empty")
    path = folder / digest / name
    with writing(path):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        waiting.replace(path)
    return Stored(path, digest, size)


def orphans(folder: Path) -> Iterator[tuple[str, Path]]:
    """Folders that nobody has touched for a day, with the digest that they are named by; litter is swept away."""
    if not folder.is_dir():
        return
    for entry in os.scandir(folder):
        if time.time() - entry.stat(follow_symlinks=False).st_mtime < _DAY:
            continue
        if entry.name.startswith(_WAITING):
            Path(entry.path).unlink(missing_ok=True)
        elif entry.is_dir(follow_symlinks=False) and _DIGEST.fullmatch(entry.name):
            yield entry.name, Path(entry.path)


def discard(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
