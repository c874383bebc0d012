"""Figures, tables and algorithms: what they show, where they stand, and who speaks of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from carrel.parsers import captions
from carrel.reading.previews import preview
from carrel.sentences import spans
from carrel.types import ChunkKind, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from carrel.catalogs import Catalog
    from carrel.pictures import Pictures
    from carrel.types import Chunk, Exhibit, ExhibitKind, Filter, Hit, Passage, SearchResult

    Arm: TypeAlias = Callable[[str, int, Filter], list[Hit]]

_EVERY = 2**31


@dataclass(frozen=True, slots=True)
class Figure:
    """An exhibit and the chunk that holds it."""

    exhibit: Exhibit
    chunk: Chunk

    @property
    def page(self) -> int | None:
        return self.exhibit.box.page if self.exhibit.box else self.chunk.page_start

    def as_dict(self) -> dict[str, Any]:
        exhibit = self.exhibit
        return {
            "address": self.chunk.address,
            "figure_kind": exhibit.kind.value,
            "label": exhibit.label,
            "caption": exhibit.caption,
            "description": exhibit.description,
            "page": self.page,
        }


@dataclass(frozen=True, slots=True)
class Mention:
    address: str
    preview: str
    """From the sentence on that speaks of the figure."""


@dataclass(frozen=True, slots=True)
class FigureView:
    figure: Figure
    image: Path | None
    """The picture, where it lies on this disk."""
    referenced_by: tuple[Mention, ...]

    def as_dict(self) -> dict[str, Any]:
        chunk, box = self.figure.chunk, self.figure.exhibit.box
        return {
            "kind": "figure",
            **self.figure.as_dict(),
            "paper_id": chunk.paper_id,
            "title": chunk.title,
            "year": chunk.year or None,
            "chapter": chunk.chapter,
            "section": chunk.section,
            "section_path": list(chunk.section_path),
            "text": chunk.text,
            "start": chunk.start,
            "end": chunk.end,
            "box": asdict(box) if box else None,
            "image": str(self.image) if self.image else None,
            "referenced_by": [asdict(mention) for mention in self.referenced_by],
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """A figure that a search found."""

    passage: Passage
    view: FigureView

    @property
    def similarity(self) -> float | None:
        """Of meaning, in [0, 1]; None when it was found by its words alone."""
        arm = self.passage.fused.arms.get("vector")
        return min(1.0, max(0.0, arm.score)) if arm else None

    def as_dict(self) -> dict[str, Any]:
        passage = self.passage
        scores = {"score": passage.score, "similarity": self.similarity, "probability": passage.probability}
        return {"rank": passage.rank, **scores, **self.view.as_dict()}


@dataclass(frozen=True, slots=True)
class FiguresFound:
    result: SearchResult
    figures: tuple[Finding, ...]
    kind: ExhibitKind | None

    def as_dict(self) -> dict[str, Any]:
        shown = self.result.as_dict()
        head = {name: shown[name] for name in ("query", "mode", "strategy", "degraded", "understood")}
        results = [finding.as_dict() for finding in self.figures]
        kind = self.kind.value if self.kind else None
        return {**head, "figure_type": kind, "results": results, "total": len(results), "timings": shown["timings"]}


def of(addresses: Iterable[str], chunks: Iterable[Chunk], catalog: Catalog) -> dict[str, Figure]:
    """The figures at these addresses, of papers all of whose chunks are given."""
    by_address = {chunk.address: chunk for chunk in chunks if chunk.kind == ChunkKind.EXHIBIT}
    wanted = [address for address in addresses if address in by_address]
    rows = catalog.exhibits({by_address[address].paper_id for address in wanted})
    exhibits = {row.address: row.exhibit for row in rows}
    return {one: Figure(exhibits[one], by_address[one]) for one in wanted if one in exhibits}


def views(
    addresses: Sequence[str],
    sources: Mapping[str, Sequence[str]],
    chunks: Sequence[Chunk],
    catalog: Catalog,
    pictures: Pictures,
) -> dict[str, FigureView]:
    """The figures at these addresses, with all that is known of each. `sources` are the files of each paper."""
    mentioned: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        for address in chunk.exhibits:
            mentioned.setdefault(address, []).append(chunk)
    return {
        address: FigureView(
            figure=figure,
            image=pictures.find(figure.chunk.paper_id, figure.exhibit.image, sources[figure.chunk.paper_id]),
            referenced_by=tuple(_mention(chunk, figure.exhibit.label) for chunk in mentioned.get(address, ())),
        )
        for address, figure in of(addresses, chunks, catalog).items()
    }


def found(result: SearchResult, kind: ExhibitKind | None, catalog: Catalog, pictures: Pictures) -> FiguresFound:
    """What a search among exhibits found, as figures."""
    papers = {passage.chunk.paper_id for passage in result.passages}
    sources = {row.reference.id: row.sources for row in catalog.papers(papers)}
    addresses = [passage.chunk.address for passage in result.passages]
    shown = views(addresses, sources, catalog.chunks_of(papers), catalog, pictures)
    findings = (Finding(one, shown[one.chunk.address]) for one in result.passages if one.chunk.address in shown)
    return FiguresFound(result, tuple(findings), kind)


def of_kind(kind: ExhibitKind, paper_ids: Collection[str], catalog: Catalog) -> frozenset[str]:
    """The addresses of all exhibits of a kind, in these papers or, when none are named, in all."""
    papers = paper_ids or {paper for paper, part in catalog.digests() if part == Part.BODY}
    return frozenset(row.address for row in catalog.exhibits(papers) if row.exhibit.kind == kind)


def among(addresses: Collection[str], arm: Arm) -> Arm:
    """An arm of the search that finds only what stands at these addresses."""

    def find(query: str, limit: int, where: Filter) -> list[Hit]:
        # All of them are asked for: a rare kind may begin far down.
        return [hit for hit in arm(query, _EVERY, where) if hit.address in addresses][:limit]

    return find


def _mention(chunk: Chunk, label: str) -> Mention:
    said = next((start for one, start, _ in captions.mentions(chunk.text) if one == label), 0)
    starts = [span.start for span in spans(chunk.text) if span.start <= said]
    return Mention(chunk.address, preview(chunk.text[starts[-1] if starts else 0 :]))
