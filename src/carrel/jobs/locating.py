"""Which files the service may read: the one place where a name that somebody sends becomes a path."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.errors import InvalidSource, TooLarge

if TYPE_CHECKING:
    from carrel.layout import Layout

_LONGEST = 4096
_LEAST_PRINTED = 0x20
_DELETE = 0x7F
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Roots:
    """The folders below which files may be read: the library's own, and those that its user names."""

    layout: Layout
    others: tuple[Path, ...] = ()

    @classmethod
    def of(cls, layout: Layout, named: str) -> Roots:
        """`named` as the setting has it: separated as in PATH."""
        return cls(layout, tuple(Path(one).expanduser() for one in named.split(os.pathsep) if one.strip()))

    def find(self, name: str) -> Path:
        """The file that somebody names, wherever links lead; nothing is said of files that may not be read."""
        _check_name(name)
        try:
            path = (self.layout.root.parent / name).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise InvalidSource(f"{name!r} names no file", hint="A path within a folder of jobs.roots.") from error
        if not self._covers(path):
            raise InvalidSource(
                f"{name!r} is not in a folder that the service may read",
                hint="Upload it, or have jobs.roots name its folder.",
            )
        if not _is_file(path):
            raise InvalidSource(f"there is no file {name!r}", hint="Paths start at the library's folder.")
        return path

    def read(self, remembered: str, most: int) -> tuple[Path, bytes]:
        """A file that was found before, once more looked at: what it is now is not what it was then."""
        path = self.layout.root.parent / remembered
        real = path.resolve()
        if not (self._covers(real) or real.is_relative_to(self.layout.uploads.resolve())):
            raise InvalidSource(f"{remembered!r} is no longer in a folder that the service may read")
        try:
            return real, _content(real, most)
        except FileNotFoundError as error:
            raise self._absent(remembered, real) from error
        except OSError as error:
            raise InvalidSource(f"cannot read {remembered!r}: {error.strerror or error}") from error

    def has(self, remembered: str) -> bool:
        """Whether a file that was found before, perhaps from another machine, is here."""
        return bool(remembered) and _is_file((self.layout.root.parent / remembered).resolve())

    def _absent(self, remembered: str, path: Path) -> InvalidSource:
        if not path.is_relative_to(self.layout.uploads.resolve()):
            return InvalidSource(
                f"there is no file {remembered!r} any longer, or not on the machine of the worker that was to read it",
                hint="Workers on several machines need it under the same path; or upload it.",
            )
        return InvalidSource(
            f"the copy of {path.name!r} that was sent is not on the machine of the worker that was to read it",
            hint="Workers on several machines need one folder 'uploads' in the library's directory: share that, and "
            "submit the document again.",
        )

    def _covers(self, path: Path) -> bool:
        return any(self._is_open_in(path, root.resolve()) for root in (self.layout.root.parent, *self.others))

    def _is_open_in(self, path: Path, root: Path) -> bool:
        """Hidden files and folders are nobody's business, the library's own directory among them."""
        if not path.is_relative_to(root) or path.is_relative_to(self.layout.root.resolve()):
            return False
        return not any(part.startswith(".") for part in path.relative_to(root).parts)


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > _LONGEST:
        raise InvalidSource(f"a path has from 1 to {_LONGEST:,} characters, this one {len(name):,}")
    if any(ord(letter) < _LEAST_PRINTED or ord(letter) == _DELETE for letter in name):
        raise InvalidSource(f"{name!r} has a control character in it")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # A name that is longer than any file's, for instance.
        return False


def _content(path: Path, most: int) -> bytes:
    """Of a plain file, through the one descriptor that was looked at."""
    opened = os.open(path, _FLAGS)
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidSource(f"{path.name!r} is a pipe, a device or a folder, not a file")
        content = file.read(most + 1)
    if len(content) > most:
        raise TooLarge(
            f"{path.name!r} has more than the {most:,} bytes allowed",
            hint="Split it, or raise ingest.max_document_characters.",
        )
    return content
