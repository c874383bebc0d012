"""Which of the files that somebody points at are lists of references, and which are papers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.errors import SourceError
from carrel.references import formats, texts
from carrel.types import Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

_HEAD = 1_000_000
_ROOT = re.compile(r"<(?:[\w.-]+:)?(?P<root>[A-Za-z][\w.-]*)[\s/>]")
_XML_ROOTS = frozenset({
    "article", "tei", "tei.2", "pmc-articleset", "articles", "oai-pmh", "record", "metadata", "teicorpus", "articleset",
})  # fmt: skip


def told_apart(
    files: Iterable[Path], suffixes: Collection[str], others: list[Problem], *, named: bool
) -> Iterator[tuple[Path, bool]]:
    """Each file that can be read, and whether it is a paper rather than a list of references.

    A file that was named is given to its suffix's reader, which says what is wrong with it; of those that are met in a
    folder only what looks like a paper is.
    """
    for path in files:
        suffix = path.suffix.lower()
        try:
            if formats.sniff(path):
                yield path, False
            elif suffix in suffixes and (named or is_paper(path)):
                yield path, True
            else:
                others.append(Problem(str(path), _unsupported(suffix, suffixes)))
        except SourceError as error:
            others.append(Problem(str(path), error.message))


def inside(folder: Path) -> Iterator[Path]:
    """The files of a folder, in a stable order; hidden ones and links to elsewhere are left alone."""
    if extraction := _extraction(folder):
        yield extraction
        return
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            yield from inside(entry)
        elif entry.is_file():
            yield entry


def is_paper(path: Path) -> bool:
    """Whether a file whose suffix says little looks like a paper; of any other kind, always."""
    match path.suffix.lower():
        case ".json":
            from carrel.parsers.marker import is_marker

            return is_marker(texts.head(path, _HEAD))
        case ".xml":
            root = _ROOT.search(texts.head(path, _HEAD))
            return root is not None and root["root"].lower() in _XML_ROOTS
    return True


def _extraction(folder: Path) -> Path | None:
    """Marker's reading of one paper, `<key>/<key>.json`: what lies beside it is the same paper again, or its parts."""
    main = folder / f"{folder.name}.json"
    return main if main.is_file() and not main.is_symlink() and is_paper(main) else None


def _unsupported(suffix: str, suffixes: Collection[str]) -> str:
    known = {*formats.SUFFIXES, *suffixes}
    if suffix in known:
        return "it holds no references and no paper in a format that Carrel knows"
    return f"nothing reads {suffix or 'such'!r} files; there are readers for {', '.join(sorted(known))}"
