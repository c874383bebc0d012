"""Writing to disk so that a reader sees the old or the new, never a half."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, TypeAlias

from carrel.errors import CarrelError, ReadOnlyLibrary, StorageFull, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def storage_error(error: OSError, path: Path) -> CarrelError:
    """Say in Carrel's words why the system refused a write."""
    if error.errno in _FULL:
        return StorageFull(
            f"no space left to write {str(path)!r}", hint="Free some space and run the same command again."
        )
    if error.errno in _READ_ONLY:
        return ReadOnlyLibrary(
            f"cannot write to {str(path)!r}: {error.strerror}",
            hint="Make the directory writable, or use another library with --library.",
        )
    return StoreUnavailable(f"cannot write {str(path)!r}: {error.strerror or error}", hint="Run `carrel doctor`.")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


def write_atomically(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Replace `path` by `content` in one step. What is not `durable` may be lost, whole, in a power cut."""
    with writing(path):
        temporary = _beside(path)
        try:
            with temporary.open("xb") as file:
                file.write(content)
                if durable:
                    flush(file)
            if path.exists():
                shutil.copymode(path, temporary)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def flush(file: IO[bytes]) -> None:
    """Do not return before the bytes are on the disk."""
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """A directory to fill, that becomes `target` in one step when the block ends well."""
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = _beside(target)
        temporary.mkdir()
        try:
            yield temporary
            _swap(temporary, target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


Stamp: TypeAlias = tuple[int, int, int]


def stamp_of(path: Path) -> Stamp | None:
    """What changes when a file is replaced; None when there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def is_writable(directory: Path) -> bool:
    return os.access(directory, os.W_OK) and not os.statvfs(directory).f_flag & os.ST_RDONLY


def cut_short(directory: Path, sizes: dict[str, int]) -> str:
    """The name of a file that is shorter than it was when last looked at; empty if there is none.

    Of files that never change and are mapped into memory: to read beyond the end of one would end the process.
    """
    # Whatever is gone altogether is still mapped.
    with suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            # Looked up first: another thread may see the file longer in between, while it is being written.
            known = sizes.get(entry.name, 0)
            size = 0 if entry.name.endswith((".json", ".lock")) else entry.stat().st_size
            if size < known:
                return entry.name
            sizes[entry.name] = size
    return ""


def link_or_copy(source: Path, target: Path) -> None:
    """A file, or a directory of files, that never changes, under a second name; what has that name goes."""
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, copy_function=_link)
    else:
        target.unlink(missing_ok=True)
        _link(str(source), str(target))


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        # Not every file system has links.
        shutil.copy2(source, target)


def size_on_disk(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def _swap(temporary: Path, target: Path) -> None:
    if not target.exists():
        temporary.rename(target)
        return
    retired = _beside(target)
    target.rename(retired)
    temporary.rename(target)
    shutil.rmtree(retired, ignore_errors=True)


def _beside(path: Path) -> Path:
    """A name nobody uses, in the same directory so that a rename is one step."""
    return path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}")
