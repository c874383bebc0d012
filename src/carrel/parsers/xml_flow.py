"""Running text with blocks in it: what is a block becomes one, and everything else is words between them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from carrel.parsers.tables import pipe_table
from carrel.parsers.xml_inline import Tags, collect, inline, latex
from carrel.parsers.xml_names import child, descendants, local
from carrel.parsers.xml_tables import rows
from carrel.types import BlockKind, Box

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lxml.etree import _Element

    from carrel.parsers.building import Builder

_DEEPEST = 60
"""Blocks inside blocks; what lies deeper is read as words."""
_NOTHING: frozenset[str] = frozenset()


@dataclass(slots=True)
class At:
    """Where in the structure a piece of text stands."""

    level: int
    """Of the next heading."""
    kind: BlockKind = BlockKind.TEXT
    mark: str = ""
    """Of a list item, before its first words."""
    indent: str = ""
    depth: int = 0
    boxed: bool = False
    """Apart from the running text, as a box or a figure: its headings begin no section."""

    def section(self) -> At:
        return replace(self, level=self.level + 1, depth=self.depth + 1)

    def inside(self) -> At:
        return replace(self, depth=self.depth + 1)

    def box(self, kind: BlockKind = BlockKind.TEXT) -> At:
        return At(self.level, kind, depth=self.depth + 1, boxed=True)

    def marked(self, text: str) -> str:
        """A list item's words after its mark, further lines of it under the first."""
        line = f"{self.indent}{self.mark}{text}"
        if self.mark:
            self.indent, self.mark = self.indent + " " * len(self.mark), ""
        return line


@dataclass(slots=True)
class Flow:
    """Puts the blocks of an element into a paper's text. A format says which elements are blocks, and what to do."""

    builder: Builder
    tags: Tags
    blocks: Mapping[str, Callable[[_Element, At], None]]
    floats: frozenset[str] = _NOTHING
    """Blocks that stand inside a sentence in the file but not on the page: put behind it."""
    boxes: Callable[[_Element], list[Box]] = field(default=lambda _element: [])
    unreadable_formulas: int = 0

    def flow(self, element: _Element, at: At, *, but: frozenset[str] = _NOTHING) -> None:
        """The content of an element, but for the children with those names."""
        pieces, late = [element.text or ""], []
        for inner in element:
            name = local(inner)
            if name in but or name in self.tags.skipped:
                pass
            elif name in self.floats and any(piece.strip() for piece in pieces):
                late.append(inner)
            elif at.depth < _DEEPEST and self._is_block(inner):
                self._flush(element, pieces, at)
                self.blocks.get(name, self.flow)(inner, at.inside() if at.kind == BlockKind.TEXT else at)
            else:
                collect(inner, self.tags, pieces)
            pieces.append(inner.tail or "")
        self._flush(element, pieces, at)
        for inner in late:
            self.blocks[local(inner)](inner, At(at.level, depth=at.depth + 1, boxed=at.boxed))

    def words(self, element: _Element | None) -> str:
        return inline(element, self.tags) if element is not None else ""

    def section(self, element: _Element, at: At, *, title: str = "") -> None:
        """A part with its heading."""
        number, heading = self.words(child(element, "label")), self.words(child(element, "title"))
        heading = f"{number} {heading}".strip() or title
        if heading and at.boxed:
            self.builder.put(at.kind, at.marked(heading))
        elif heading:
            self.builder.put_heading(heading, at.level, boxes=self.boxes(element))
        self.flow(element, at.section() if heading else at.inside(), but=frozenset({"label", "title"}))

    def formula(self, element: _Element, at: At) -> None:
        """A displayed formula, its number as a tag."""
        label = self.words(child(element, "label")).strip("()[] ")
        tag = f" \\tag{{{label}}}" if label else ""
        math = list(descendants(element, "math", "tex-math", "alternatives"))
        tex = latex(element) if math else self._plain_formula(element)
        if not tex:
            self.unreadable_formulas += 1
        else:
            self.builder.put(BlockKind.FORMULA, f"{at.indent}$${tex}{tag}$$", boxes=self.boxes(element))

    def code(self, element: _Element, at: At) -> None:
        del at
        self.builder.put(BlockKind.CODE, "".join(element.itertext()).strip("\n"), boxes=self.boxes(element))

    def table(self, element: _Element, at: At) -> None:
        del at
        self.builder.put(BlockKind.TABLE, pipe_table(rows(element, self.tags)), boxes=self.boxes(element))

    def item(self, element: _Element, at: At, mark: str, *, but: frozenset[str] = _NOTHING) -> None:
        """One item of a list; a list inside it is indented under its words."""
        inside = At(at.level, BlockKind.LIST, mark, at.indent, at.depth + 1, boxed=True)
        self.flow(element, inside, but=but)

    def _plain_formula(self, element: _Element) -> str:
        pieces: list[str] = [element.text or ""]
        for inner in element:
            if local(inner) != "label":
                collect(inner, self.tags, pieces)
            pieces.append(inner.tail or "")
        return " ".join("".join(pieces).split())

    def _is_block(self, element: _Element) -> bool:
        return local(element) in self.blocks or any(local(inner) in self.blocks for inner in element.iterdescendants())

    def _flush(self, element: _Element, pieces: list[str], at: At) -> None:
        text = " ".join("".join(pieces).split())
        pieces.clear()
        if text:
            self.builder.put(at.kind, at.marked(text), boxes=self.boxes(element))
