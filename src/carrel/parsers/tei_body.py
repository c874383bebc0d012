"""The text of a TEI document: divisions, paragraphs, figures, and GROBID's places on the page."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from carrel.identifiers import normalise_doi
from carrel.parsers import Source, bibliography, captions, companions
from carrel.parsers.xml_flow import At, Flow
from carrel.parsers.xml_inline import Tags, inline
from carrel.parsers.xml_names import attribute, child, children, descendants, first, local
from carrel.types import BlockKind, Box, Cited, ExhibitKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lxml.etree import _Element

    from carrel.parsers.building import Builder

TAGS = Tags(
    breaks=frozenset({
        "p", "head", "label", "div", "item", "list", "lb", "pb", "cb", "cell", "row", "figdesc", "note", "quote",
        "persname", "forename", "surname",
    }),
    skipped=frozenset({"graphic", "fw"}),
    links=frozenset({"ref"}),
    formulas=frozenset({"math"}),
)  # fmt: skip
_TITLES = {
    "acknowledgement": "Acknowledgments", "acknowledgment": "Acknowledgments", "annex": "Appendix",
    "availability": "Availability", "funding": "Funding", "conflict": "Conflicts of interest",
    "contribution": "Author contributions",
}  # fmt: skip
_SHOWN = frozenset({"head", "label", "figdesc", "graphic", "table", "note"})
_DEEPEST_NUMBER = 4
_SPACED_SIGN = re.compile(r" ([:.])")
_MOST_BOXES = 200


class Body:
    """Puts the parts of a document into a paper's text."""

    def __init__(self, builder: Builder, source: Source) -> None:
        self.builder, self.source = builder, source
        blocks: dict[str, Callable[[_Element, At], None]] = {
            "div": self._division,
            "head": self._head,
            "figure": self._figure,
            "formula": self._formula,
            "list": self._list,
            "listbibl": self._references,
            "table": self._table,
            **dict.fromkeys(("code", "eg"), self._code),
            **dict.fromkeys(("p", "note", "quote", "lg", "floatingtext"), self._part),
        }
        self.flow = Flow(builder, TAGS, blocks, floats=frozenset({"figure", "note"}), boxes=boxes)

    def put(self, element: _Element | None, at: At) -> None:
        if element is not None:
            self.flow.flow(element, at)

    def _part(self, element: _Element, at: At) -> None:
        self.flow.flow(element, at)

    def _division(self, element: _Element, at: At) -> None:
        head = child(element, "head")
        if head is None and (title := _TITLES.get(attribute(element, "type"), "")) and _puts_own_text(element):
            self.builder.put_heading(title, at.level)
            at = at.section()
        self.flow.flow(element, at)

    def _head(self, element: _Element, at: At) -> None:
        """A heading, as deep as its number says: GROBID writes all divisions side by side."""
        number = attribute(element, "n").rstrip(".")
        title = self.flow.words(element)
        if at.boxed:
            self.builder.put(at.kind, at.marked(title))
            return
        depth = min(number.count("."), _DEEPEST_NUMBER) if number else _depth(element)
        heading = title if not number or title.startswith(number) else f"{number} {title}"
        self.builder.put_heading(heading, at.level + depth, boxes=boxes(element))

    def _figure(self, element: _Element, at: At) -> None:
        start, caption = self.builder.position, self._caption(element)
        table = child(element, "table")
        kind = ExhibitKind.TABLE if attribute(element, "type") == "table" or table is not None else ExhibitKind.FIGURE
        graphic = child(element, "graphic")
        self.builder.put(BlockKind.CAPTION, caption, boxes=boxes(element))
        if table is not None:
            self._table(table, at)
        for note in children(element, "note"):
            self.builder.put(BlockKind.CAPTION, self.flow.words(note))
        self.flow.flow(element, at.box(BlockKind.CAPTION), but=_SHOWN)
        self.builder.exhibit(
            captions.kind_of(caption) or kind,
            start,
            caption=caption,
            image=companions.picture(self.source, attribute(graphic, "url")) if graphic is not None else "",
            box=next(iter(boxes(graphic if graphic is not None else element)), None),
        )

    def _caption(self, element: _Element) -> str:
        """Its head and description. GROBID gives the number again in a label, and often no head at all."""
        head, described = self.flow.words(child(element, "head")), self.flow.words(child(element, "figdesc"))
        label = self.flow.words(child(element, "label"))
        if not head and label:
            head = f"{'Table' if attribute(element, 'type') == 'table' else 'Figure'} {label}:"
        head = _SPACED_SIGN.sub(r"\1", head)
        return described if head and described.startswith(head) else f"{head} {described}".strip()

    def _table(self, element: _Element, at: At) -> None:
        self.flow.table(element, at)

    def _formula(self, element: _Element, at: At) -> None:
        if element.get("notation") == "tex" or first(element, "math") is not None:
            self.flow.formula(element, at)
            return
        label = self.flow.words(child(element, "label"))
        text = self.flow.words(element).removesuffix(label).strip()
        tag = f" \\tag{{{label.strip('()[] ')}}}" if label else ""
        self.builder.put(BlockKind.FORMULA, f"$${text}{tag}$$" if text else "", boxes=boxes(element))

    def _code(self, element: _Element, at: At) -> None:
        self.flow.code(element, at)

    def _list(self, element: _Element, at: At) -> None:
        ordered = attribute(element, "rend") in {"numbered", "ordered"} or attribute(element, "type") == "ordered"
        if head := self.flow.words(child(element, "head")):
            self.builder.put(BlockKind.TEXT, head)
        label = ""
        for number, item in enumerate(children(element, "item", "label"), start=1):
            if local(item) == "label":
                label = self.flow.words(item)
                continue
            self.flow.item(item, at, f"{label} " if label else f"{number}. " if ordered else "- ")
            label = ""

    def _references(self, element: _Element, at: At) -> None:
        entries = list(children(element, "biblstruct", "bibl", "biblfull"))
        if entries:
            title = self.flow.words(child(element, "head")) or "References"
            self.builder.put_heading(title, at.level)
        for entry in entries:
            self.builder.put_cited(cited(entry), boxes=boxes(entry))


def cited(entry: _Element) -> Cited:
    """An entry of the bibliography, with the words of the page where GROBID kept them."""
    raw = next((note for note in descendants(entry, "note") if attribute(note, "type") == "raw_reference"), None)
    analytic, work = child(entry, "analytic"), child(entry, "monogr")
    title = _words(child(analytic, "title")) or _words(child(work, "title"))
    date = first(entry, "date")
    year = bibliography.year_of(attribute(date, "when") or _words(date)) if date is not None else 0
    ids = (_words(found) for found in descendants(entry, "idno") if attribute(found, "type").upper() == "DOI")
    text = _words(raw) or (_composed(entry, title, year) if work is not None else _words(entry))
    guessed = bibliography.cited(text)
    doi = next(filter(None, map(normalise_doi, ids)), "")
    return Cited(text, title or guessed.title, doi or guessed.doi, year or guessed.year)


def _composed(entry: _Element, title: str, year: int) -> str:
    people = ", ".join(_person(name) for name in descendants(entry, "persname"))
    work = child(entry, "monogr")
    venue = _words(child(work, "title"))
    scopes = {attribute(scope, "unit"): _scope(scope) for scope in descendants(work, "biblscope")}
    issue = f"({scopes['issue']})" if scopes.get("issue") else ""
    numbers = ": ".join(filter(None, (f"{scopes.get('volume', '')}{issue}", scopes.get("page", ""))))
    when = f"{people} ({year})" if year else people
    where = " ".join(filter(None, (venue if venue != title else "", numbers)))
    others = [_words(found) for found in descendants(entry, "idno", "note", "publisher")]
    return " ".join(f"{text.rstrip('. ')}." for text in (when, title, where, *others) if text.strip())


def _person(name: _Element) -> str:
    return " ".join(_words(found) for found in children(name, "forename", "surname"))


def _scope(scope: _Element) -> str:
    ends = (attribute(scope, "from"), attribute(scope, "to"))
    return _words(scope) or "–".join(filter(None, ends))


def _words(element: _Element | None) -> str:
    return inline(element, TAGS) if element is not None else ""


def _depth(head: _Element) -> int:
    """How many divisions an unnumbered heading lies inside of, below the outermost."""
    return min(sum(local(outer) == "div" and child(outer, "head") is not None for outer in head.iterancestors()), 4) - 1


def _puts_own_text(element: _Element) -> bool:
    return any(local(inner) == "p" for inner in element) or not any(True for _ in descendants(element, "head"))


def boxes(element: _Element) -> list[Box]:
    """`page,left,top,width,height;…` in points from the top left: as GROBID writes them."""
    found = attribute(element, "coords")
    if not found and local(element) == "p":
        found = ";".join(attribute(sentence, "coords") for sentence in children(element, "s"))
    return list(_boxes(found.split(";")[:_MOST_BOXES]))


def _boxes(texts: Iterable[str]) -> Iterable[Box]:
    for text in texts:
        numbers = _numbers(text)
        if len(numbers) == 5 and numbers[0] >= 1:
            page, left, top, width, height = numbers
            yield Box(int(page), left, top, left + width, top + height)


def _numbers(text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        return []
    return numbers if all(map(math.isfinite, numbers)) else []
