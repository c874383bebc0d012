"""The bibliography of a paper: which heading begins it, where its entries begin, and what a printed entry says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.identifiers import normalise_doi
from carrel.types import ANY_YEAR, Cited

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADINGS = frozenset({
    "references", "reference", "reference list", "list of references", "references cited", "references and notes",
    "notes and references", "references and further reading", "bibliography", "selected bibliography",
    "bibliographic references", "bibliographical references", "works cited", "literature", "literature cited",
    "cited literature", "cited references", "literatur", "literaturverzeichnis", "literaturangaben",
    "références", "références bibliographiques", "bibliographie", "referencias", "referencias bibliográficas",
    "bibliografía", "bibliografia", "referências", "referências bibliográficas", "riferimenti bibliografici",
    "литература", "список литературы", "参考文献", "參考文獻", "引用文献", "참고문헌",
})  # fmt: skip
_HEADING_NUMBER = re.compile(r"[§#*_\s]*(?:(?:\d{1,3}(?:\.\d{1,3})*|[A-Z]|[IVX]{1,5})[.):、]?\s+|\d{1,3}[.)、])?")

_FOUR_DIGITS = r"(?:1[5-9]\d\d|20\d\d)"
_YEAR = rf"(?P<year>{_FOUR_DIGITS})"
_YEARS = (
    re.compile(rf"\({_YEAR}[a-z]?(?:,[^()]{{0,30}})?\)"),
    re.compile(rf"[.,;]\s{{0,2}}{_YEAR}[a-z]?(?=[.,;:]|\s*$|\s[A-Z][a-z]{{2}})"),
    re.compile(rf"(?<![\w./:–-]){_YEAR}[a-z]?(?![\w/–-]|\.\d)"),
)
_ADDRESS = re.compile(r"https?://\S+|\b10\.\d{4,9}/\S+|\barxiv:\s?\S+", re.IGNORECASE)
_AFTER_DOI = re.compile(r"\.?(?:PMC?ID|https?:|accessed).*", re.IGNORECASE)
_LONGEST = 2_000

_MARKER = re.compile(r"\s*(?:\[[^\]\s]{1,12}\]|\(\d{1,4}\)|\d{1,4}\.?(?=\s)|\d{1,4}[.)])\s*")
_QUOTED = re.compile(
    r"(?:^|[.,:;)\d]\s?)(?:“([^“”]{8,400})[”\"]|``([^`]{8,400}?)''|\"([^\"]{8,400})\"|«([^«»]{8,400})»|「([^「」]{4,200})」)"
)
_CHINESE = re.compile(r"[^.．。]{2,100}[.．。]\s*([^\[\]]{4,200}?)\s*\[[A-Z/]{1,5}\]")

_PARTICLES = r"(?:(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|el|al|bin|ibn|ten|ter|zu|af)\s){0,3}"
_CAPITAL = r"[^\W\d_a-z]"
_LETTERS = r"[\w'’´`¨¸-]"
_WORD = rf"{_CAPITAL}{_LETTERS}{{1,40}}"
_SURNAME = rf"{_PARTICLES}(?:[a-z]{{1,3}}['’-]?)?{_WORD}(?:\s{_PARTICLES}{_WORD}){{0,2}}"
_DOTTED = rf"{_CAPITAL}[a-z]?\.(?:[\s-]?[^\W\d_]\.){{0,4}}"
_JUNIOR = r"(?:,?\s(?:Jr|Sr|II|III|IV|2nd|3rd)\b\.?)?"
_STYLES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_SURNAME},\s(?:{_DOTTED}|[A-Z]{{1,4}}(?![\w.'’])){_JUNIOR}",
        rf"{_SURNAME}\s(?:{_DOTTED}|[A-Z]{{1,4}}(?:-[A-Z])?(?!\w)){_JUNIOR}",
        rf"(?:{_DOTTED}\s?)(?:{_CAPITAL}{_LETTERS}{{1,30}}\s){{0,1}}{_SURNAME}{_JUNIOR}",
        rf"(?:{_CAPITAL}{_LETTERS}{{1,30}}(?:\s{_CAPITAL}\.?){{0,2}}\s){{1,2}}{_SURNAME}{_JUNIOR}",
    )
)
"""`Smith, J.`, `Smith J`, `J. Smith`, `Jane Smith`: how the first author is written, all are."""
_JOINT = re.compile(r"\s?[,;]?\s(?:and|&|und|et|y)\s|\s?[,;]\s(?:&\s|and\s)?")
_MORE = re.compile(r"[,;]?\s(?:et al\b\.?|and others\b|…|\.\.\.)")
_AFTER_NAMES = re.compile(
    rf"[.,:;]?\s?(?:\((?:eds?|hrsg)\.?\)[.,:]?\s?)?"
    rf"(?P<dated>\(\s?{_FOUR_DIGITS}[a-z]?(?:,[^()]{{0,30}})?\)\s?[.,:]?|{_FOUR_DIGITS}[a-z]?[.,:])?\s?",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(
    r"(?<![\s(.][A-Z])(?<!\b[A-Z])(?<!\bvs)(?<!\bSt)(?<!\bcf)(?<!\bspp)(?<!\bsp)(?<!\bvar)(?<!\bsubsp)(?<!\be\.g)(?<!\bi\.e)"
    rf"(?:\.(?=\s+(?:{_CAPITAL}|[\d\[(“\"]|in\b|https?:|arXiv|doi)|\s*$)|[?!](?=\s+{_CAPITAL}|\s*$))"
)
_BEFORE_JOURNAL = re.compile(
    rf"(.{{10,300}}?),\s{_CAPITAL}[A-Za-z.&:\s-]{{1,80}},?\s(?:vol\.\s)?\d+[^,()]{{0,20}}(?:,\s[^,()]{{0,20}})?\(\d{{4}}\)"
)
_NO_TITLE = re.compile(
    r"In [A-Z]|(?i:in:|proc|journal of|https?:|doi|arxiv|available|accessed|pp?\.|vol\b|\d+\b|press\b|et al|eds?\b)"
)
_NUMBERED_LINE = re.compile(r"^[ \t]*(?:\[\w[^\]\n]{0,11}\]|\d{1,4}[.)](?=\s))", re.MULTILINE)
_PARAGRAPH = re.compile(r"^[^\S\n]*\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*", re.MULTILINE)


def is_heading(title: str) -> bool:
    """Whether a heading begins the bibliography: `References`, `7. Works cited`, `参考文献`."""
    plain = _HEADING_NUMBER.sub("", title[:100], count=1).strip(" .:*_#\t").casefold()
    return plain in _HEADINGS


def entries(text: str) -> Iterator[tuple[int, int]]:
    """Where each entry of a printed bibliography begins and ends: at its numbers, or else its paragraphs."""
    starts = [found.start() for found in _NUMBERED_LINE.finditer(text)]
    if len(starts) < 2 or text[: starts[0]].strip():
        yield from (found.span() for found in _PARAGRAPH.finditer(text))
        return
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield start, start + len(text[start:end].rstrip())


def cited(text: str) -> Cited:
    """What a printed entry says. A title only where the style of the entry makes plain which words it is."""
    line = " ".join(text.split())[:_LONGEST]
    return Cited(text=text, title=_title(line), doi=_doi(line), year=year_of(line))


def year_of(entry: str) -> int:
    """The year of publication: in brackets, between signs, or else the last that stands alone."""
    plain = _ADDRESS.sub(" ", entry)
    for pattern in _YEARS:
        if found := list(pattern.finditer(plain)):
            return int(found[-1]["year"])
    return ANY_YEAR


def _doi(entry: str) -> str:
    return _AFTER_DOI.sub("", normalise_doi(entry)).rstrip(".,;")


def _title(entry: str) -> str:
    marker = _MARKER.match(entry)
    body = entry[marker.end() :] if marker else entry
    if quoted := _QUOTED.search(body):
        return _checked(next(group for group in quoted.groups() if group))
    if chinese := _CHINESE.match(body):
        return _checked(chinese[1])
    ends = (_end_of_names(body, style) for style in _STYLES)
    return next((title for end in ends if end and (title := _checked(_after_names(body, end)))), "")


def _end_of_names(body: str, style: re.Pattern[str]) -> int:
    """Where the authors end that an entry begins with, if they are written in a style; 0 when they are not."""
    position = 0
    while name := style.match(body, position):
        position = name.end()
        if more := _MORE.match(body, position):
            return more.end()
        joint = _JOINT.match(body, position)
        if not joint or not style.match(body, joint.end()):
            break
        position = joint.end()
    return position


def _after_names(body: str, end: int) -> str:
    head = _AFTER_NAMES.match(body, end)
    if not head or not (head["dated"] or body[end - 1] == "." or body[end : end + 1] in {".", ",", ":", ";"}):
        return ""
    rest = body[head.end() :]
    if body[end : end + 2] == ", " and not head["dated"]:
        found = _BEFORE_JOURNAL.match(rest)
        return found[1] if found else ""
    found = _SENTENCE_END.search(rest)
    return rest[: found.end()] if found else ""


def _checked(title: str) -> str:
    """A title that can be one, without the sign that ends it; empty else."""
    plain = re.sub(r"\s*\[[A-Z/]{1,5}\]$", "", title.strip()).rstrip(" ,.;").strip()
    enough = len(plain.split()) >= 2 or len(plain) >= 12 or not plain.isascii()
    if not enough or len(plain) > 400 or _NO_TITLE.match(plain) or not any(sign.isalpha() for sign in plain):
        return ""
    return plain
