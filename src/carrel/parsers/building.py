"""The text of a paper whose file has none of its own: put together block by block."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.parsers import captions
from carrel.types import Block, BlockKind, Box, Cited, Exhibit, ExhibitKind, Image, Paper, Place, Reference

if TYPE_CHECKING:
    from collections.abc import Sequence

BETWEEN = "\n\n"
# Half a surrogate pair comes out of JSON's escapes and cannot be stored; controls are no text.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(slots=True)
class Builder:
    """Blocks are put in reading order; where each begins and ends follows from that."""

    _pieces: list[str] = field(default_factory=list)
    _length: int = 0
    _blocks: list[Block] = field(default_factory=list)
    _places: list[Place] = field(default_factory=list)
    _exhibits: list[Exhibit] = field(default_factory=list)
    cited: list[Cited] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def position(self) -> int:
        """Where the next block will begin."""
        return self._length

    def put(self, kind: BlockKind, text: str, *, boxes: Sequence[Box] = ()) -> Block | None:
        """A block and the places it has on the pages; nothing when it has no words."""
        return self._put(kind, cleaned(text), 0, "", boxes)

    def put_heading(self, title: str, level: int, *, boxes: Sequence[Box] = ()) -> Block | None:
        plain = " ".join(cleaned(title).split())
        return self._put(BlockKind.HEADING, plain, level, plain, boxes)

    def put_cited(self, entry: Cited, *, boxes: Sequence[Box] = ()) -> None:
        """An entry of the bibliography."""
        if self.put(BlockKind.REFERENCE, entry.text, boxes=boxes):
            self.cited.append(entry)

    def exhibit(
        self,
        kind: ExhibitKind,
        start: int,
        *,
        caption: str = "",
        description: str = "",
        image: str = "",
        box: Box | None = None,
    ) -> None:
        """What was put since `start` is a figure, table or algorithm. Nothing, if nothing was put."""
        if self._length <= start or (self._exhibits and self._exhibits[-1].end > start):
            return
        end = self._length - len(BETWEEN)
        caption, description = (" ".join(cleaned(text).split()) for text in (caption, description))
        label = captions.label_of(caption)
        self._exhibits.append(Exhibit(kind, start, end, label, caption, description, image, box))

    @property
    def has_sections(self) -> bool:
        """Whether there is a heading under the title's."""
        return any(block.level > 1 for block in self._blocks if block.kind == BlockKind.HEADING)

    def paper(self, reference: Reference, *, format: str, language: str = "") -> Paper:  # noqa: A002
        return Paper(
            reference=reference,
            text="".join(self._pieces[:-1]),
            blocks=tuple(self._blocks),
            format=format,
            language=language,
            places=tuple(self._places),
            exhibits=tuple(self._exhibits),
            cited=tuple(self.cited),
            images=tuple(self.images),
            remarks=tuple(self.remarks),
        )

    def _put(self, kind: BlockKind, text: str, level: int, title: str, boxes: Sequence[Box]) -> Block | None:
        if not text.strip():
            return None
        block = Block(kind, self._length, self._length + len(text), level, title)
        self._blocks.append(block)
        self._places += [Place(block.start, block.end, box) for box in boxes]
        self._pieces += [text, BETWEEN]
        self._length = block.end + len(BETWEEN)
        return block


def cleaned(text: str) -> str:
    """Without blanks around it and signs that no text has; a list item keeps its indentation."""
    return _NO_TEXT.sub("", text).strip("\n").rstrip()
