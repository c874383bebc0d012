"""Marker's JSON: a file of blocks with their HTML, alone or in a DataLab cache folder with its record and pictures."""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from carrel.errors import EmptyDocument, SourceError
from carrel.identifiers import normalise_doi
from carrel.parsers import Source, bibliography, captions, companions, decode, marker_captions, marker_outline, title_of
from carrel.parsers.building import Builder
from carrel.parsers.marker_blocks import Item, items
from carrel.parsers.unseen import left_out_of_blocks
from carrel.references import dates, names
from carrel.types import Author, Block, BlockKind, ExhibitKind, Image, Paper, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BLOCK_TYPE = re.compile(r'"block_type"\s*:\s*"[A-Z]\w+"')
_CHILDREN = re.compile(r'"(?:children|blocks)"\s*:\s*\[')
_LARGEST_RECORD = 1_000_000
_LARGEST_PICTURE = 30_000_000
_REACH = 8
"""How many blocks further on, past figures and notes, a sentence may go on."""
_SHORTEST_PARAGRAPH = 40
_BETWEEN = frozenset({BlockKind.FIGURE, BlockKind.TABLE, BlockKind.CAPTION})
_ENTRIES = frozenset({BlockKind.TEXT, BlockKind.LIST})
_NUMBERED = re.compile(r"(?:- )?(?:\[\w{1,10}\]|\d{1,4}[.)]\s)")
_LINE_OF_CODE = re.compile(r"[=;{}]|\w\(|:\s*$")
_STEP = re.compile(
    r"(?:- )?(?:\d{1,3}[:.)]\s"
    r"|(?:input|output|require|ensure|for|while|repeat|if|else|end|return|procedure|function)\b)",
    re.IGNORECASE,
)


def is_marker(head: str) -> bool:
    """Whether a JSON file is Marker's, by its beginning."""
    return bool(head.lstrip("\ufeff \t\r\n")[:1] in {"{", "["} and _BLOCK_TYPE.search(head) and _CHILDREN.search(head))


class Marker:
    name = "marker"
    suffixes = frozenset({".json"})

    def parse(self, source: Source) -> Paper:
        document = _document(source)
        remarks = left_out_of_blocks(document)
        found = _whole_entries(_without_contents(_whole_sentences(list(items(document)))))
        paper = _Reading(source, found).paper(_record(source))
        return replace(paper, remarks=(*remarks, *paper.remarks))


def _document(source: Source) -> dict[str, Any]:
    text = decode(source)
    try:
        read = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply, or its numbers are"
        raise SourceError(f"{source.name!r} is not JSON: {reason}", hint="Check the file's true format.") from error
    inside = read.get("json") if isinstance(read, dict) and isinstance(read.get("json"), dict | list) else read
    document = {"block_type": "Document", "children": inside} if isinstance(inside, list) else inside
    if not isinstance(document, dict) or not any(isinstance(document.get(key), list) for key in ("children", "blocks")):
        raise SourceError(
            f"{source.name!r} is JSON, but not Marker's: it has no blocks",
            hint="Papers are read from Marker's JSON output, references from CSL-JSON, Zotero and Paperpile exports.",
        )
    return {**document, "block_type": "Document"}


def _whole_sentences(found: list[Item]) -> list[Item]:
    """Paragraphs that a page or column breaks in two, joined again."""
    gone: set[int] = set()
    for place in range(len(found)):
        while place not in gone and (rest := _rest_of(found, place, gone)):
            found[place] = found[place].joined(found[rest])
            gone.add(rest)
    return [item for place, item in enumerate(found) if place not in gone]


def _rest_of(found: Sequence[Item], place: int, gone: set[int]) -> int | None:
    """Where a paragraph goes on: past figures, tables and notes, but not past a heading, list or formula."""
    if found[place].kind != BlockKind.TEXT or found[place].is_note or not _breaks_off(found[place]):
        return None
    for later in range(place + 1, min(place + 1 + _REACH, len(found))):
        item = found[later]
        if item.kind in _BETWEEN or item.is_note or later in gone or marker_captions.label_of(item):
            continue
        goes_on = item.text[:1].islower() or found[place].goes_on
        return later if item.kind == BlockKind.TEXT and goes_on else None
    return None


def _breaks_off(item: Item) -> bool:
    """Whether it is a paragraph, not a line with a name or address, and its last sentence does not end."""
    return len(item.text) >= _SHORTEST_PARAGRAPH and item.text.rstrip()[-1:] not in {".", "?", "!", ":"}


def _without_contents(found: Sequence[Item]) -> list[Item]:
    """Without tables of contents and the headings over them."""
    over = {place - 1 for place, item in enumerate(found) if item.is_contents}
    return [
        item
        for place, item in enumerate(found)
        if not item.is_contents and not (place in over and item.kind == BlockKind.HEADING)
    ]


def _whole_entries(found: Sequence[Item]) -> list[Item]:
    """Entries of a numbered bibliography that a page breaks in two, joined again."""
    kept: list[Item] = []
    inside = numbered = False
    for item in found:
        if item.kind == BlockKind.HEADING:
            inside, numbered = bibliography.is_heading(item.text), False
        entry = inside and item.kind in _ENTRIES and not item.is_note
        if entry and numbered and not _NUMBERED.match(item.text) and kept[-1].kind in _ENTRIES:
            kept[-1] = kept[-1].joined(replace(item, text=item.text.removeprefix("- ")))
            continue
        numbered = numbered or bool(entry and _NUMBERED.match(item.text))
        kept.append(item)
    return kept


def _without_fake_headings(found: Sequence[Item]) -> list[Item]:
    """Lines of a listing that Marker took for headings are code again."""
    kept: list[Item] = []
    for item in found:
        after_code = bool(kept) and kept[-1].kind == BlockKind.CODE
        fake = item.kind == BlockKind.HEADING and after_code and _LINE_OF_CODE.search(item.text)
        kept.append(replace(item, kind=BlockKind.CODE) if fake else item)
    return kept


def _leveled(item: Item, level: int) -> Item:
    return replace(item, level=level) if level else replace(item, kind=BlockKind.TEXT)


class _Reading:
    """One file on its way to becoming a paper."""

    def __init__(self, source: Source, found: list[Item]) -> None:
        self.source = source
        self.builder = Builder()
        self.items = self._with_levels(found)
        self.captions = marker_captions.assigned(self.items)
        self.shown_by = {caption: place for place, places in self.captions.items() for caption in places}
        self.in_bibliography = False

    def paper(self, record: dict[str, Any]) -> Paper:
        done: set[int] = set()
        for place, item in enumerate(self.items):
            if place not in done:
                done |= self._put(place, item)
        read = self.builder.paper(Reference(id="", title=""), format=Marker.name)
        if not read.blocks:
            raise EmptyDocument(f"{self.source.name!r} is empty", hint="There is nothing to index in it.")
        return _with_reference(read, record, self.source)

    def _with_levels(self, found: Sequence[Item]) -> list[Item]:
        """Headings with their true levels; what is none is text."""
        found = _without_fake_headings(found)
        heads = [item for item in found if item.kind == BlockKind.HEADING]
        levels = iter(marker_outline.levels([item.text for item in heads], [item.level for item in heads]))
        return [_leveled(item, next(levels)) if item.kind == BlockKind.HEADING else item for item in found]

    def _put(self, place: int, item: Item) -> set[int]:
        """Put what stands at a place; the places that are thereby done."""
        if place in self.captions:
            return self._put_shown(place, item)
        if place in self.shown_by:
            return self._put_shown(self.shown_by[place], self.items[self.shown_by[place]])
        if item.kind == BlockKind.HEADING:
            return self._put_heading(place, item)
        if item.kind == BlockKind.FIGURE:
            self._put_uncaptioned(item)
        elif item.kind == BlockKind.TABLE:
            self._put_exhibit(ExhibitKind.TABLE, item, "")
        elif item.kind == BlockKind.CAPTION:
            self._put_lone_caption(item)
        elif self.in_bibliography and item.kind in _ENTRIES and not item.is_note:
            self._put_entry(item)
        else:
            self.builder.put(item.kind, item.text, boxes=item.boxes)
        return {place}

    def _put_shown(self, place: int, item: Item) -> set[int]:
        places = sorted(self.captions[place], key=lambda near: not marker_captions.label_of(self.items[near]))
        caption = " ".join(self.items[near].text.removeprefix("- ") for near in places)
        boxes = tuple(box for near in places for box in self.items[near].boxes)
        default = {BlockKind.FIGURE: ExhibitKind.FIGURE, BlockKind.TABLE: ExhibitKind.TABLE}
        kind = captions.kind_of(caption) or default.get(item.kind, ExhibitKind.ALGORITHM)
        self._put_exhibit(kind, item, caption, boxes)
        return {place, *places}

    def _put_exhibit(self, kind: ExhibitKind, item: Item, caption: str, boxes: tuple[Any, ...] = ()) -> None:
        start = self.builder.position
        self.builder.put(BlockKind.CAPTION, caption, boxes=boxes)
        if item.kind != BlockKind.FIGURE:
            self.builder.put(item.kind, item.text, boxes=item.boxes)
        self.builder.exhibit(
            kind,
            start,
            caption=caption,
            description=item.text if item.kind == BlockKind.FIGURE else "",
            image=self._image(item),
            box=item.boxes[0] if item.boxes else None,
        )

    def _put_uncaptioned(self, item: Item) -> None:
        """A picture is kept when something says what is seen in it."""
        start = self.builder.position
        if item.text and self.builder.put(BlockKind.FIGURE, item.text, boxes=item.boxes):
            box = item.boxes[0] if item.boxes else None
            self.builder.exhibit(ExhibitKind.FIGURE, start, description=item.text, image=self._image(item), box=box)

    def _put_lone_caption(self, item: Item) -> None:
        start, kind = self.builder.position, captions.kind_of(item.text)
        if self.builder.put(BlockKind.CAPTION, item.text, boxes=item.boxes) and kind:
            self.builder.exhibit(kind, start, caption=item.text)

    def _put_heading(self, place: int, item: Item) -> set[int]:
        if captions.kind_of(item.text) == ExhibitKind.ALGORITHM:
            return self._put_algorithm(place, item)
        self.in_bibliography = bibliography.is_heading(item.text)
        self.builder.put_heading(item.text, item.level, boxes=item.boxes)
        return {place}

    def _put_algorithm(self, place: int, item: Item) -> set[int]:
        """`Algorithm 1 …` over its steps: code, or what reads like steps."""
        steps = list(self._steps(place + 1))
        start = self.builder.position
        self.builder.put(BlockKind.CAPTION, item.text, boxes=item.boxes)
        content = "\n".join(self.items[step].text for step in steps)
        self.builder.put(BlockKind.CODE, content, boxes=[box for step in steps for box in self.items[step].boxes])
        self.builder.exhibit(ExhibitKind.ALGORITHM, start, caption=item.text)
        return {place, *steps}

    def _steps(self, place: int) -> Iterator[int]:
        while place < len(self.items) and place not in self.captions and place not in self.shown_by:
            item = self.items[place]
            of_steps = item.kind in _ENTRIES and _STEP.match(item.text.lstrip())
            if item.kind != BlockKind.CODE and not of_steps:
                return
            yield place
            place += 1

    def _put_entry(self, item: Item) -> None:
        text = item.text.strip().removeprefix("- ")
        self.builder.put_cited(bibliography.cited(text), boxes=item.boxes)

    def _image(self, item: Item) -> str:
        """The picture of a figure: a file beside the paper's, or else what the file itself holds."""
        for name, data in item.pictures:
            content = _decoded(data)
            if data and not content:
                self.builder.remarks.append(f"a picture could not be read: {name[:100]}")
            file = companions.picture_name(name, content)
            if found := companions.picture(self.source, file) or companions.picture(self.source, name):
                return found
            if content:
                self.builder.images.append(Image(file, content))
                return file
        return ""


def _decoded(data: str) -> bytes:
    encoded = data.rpartition(",")[2] if data[:5] == "data:" else data
    if len(encoded) > _LARGEST_PICTURE:
        return b""
    try:
        return base64.b64decode(encoded, validate=False)
    except (binascii.Error, ValueError):
        return b""


def _record(source: Source) -> dict[str, Any]:
    """What `meta.json` beside the file says of the paper; nothing when it speaks of another."""
    path = companions.companion(source, "meta.json")
    try:
        if path is None or path.stat().st_size > _LARGEST_RECORD:
            return {}
        record = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) and record.get("item_key") in {None, title_of(source)} else {}


def _with_reference(paper: Paper, record: dict[str, Any], source: Source) -> Paper:
    heading = next((block.title for block in paper.blocks if block.kind == BlockKind.HEADING), "")
    reference = Reference(
        id="",
        title=_word(record, "title") or heading or title_of(source),
        doi=normalise_doi(_word(record, "doi")),
        authors=tuple(_authors(record.get("authors"))),
        abstract=_abstract(paper),
        venue=_word(record, "publication_title"),
        published=dates.read(_word(record, "date")),
    )
    return replace(paper, reference=reference)


def _word(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _authors(value: object) -> Iterator[Author]:
    for name in value if isinstance(value, list) else ():
        if isinstance(name, str) and (author := names.inverted(name)).last:
            yield author


def _abstract(paper: Paper) -> str:
    """The paragraphs under the heading `Abstract`."""
    within: list[Block] = []
    inside = False
    for block in paper.blocks:
        if block.kind == BlockKind.HEADING:
            if inside:
                break
            inside = block.title.strip(" .:—").casefold() == "abstract"
        elif inside and block.kind == BlockKind.TEXT:
            within.append(block)
    return "\n\n".join(paper.text[block.start : block.end] for block in within)
