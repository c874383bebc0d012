"""Small graphs of concepts, written as sentences."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from carrel.catalogs import Entry
from carrel.graphs import GraphStore
from carrel.graphs.sqlite import SqliteGraph
from carrel.testing import MemoryCatalog, MemoryGraph
from carrel.types import (
    Chunk,
    Concept,
    Contribution,
    Document,
    Mention,
    Part,
    Predicate,
    Published,
    Reference,
    Role,
    Triple,
    Work,
)
from tests.builders import make_chunk

WORDS = {
    "needs": (Predicate.PREREQUISITE, True),
    "uses": (Predicate.USES, False),
    "part of": (Predicate.PART_OF, False),
    "example of": (Predicate.EXAMPLE_OF, False),
    "implements": (Predicate.IMPLEMENTS, False),
    "like": (Predicate.COMPARED_TO, False),
    "related to": (Predicate.RELATED_TO, False),
}


class Written:
    """A graph and a catalog that grow together: one paper for each call of `paper`."""

    def __init__(self, graph: GraphStore) -> None:
        self.graph = graph
        self.catalog = MemoryCatalog()

    def paper(
        self,
        paper_id: str,
        *statements: str | tuple[str, float],
        title: str = "",
        concepts: Iterable[Concept] = (),
        discusses: Iterable[str] = (),
        mentions: Iterable[Mention] = (),
        cites: Iterable[str] = (),
    ) -> list[Chunk]:
        """Statements like `A | uses | B`, each a chunk of its own that is about `A`."""
        told = [(one, 0.8) if isinstance(one, str) else one for one in statements]
        texts = [f"{text.replace(' | ', ' ')}." for text, _ in told] or ["Nothing much."]
        title = title or f"On {paper_id}"
        chunks = [
            make_chunk(paper_id, number, text, page_start=number, section_path=(f"Part {number}",))
            for number, text in enumerate(texts, start=1)
        ]
        triples = [_triple(text, sure, chunk) for (text, sure), chunk in zip(told, chunks, strict=False)]
        about = [Mention(one.subject, one.address, 1, 0.9, Role.DISCUSSES) for one in triples]
        about += [Mention(one.object, one.address, 1, 0.4) for one in triples]
        about += [Mention(name, chunks[0].address, 3, 0.95, Role.DISCUSSES) for name in discusses]
        known = tuple({mention.concept: Concept(mention.concept) for mention in about}.values())
        reference = Reference(paper_id, title, published=Published(2020))
        document = Document(paper_id, Part.BODY, "\n".join(texts), "", "")
        self.catalog.put([Entry(reference, document, tuple(chunks))])
        self.graph.put(
            [
                Contribution(
                    paper_id,
                    tuple(chunk.with_facts(reference) for chunk in chunks),
                    (*concepts, *known),
                    (*about, *mentions),
                    tuple(triples),
                    Work("", title),
                    tuple(Work("", other) for other in cites),
                )
            ]
        )
        return chunks


def _triple(text: str, confidence: float, chunk: Chunk) -> Triple:
    first, word, second = text.split(" | ")
    predicate, turned = WORDS[word]
    ends = (second, first) if turned else (first, second)
    return Triple(ends[0], predicate, ends[1], confidence, chunk.address, chunk.text, 0, len(chunk.text))


def memory() -> Written:
    return Written(MemoryGraph())


def sqlite(path: Path) -> Written:
    return Written(SqliteGraph(path / "graph.db"))
