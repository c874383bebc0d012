"""The blocks of a Marker file, one after the other: what each is, its words and where it stands.

Marker nests documents, pages, groups and blocks; groups name their parts twice, as children and inside their HTML.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from html import unescape
from typing import TYPE_CHECKING, Any

from carrel.parsers.building import cleaned
from carrel.parsers.tables import pipe_table
from carrel.parsers.xml_inline import Tags, inline, latex
from carrel.parsers.xml_names import descendants, first, local
from carrel.parsers.xml_tables import rows
from carrel.types import BlockKind, Box

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element

_TAGS = Tags(
    breaks=frozenset({"p", "div", "br", "li", "ul", "ol", "td", "th", "tr", "table", "blockquote", "dt", "dd", "hr",
                      "h1", "h2", "h3", "h4", "h5", "h6", "figcaption", "figure", "pre"}),
    skipped=frozenset({"img", "script", "style", "content-ref", "head", "svg"}),
    formulas=frozenset({"math"}),
)  # fmt: skip
_WITHOUT_LISTS = replace(_TAGS, skipped=_TAGS.skipped | {"ul", "ol"})
_KINDS = {
    "SectionHeader": BlockKind.HEADING,
    "Title": BlockKind.HEADING,
    "Equation": BlockKind.FORMULA,
    "Code": BlockKind.CODE,
    "Table": BlockKind.TABLE,
    "Form": BlockKind.TABLE,
    "Figure": BlockKind.FIGURE,
    "Picture": BlockKind.FIGURE,
    "Diagram": BlockKind.FIGURE,
    "Caption": BlockKind.CAPTION,
    "ListItem": BlockKind.LIST,
    "ListGroup": BlockKind.LIST,
}
_DROPPED = frozenset({"PageHeader", "PageFooter", "TableOfContents", "TableCell", "Line", "Span", "Char"})
_HOLDERS = frozenset({"Document", "Page"})
_PAGE = re.compile(r"/page/(\d{1,6})(?:/|$)")
_LEVEL = re.compile(r"<h([1-6])\b", re.IGNORECASE)
_MARKED = re.compile(r"(?:\d{1,3}[.)]|[•·◦▪–*-]|\(?[a-zA-Z0-9]\)|\[\w{1,10}\])\s")
_ANY_TAG = re.compile(r"<[^<>]*>")
_LONGEST_HTML = 5_000_000


@dataclass(frozen=True, slots=True)
class Item:
    """One block: its kind as Marker sees it, its text ready to be put."""

    kind: BlockKind
    text: str
    boxes: tuple[Box, ...] = ()
    group: int = 0
    """Which figure or table group it came in; 0 for none."""
    level: int = 0
    goes_on: bool = False
    """Whether its last sentence goes on in a later block."""
    pictures: tuple[tuple[str, str], ...] = ()
    """Of a figure: names, and what is inside the file of them in base64."""
    is_note: bool = False
    is_contents: bool = False

    def joined(self, rest: Item) -> Item:
        return replace(self, text=f"{self.text} {rest.text}", boxes=self.boxes + rest.boxes, goes_on=rest.goes_on)


@dataclass(frozen=True, slots=True)
class _Raw:
    block: dict[str, Any]
    page: int
    group: int


def items(document: dict[str, Any]) -> Iterator[Item]:
    """Every block with words or a picture, in reading order."""
    for raw in _flattened(document):
        if raw.block.get("block_type") == "TableOfContents":
            yield Item(BlockKind.TEXT, "", is_contents=True)
        else:
            yield from _items(raw)


def _flattened(document: dict[str, Any]) -> Iterator[_Raw]:
    """Depth first, without recursion: a file may be nested as deeply as it likes."""
    stack, pages, groups = [_Raw(document, 0, 0)], 0, 0
    while stack:
        raw = stack.pop()
        kind = str(raw.block.get("block_type"))
        inner = _inner(raw.block)
        if kind == "Page":
            pages += 1
        groups += kind.endswith("Group")
        if kind == "TableOfContents":
            yield raw
        elif inner and kind not in _DROPPED and (kind in _HOLDERS or kind.endswith("Group") or not _kind(kind)):
            group = groups if kind.endswith("Group") and kind != "ListGroup" else raw.group
            stack += [_Raw(child, raw.page or pages, group) for child in reversed(inner)]
        elif kind not in _HOLDERS and kind not in _DROPPED:
            yield raw if raw.page else replace(raw, page=pages)


def _inner(block: dict[str, Any]) -> list[dict[str, Any]]:
    listed = block.get("children") or block.get("blocks")
    return [child for child in listed if isinstance(child, dict)] if isinstance(listed, list) else []


def _kind(name: str) -> BlockKind | None:
    return _KINDS.get(name) or (BlockKind.TEXT if name.startswith(("Text", "Footnote", "Handwriting")) else None)


def _items(raw: _Raw) -> Iterator[Item]:
    block = raw.block
    html = block.get("html")
    source = html[:_LONGEST_HTML] if isinstance(html, str) else ""
    name = str(block.get("block_type"))
    tree = _tree(source)
    kind = _kind(name) or BlockKind.TEXT
    if kind == BlockKind.TABLE and _is_prose(tree):
        kind = BlockKind.TEXT
    made = Item(
        kind,
        "",
        _boxes(block, raw.page),
        raw.group,
        level=_level(source),
        goes_on="has-continuation" in source[:200],
        pictures=_pictures(block, tree) if kind == BlockKind.FIGURE else (),
        is_note=name == "Footnote",
    )
    if kind == BlockKind.LIST:
        yield from (replace(made, text=text) for text in _listed(tree))
    elif kind == BlockKind.FIGURE:
        yield replace(made, text=_described(tree))
    elif text := _text(kind, tree) or _bare(source):
        yield replace(made, text=text)


def _tree(html: str) -> _Element | None:
    from lxml import etree

    clean = cleaned(html)
    if not clean.strip():
        return None
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, recover=True)
    try:
        found: _Element | None = etree.fromstring(clean.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None
    return found


def _text(kind: BlockKind, tree: _Element | None) -> str:
    if tree is None:
        return ""
    if kind == BlockKind.TABLE:
        return pipe_table(rows(tree, _TAGS)) or inline(tree, _TAGS)
    if kind == BlockKind.CODE:
        code = first(tree, "pre")
        return "".join((code if code is not None else tree).itertext()).strip("\n")
    if kind == BlockKind.FORMULA:
        tex = latex(tree) or inline(tree, _TAGS).strip("$ ")
        return f"$${tex}$$" if tex else ""
    return inline(tree, _TAGS)


def _bare(html: str) -> str:
    """The words of HTML that no parser would read, nested a thousandfold."""
    return " ".join(unescape(_ANY_TAG.sub(" ", html)).split())


def _is_prose(tree: _Element | None) -> bool:
    """Whether a table is lines of text that Marker took for one: a single column without a head."""
    listed = list(rows(tree, _TAGS)) if tree is not None else []
    return all(len(row.cells) == 1 and not row.is_header for row in listed)


def _listed(tree: _Element | None) -> Iterator[str]:
    """Each item of a list, indented as deeply as it is nested."""
    counts: Counter[_Element] = Counter()
    found = False
    for entry in descendants(tree, "li"):
        found = True
        lists = [outer for outer in entry.iterancestors() if local(outer) in {"ul", "ol"}]
        counts.update(lists[:1])
        mark = f"{counts[lists[0]]}. " if lists and local(lists[0]) == "ol" else "- "
        if own := inline(entry, _WITHOUT_LISTS):
            yield f"{'  ' * max(len(lists) - 1, 0)}{'' if _MARKED.match(own) else mark}{own}"
    if tree is not None and not found and (text := inline(tree, _TAGS)):
        yield text


def _described(tree: _Element | None) -> str:
    """What Marker says is seen in a picture."""
    image = first(tree, "img")
    alternative = (image.get("alt") or "").strip() if image is not None else ""
    return alternative or (inline(tree, _TAGS) if tree is not None else "")


def _pictures(block: dict[str, Any], tree: _Element | None) -> tuple[tuple[str, str], ...]:
    held = block.get("images")
    inside = {str(name): data for name, data in held.items() if isinstance(data, str)} if isinstance(held, dict) else {}
    named = {name: "" for image in descendants(tree, "img") if (name := (image.get("src") or "").strip())}
    own = block.get("id")
    return tuple({**named, **inside}.items()) or (((own, ""),) if isinstance(own, str) else ())


def _level(html: str) -> int:
    found = _LEVEL.search(html[:500])
    return int(found[1]) if found else 2


def _boxes(block: dict[str, Any], page: int) -> tuple[Box, ...]:
    numbers = block.get("bbox")
    if not (isinstance(numbers, list) and len(numbers) == 4 and all(_is_number(number) for number in numbers)):
        return ()
    return (Box(_page(block, page), *(float(number) for number in numbers)),)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9 and math.isfinite(value)


def _page(block: dict[str, Any], counted: int) -> int:
    """From 1 on: Marker counts from 0, in the block's id and in its `page`."""
    found = _PAGE.match(str(block.get("id", ""))[:40])
    if found:
        return int(found[1]) + 1
    page = block.get("page")
    return page + 1 if isinstance(page, int) and not isinstance(page, bool) and 0 <= page < 10**6 else max(counted, 1)
