"""References as BibTeX, in characters that every LaTeX reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.types import Author, Reference

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_MATH = re.compile(r"(?<!\\)\$[^$\n]+(?<!\\)\$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_IN_PROCEEDINGS = re.compile(r"proceedings|conference|workshop|symposium", re.IGNORECASE)
_PREPRINT = re.compile(r"arxiv|biorxiv|medrxiv", re.IGNORECASE)
_CAPITALS = re.compile(r"(?<![{\w])(\w*[A-Z]\w*[A-Z]\w*|\w+[A-Z]\w*)(?![}\w])")


def dump(reference: Reference) -> str:
    """One entry, with a line end behind it."""
    lines = [f"  {name} = {value}," for name, value in _fields(reference)]
    return "\n".join([f"@{_kind(reference)}{{{reference.id},", *lines, "}"]) + "\n"


def escaped(text: str) -> str:
    """Text as LaTeX writes it. Formulas between dollars stay as they are."""
    pieces: list[str] = []
    end = 0
    for formula in _MATH.finditer(text):
        pieces += [_plain(text[end : formula.start()]), formula.group()]
        end = formula.end()
    return "".join([*pieces, _plain(text[end:])])


def _plain(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


def _kind(reference: Reference) -> str:
    venue = reference.venue
    return "inproceedings" if _IN_PROCEEDINGS.search(venue) and not _PREPRINT.search(venue) else "article"


def _fields(reference: Reference) -> Iterator[tuple[str, str]]:
    if reference.authors:
        yield "author", _braced(" and ".join(map(_name, reference.authors)))
    yield "title", _braced(_kept_capitals(escaped(reference.title)))
    if reference.venue:
        yield "booktitle" if _kind(reference) == "inproceedings" else "journal", _braced(escaped(reference.venue))
    yield from _dates(reference)
    if reference.arxiv_id:
        yield "eprint", _braced(reference.arxiv_id)
        yield "archiveprefix", _braced("arXiv")
    for name in ("doi", "pmid", "pmcid"):
        if value := getattr(reference, name):
            yield name, _braced(value)
    for name, text in (("abstract", reference.abstract), ("note", reference.note)):
        if text:
            yield name, _braced(escaped(text))
    if reference.tags:
        yield "keywords", _braced(escaped(", ".join(reference.tags)))
    files = [path for path in (reference.pdf_path, *reference.supplement_paths) if path]
    if files:
        yield "file", _braced(";".join(files))


def _dates(reference: Reference) -> Iterator[tuple[str, str]]:
    published = reference.published
    if published.year:
        yield "year", _braced(str(published.year))
    if 1 <= published.month <= len(_MONTHS):
        yield "month", _MONTHS[published.month - 1]
    if published.day:
        yield "day", _braced(str(published.day))


def _name(author: Author) -> str:
    """`Last, First`; a name in one piece is braced, so that it is not taken apart."""
    return f"{escaped(author.last)}, {escaped(author.first)}" if author.first else f"{{{escaped(author.last)}}}"


def _kept_capitals(title: str) -> str:
    """Words with capitals inside are braced: styles would make them small."""
    return _CAPITALS.sub(r"{\1}", title)


def _braced(text: str) -> str:
    return f"{{{text}}}"
