"""A paper's chapters and sections, told from its chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.reading.previews import first_sentence
from carrel.types import ChunkKind, Part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from carrel.types import Chunk


@dataclass(frozen=True, slots=True)
class Section:
    paper_id: str
    chapter: int
    number: int
    path: tuple[str, ...]
    """The titles from the chapter down; none before the first heading."""
    chunks: tuple[Chunk, ...]
    figures: tuple[str, ...]
    """Addresses of the figures, tables and algorithms that stand in it."""

    @property
    def address(self) -> str:
        return f"{self.paper_id}/ch{self.chapter}/s{self.number}"

    @property
    def chapter_title(self) -> str:
        return self.path[0] if self.path else ""

    @property
    def title(self) -> str:
        return " — ".join(self.path[1:])

    @property
    def summary(self) -> str:
        """Its first sentence."""
        return first_sentence(self.chunks[0].text) if self.chunks else ""

    def outline(self) -> dict[str, Any]:
        """Without the texts."""
        return {
            "section": self.number,
            "section_title": self.title,
            "address": self.address,
            "chunk_count": len(self.chunks),
            "figure_count": len(self.figures),
            "summary": self.summary,
        }

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": "section",
            "paper_id": self.paper_id,
            "chapter": self.chapter,
            "chapter_title": self.chapter_title,
            **self.outline(),
            "chunks": [chunk_as_dict(chunk) for chunk in self.chunks],
            "total": len(self.chunks),
            "figures": list(self.figures),
        }


@dataclass(frozen=True, slots=True)
class Chapter:
    paper_id: str
    number: int
    sections: tuple[Section, ...]

    @property
    def address(self) -> str:
        return f"{self.paper_id}/ch{self.number}"

    @property
    def title(self) -> str:
        return self.sections[0].chapter_title

    @property
    def chunk_count(self) -> int:
        return sum(len(section.chunks) for section in self.sections)

    @property
    def figures(self) -> tuple[str, ...]:
        return tuple(address for section in self.sections for address in section.figures)

    def outline(self) -> dict[str, Any]:
        """Without the texts."""
        return {**self._facts(), "sections": [section.outline() for section in self.sections]}

    def as_dict(self) -> dict[str, Any]:
        sections = [
            {**section.outline(), "chunks": [chunk_as_dict(chunk) for chunk in section.chunks]}
            for section in self.sections
        ]
        head = {"kind": "chapter", "paper_id": self.paper_id}
        return {**head, **self._facts(), "sections": sections, "total": self.chunk_count}

    def _facts(self) -> dict[str, Any]:
        return {
            "chapter": self.number,
            "chapter_title": self.title,
            "address": self.address,
            "chunk_count": self.chunk_count,
            "figure_count": len(self.figures),
            "figures": list(self.figures),
        }


def chapters_of(chunks: Iterable[Chunk]) -> tuple[Chapter, ...]:
    """The chapters of one paper's text, in reading order."""
    inside: dict[int, dict[int, list[Chunk]]] = {}
    for chunk in chunks:
        if chunk.part == Part.BODY:
            inside.setdefault(chunk.chapter, {}).setdefault(chunk.section, []).append(chunk)
    return tuple(
        Chapter(next(iter(sections.values()))[0].paper_id, number, tuple(map(_section, sections.values())))
        for number, sections in inside.items()
    )


def chunk_as_dict(chunk: Chunk) -> dict[str, Any]:
    """A chunk among the others of its section."""
    return {
        "address": chunk.address,
        "text": chunk.text,
        "page_start": chunk.page_start,
        "page_end": chunk.page_end,
        "token_count": chunk.token_count,
        "figures": list(chunk.exhibits),
    }


def _section(chunks: list[Chunk]) -> Section:
    first = chunks[0]
    return Section(
        paper_id=first.paper_id,
        chapter=first.chapter,
        number=first.section,
        path=first.section_path,
        chunks=tuple(chunk for chunk in chunks if chunk.kind != ChunkKind.EXHIBIT),
        figures=tuple(chunk.address for chunk in chunks if chunk.kind == ChunkKind.EXHIBIT),
    )
