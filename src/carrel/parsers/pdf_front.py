"""What the first page says of the paper: title, authors, abstract, DOI, year. Better nothing than something wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from carrel.identifiers import normalise_arxiv, normalise_doi, normalise_title
from carrel.parsers import pdf_headings
from carrel.types import ANY_YEAR, Author, BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from carrel.parsers.pdf_pages import Page
    from carrel.parsers.pdf_paragraphs import Measures
    from carrel.parsers.pdf_parts import Part

_DOI = re.compile(r"10\.\d{4,9}/[^\s,;<>\"]+[^\s,;<>\".)\]]")
_LINKED_DOI = re.compile(r"doi\.org/(10\.\d{4,9}/[^\s,;<>\"]+[^\s,;<>\".)\]])", re.IGNORECASE)
_LABELLED_DOI = re.compile(r"\bdoi:?\s*(10\.\d{4,9}/[^\s,;<>\"]+[^\s,;<>\".)\]])", re.IGNORECASE)
_ARXIV = re.compile(r"arXiv:\s?\S+")
_FOUR_DIGITS = r"((?:19|20)\d\d)\b"
_YEARS = tuple(
    re.compile(pattern + _FOUR_DIGITS, re.IGNORECASE)
    for pattern in (
        r"published(?: online)?:?[^\n\d]{0,20}(?:\d{1,2}\b[^\n\d]{1,20})?",
        r"(?:©|\(c\)|copyright)\D{0,5}",
        r"proceedings of[^\n]{0,150}?\b",
        r"arXiv:\S+[^\n]{0,40}?\b",
        r"\bet al\. \(",
    )
)
_NO_TITLE = re.compile(r"untitled|microsoft word|\.(?:docx?|tex|dvi|pdf|rtf|indd)\b|^\W*$", re.IGNORECASE)
_ABSTRACT = re.compile(r"(?:Abstract|ABSTRACT|Summary|SUMMARY)\s*[.:—–-]\s*")
_LONGEST_ABSTRACT = 5_000
_FRONT_PARTS = 60
"""Among which an abstract begins."""
_LARGER = 1.5
"""Points by which a title is larger than the text."""
_MARKS = re.compile(r"[\d*†‡§¶∗,]+$|^[\d*†‡§¶∗,]+|\([^)]*\)")
_NAME = re.compile(r"(?:[^\W\d_][\w'’.-]*\s){1,4}[^\W\d_][\w'’-]+")
_PARTICLES = frozenset({
    "de", "del", "della", "des", "dos", "du", "van", "von", "der", "den", "ten", "ter", "la", "le", "di", "da", "do",
    "el", "al", "bin", "ibn", "y", "e", "zu", "af",
})  # fmt: skip
_NO_NAME = re.compile(
    r"universi|institut|department|school|college|laborator|center|centre|faculty|research|inc\b|@|http|abstract|"
    r"academy|hospital|group|proceedings|journal|conference|of the|\band\b",
    re.IGNORECASE,
)
_BETWEEN_NAMES = re.compile(r",|;|\band\b|&|\s?[\d*†‡§¶∗]+(?=[\s,]|$)")
_MOST_AUTHORS = 200
_LONGEST_NAMES = 8_000


@dataclass(frozen=True, slots=True)
class Front:
    title: str = ""
    authors: tuple[Author, ...] = ()
    abstract: str = ""
    doi: str = ""
    arxiv: str = ""
    year: int = ANY_YEAR


def titled(parts: Sequence[Part], measures: Measures, named: str) -> list[Part]:
    """The parts, with the paper's title as their one heading of level 1, and no names under it taken for headings."""
    found = _title_at(parts, measures, named)
    if found is None:
        return list(parts)
    first, last = found
    lines = tuple(line for part in parts[first:last] for line in part.lines)
    title = replace(parts[first], kind=BlockKind.HEADING, lines=lines, level=1, note=False, aside=False)
    before = [_plain(part) for part in parts[:first]]
    return [*before, title, *_in_order(parts[last:], measures)]


def _title_at(parts: Sequence[Part], measures: Measures, named: str) -> tuple[int, int] | None:
    """Where the title stands, from its first part to the one after its last: as the file names it, or else largest."""
    page = [index for index, part in enumerate(parts) if part.lines[0].page == parts[0].lines[0].page]
    plain = normalise_title(named)
    if len(plain) > 10 and not _NO_TITLE.search(named):
        for index in page:
            if end := _end_of(parts, index, plain):
                return index, end
    large = [i for i in page if _may_be_title(parts[i]) and _size(parts[i]) >= measures.size + _LARGER]
    if not large:
        return None
    first = max(large, key=lambda index: (_size(parts[index]), -index))
    last = first + 1
    while last in large and _size(parts[last]) == _size(parts[first]):
        last += 1
    return first, last


def _end_of(parts: Sequence[Part], start: int, title: str) -> int | None:
    """Where the parts end that are a title, from the first of them on; None when they are not."""
    text, end = "", start
    while end < len(parts) and len(text) < len(title):
        text += normalise_title(parts[end].text)
        end += 1
    return end if text == title else None


def _size(part: Part) -> float:
    return part.lines[0].size


def _may_be_title(part: Part) -> bool:
    text = part.text
    prose = part.kind in {BlockKind.TEXT, BlockKind.HEADING}
    return prose and 8 <= len(text) <= 400 and " " in text and "@" not in text and not pdf_headings.is_known(text)


def _plain(part: Part) -> Part:
    return replace(part, kind=BlockKind.TEXT, level=0) if part.kind == BlockKind.HEADING else part


def _in_order(parts: Sequence[Part], measures: Measures) -> list[Part]:
    """What comes after the title: names and addresses, which are no headings, however they are set; what stands beside
    the first page's text; and the text, which goes on overleaf."""
    beside = [part for part in parts if part.aside and part.lines[0].page == 0]
    others = [part for part in parts if not (part.aside and part.lines[0].page == 0)]
    end = _end_of_front(others, measures)
    return list(parts) if end is None else [*map(_plain, others[:end]), *beside, *others[end:]]


def _end_of_front(parts: Sequence[Part], measures: Measures) -> int | None:
    for index, part in enumerate(parts):
        if part.kind == BlockKind.HEADING and pdf_headings.is_section(part.text):
            return index
        if index and part.kind == BlockKind.TEXT and len(part.text) > 200 and abs(_size(part) - measures.size) < 0.6:
            return index - 1
    return None


def front_of(parts: Sequence[Part], texts: Sequence[str], first: Page, metadata: Mapping[str, str]) -> Front:
    """From the parts with their texts as written, and all that is printed on the first page."""
    printed = "\n".join(piece.text for piece in first.pieces)
    title_at = next((index for index, part in enumerate(parts) if part.level == 1), None)
    stamps = _ARXIV.findall(f"{first.turned}\n{printed}")
    return Front(
        title=texts[title_at] if title_at is not None else "",
        authors=tuple(_authors(parts, texts, title_at, metadata.get("Author", ""), printed)),
        abstract=_abstract(parts, texts),
        doi=_doi(printed),
        arxiv=next((found for stamp in stamps if (found := normalise_arxiv(stamp))), ""),
        year=_year(f"{printed}\n{first.turned}"),
    )


def _doi(printed: str) -> str:
    """The one DOI of a first page, or the one that is called its DOI."""
    for pattern in (_LABELLED_DOI, _LINKED_DOI, _DOI):
        found = {normalise_doi(doi) for doi in pattern.findall(printed)}
        if len(found) == 1:
            return found.pop()
    return ""


def _year(printed: str) -> int:
    for pattern in _YEARS:
        found = {int(year) for year in pattern.findall(printed)}
        if len(found) == 1:
            return found.pop()
    return ANY_YEAR


def _abstract(parts: Sequence[Part], texts: Sequence[str]) -> str:
    for index, (part, text) in enumerate(zip(parts[:_FRONT_PARTS], texts, strict=False)):
        if part.kind == BlockKind.HEADING and pdf_headings.words_of(text).strip(" .:").casefold() == "abstract":
            paragraphs = list(_until_heading(parts[index + 1 :], texts[index + 1 :]))
            whole = " ".join(paragraphs)
            return whole if len(whole) <= _LONGEST_ABSTRACT else paragraphs[0][:_LONGEST_ABSTRACT]
        if part.kind == BlockKind.TEXT and (found := _ABSTRACT.match(text)):
            return text[found.end() :][:_LONGEST_ABSTRACT]
    return ""


def _until_heading(parts: Sequence[Part], texts: Sequence[str]) -> Iterator[str]:
    for part, text in zip(parts, texts, strict=True):
        if part.kind == BlockKind.HEADING:
            return
        if part.kind in {BlockKind.TEXT, BlockKind.LIST} and not part.note:
            yield text


def _authors(
    parts: Sequence[Part], texts: Sequence[str], title_at: int | None, named: str, printed: str
) -> Iterator[Author]:
    """As the file names them, where the first page has them too; else the line of names under the title."""
    names = [name.strip() for name in re.split(r";|,(?!\s*Jr)|\band\b|&", named) if name.strip()]
    plain = normalise_title(printed)
    if not names or not all(_NAME.fullmatch(name) and normalise_title(name) in plain for name in names):
        names = list(_printed_names(parts, texts, title_at))
    for name in names[:_MOST_AUTHORS]:
        first, _, last = name.rpartition(" ")
        yield Author(last=last, first=first)


def _printed_names(parts: Sequence[Part], texts: Sequence[str], title_at: int | None) -> Iterator[str]:
    """From the parts under the title, as long as they are names and nothing else."""
    start = len(parts) if title_at is None else title_at + 1
    for part, text in zip(parts[start:], texts[start:], strict=True):
        names = _names(text)
        if part.kind != BlockKind.TEXT or not names:
            return
        yield from names


def _names(text: str) -> list[str]:
    """The names of a list of names; none when anything in it cannot be one."""
    if len(text) > _LONGEST_NAMES:
        return []
    pieces = (_MARKS.sub("", piece.strip()).strip() for piece in _BETWEEN_NAMES.split(text))
    names = [piece for piece in pieces if piece]
    return names if all(map(_is_name, names)) else []


def _is_name(text: str) -> bool:
    """Two to five words, each with a capital letter where its script has any."""
    written = all(not word[0].islower() or word in _PARTICLES for word in text.split())
    return written and bool(_NAME.fullmatch(text)) and not _NO_NAME.search(text)
