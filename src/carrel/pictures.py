"""The pictures of papers: those that came inside a paper's file, kept by the library, and those that lie beside it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from carrel import attachments
from carrel.embedders.cache import file_name
from carrel.files import new_directory
from carrel.references.paths import RefusedPath

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Image

_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg", ".tif", ".tiff", ".bmp"})


@dataclass(frozen=True, slots=True)
class Pictures:
    kept: Path
    """Where the library keeps those that came inside files: derived, a folder for each paper."""
    folder: Path
    """The library's, from which on the paths of papers' files are remembered."""

    def keep(self, paper_id: str, images: Sequence[Image]) -> None:
        """Keep exactly these of a paper, in one step. What is no picture by its name is left out."""
        pictures = {_kept_name(image.name): image.content for image in images if _is_picture(image.name)}
        if not pictures:
            shutil.rmtree(self._of(paper_id), ignore_errors=True)
            return
        with new_directory(self._of(paper_id)) as directory:
            for name, content in pictures.items():
                (directory / name).write_bytes(content)

    def find(self, paper_id: str, name: str, sources: Sequence[str]) -> Path | None:
        """The file of a picture that an exhibit names; None when there is none in the places where it may be."""
        if not _is_picture(name):
            return None
        kept = self._of(paper_id) / _kept_name(name)
        if kept.is_file():
            return kept.absolute()
        beside = (_beside(self.folder / source, name) for source in sources)
        return next((path for path in beside if path), None)

    def _of(self, paper_id: str) -> Path:
        return self.kept / file_name(paper_id)


def _beside(source: Path, name: str) -> Path | None:
    """A picture in the folder of a paper's file, or below it; paths and links that lead elsewhere are not followed."""
    try:
        return attachments.follow(name, source.parent)
    except RefusedPath:
        return None


def _is_picture(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in _ENDINGS


def _kept_name(name: str) -> str:
    """One that any file system takes, with the ending that says what it is."""
    ending = PurePosixPath(name).suffix
    return f"{file_name(name.removesuffix(ending))}{ending.lower()}"
