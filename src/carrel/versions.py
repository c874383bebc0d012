"""A file as git remembers it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS = 30


def before(path: Path, commit: str) -> bytes:
    """The file's content at a commit; empty when that commit does not have it."""
    if not commit.strip() or commit.startswith("-") or not commit.isprintable():
        raise InvalidInput(f"{commit!r} is no commit", hint="As in a3f9c21, HEAD~5, main or v1.0.")
    folder = path.parent
    _git(folder, "rev-parse", "--show-prefix")
    found = _named(folder, f"{commit}^{{commit}}")
    if not found:
        raise NotFound(f"git knows no commit {commit!r}", hint="'git log' shows them.")
    blob = _named(folder, f"{found}:./{path.name}")
    return _git(folder, "cat-file", "blob", blob) if blob else b""


def _named(folder: Path, name: str) -> str:
    """The hash of what a name means to git; empty when it means nothing."""
    return _git(folder, "rev-parse", "--verify", "--quiet", name, refusals=(1,)).decode().strip()


def _git(folder: Path, *arguments: str, refusals: tuple[int, ...] = ()) -> bytes:
    """What git prints. It fetches nothing from elsewhere."""
    command = ["git", "-c", "protocol.allow=never", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL)  # noqa: S603
    except FileNotFoundError as error:
        raise NotFound("git is not installed", hint="--since asks git; --recent does not.") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotFound(f"git gave no answer: {error}", hint="Try 'git log' in the library's folder.") from error
    if done.returncode and done.returncode not in refusals:
        said = next(iter(done.stderr.decode("utf-8", "replace").splitlines()), f"exit code {done.returncode}")
        raise NotFound(f"git cannot look into {str(folder)!r}: {said}", hint="--since asks git; --recent does not.")
    return done.stdout
