"""The files that references name: found below one folder, `pdf_root`, and nowhere else."""

from __future__ import annotations

import json
import os
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.references import paths
from carrel.references.paths import RefusedPath

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.layout import Layout

_LARGEST_CONFIG = 100_000


@dataclass(frozen=True, slots=True)
class PdfRoot:
    """Where the references' files are looked for."""

    folder: Path
    remark: str = ""
    """Why the folder that one of the library's own files names is not this one."""


def follow(text: str, root: Path) -> Path | None:
    """The file at a path below the root, or None; raises RefusedPath when path or link leads out of it."""
    if paths.is_address(text):
        raise RefusedPath(f"{text!r} is an address on the web, not a file")
    relative = paths.inside(text, root)
    try:
        folder = root.resolve()
        # A name with accents is spelled in two ways, and moving between systems changes the one into the other.
        for spelling in dict.fromkeys([relative, *(unicodedata.normalize(form, relative) for form in ("NFC", "NFD"))]):
            path = (folder / spelling).resolve()
            if not path.is_relative_to(folder):
                raise RefusedPath(f"the path {text!r} leads out of its folder by a link")
            if path.is_file():
                return path
    except (OSError, RuntimeError):
        # A name too long for the disk, a folder that may not be entered, links in a circle.
        pass
    return None


def pdf_root(place: Layout, named: str, *, confined: bool) -> PdfRoot:
    """The folder that the setting names, else the one that bip's config names, else the library's own.

    What a file of the library names (`confined`) may come from somebody else, and must lie in the library's folder.
    """
    folder = place.root.parent
    if named:
        chosen = PdfRoot(folder / os.path.expanduser(named))  # noqa: PTH111
        return _confined(named, folder, place.config) if confined else chosen
    configs = [place.root / "config.yml", place.root / "config.json"] if place.home != place.root else []
    config = next((path for path in configs if path.is_file()), None)
    return _of_bipartite(config, folder) if config else PdfRoot(folder)


def _of_bipartite(config: Path, folder: Path) -> PdfRoot:
    try:
        named = _read(config).get("pdf_root") or ""
        if not isinstance(named, str):
            raise ValueError(f"its pdf_root is {named!r}, no path")
    except (OSError, RecursionError, ValueError) as error:
        reason = " ".join(str(error).split())
        return PdfRoot(folder, f"{str(config)!r} cannot be read, and its pdf_root is not used: {reason}")
    return _confined(named, folder, config) if named else PdfRoot(folder)


def _read(config: Path) -> dict[str, Any]:
    import yaml

    if config.stat().st_size > _LARGEST_CONFIG:
        raise ValueError(f"it has more than {_LARGEST_CONFIG:,} bytes")
    text = config.read_text(encoding="utf-8-sig")
    try:
        record = json.loads(text) if config.suffix == ".json" else yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    if not isinstance(record, dict):
        raise ValueError("it is no mapping of keys to values")
    return record


def _confined(named: str, folder: Path, config: Path) -> PdfRoot:
    try:
        chosen = (folder / os.path.expanduser(named)).resolve()  # noqa: PTH111
        if chosen.is_relative_to(folder.resolve()):
            return PdfRoot(chosen)
    except (OSError, RuntimeError, ValueError):
        pass
    return PdfRoot(
        folder,
        f"{str(config)!r} names the PDF folder {named!r}, which is not in the library's folder and so is not used; "
        "set pdf_root in your own config if you want it",
    )
