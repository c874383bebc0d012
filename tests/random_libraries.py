"""Libraries, filters and questions at random, the same ones for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from carrel.catalogs import Entry
from carrel.chunking import is_embeddable, is_searched_by_words
from carrel.chunking.abstracts import reference_chunks, reference_text
from carrel.graphs.sqlite import SqliteGraph
from carrel.keywords.tantivy import TantivyKeywords
from carrel.search.meaning import Meaning
from carrel.testing import HashedWords, MemoryCatalog
from carrel.types import (
    Author,
    Chunk,
    ChunkKind,
    Concept,
    Contribution,
    Document,
    Filter,
    Mention,
    Part,
    Predicate,
    Published,
    Reference,
    Triple,
)
from carrel.vectors.flat import FlatVectors

COMMON = "the of model data method".split()
CONCEPTS = "graph retrieval language corpus parsing semantic dense index tree query path flow".split()
WORDS = (
    *CONCEPTS,
    *"neural translation sparse citation segment shortest matching kernel gene protein cell assay vaccine".split(),
    *"trial cohort plasma wing boundary layer shock lattice quantum spin photon naïve Straße Öl 图论 最短路".split(),
)
VENUES = (
    "",
    "ACL",
    "Proceedings of ACL",
    "acl findings",
    "NATURE Methods",
    "Proc. of A&B (C++) [#1]",
    "100% *.\\d+ $^",
    "Zeitschrift für Straßenbau",
    "İstanbul Ünı",
    "中文期刊",
    "a|b {2} ? -- \n",
)
TAGS = ("graph", "Graph", "read", "to read", "Öl", "c++", "a/b", "it's", "图", ".*", "~")
TOPICS = ("", "retrieval", "Retrieval", "图论", "a.b")
YEARS = (0, 0, 1899, 1999, 2018, 2019, 2020, 2021)
NAMES = ("Yu", "Müller", "O'Neil", "van Dijk")
IDS = ("smith{}", "Smith{}", "10.1000/x.{}", "o'neil/{}", "图{}", "a b {}")


class Shelf(MemoryCatalog):
    """Gives chunks by a dictionary, which is all that a search asks of a catalog again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[str, Chunk] = {}

    def chunks(self, addresses: Sequence[str]) -> list[Chunk]:
        return [self.held[address] for address in addresses if address in self.held]


@dataclass(frozen=True)
class RandomLibrary:
    """A few hundred chunks in the stores that Carrel has by default."""

    keywords: TantivyKeywords
    graph: SqliteGraph
    meaning: Meaning
    catalog: Shelf
    chance: Random
    references: list[Reference] = field(default_factory=list)

    @classmethod
    def make(cls, folder: Path, seed: int, papers: int) -> RandomLibrary:
        embedder = HashedWords(dim=16)
        vectors = FlatVectors(folder / "vectors", model=embedder.name, dim=embedder.dim)
        graph, meaning = SqliteGraph(folder / "graph.db"), Meaning(embedder, vectors)
        made = cls(TantivyKeywords(folder / "keywords"), graph, meaning, Shelf(), Random(seed))  # noqa: S311
        for number in range(papers):
            made._put(_reference(made.chance, number))
        made.keywords.put([chunk for chunk in made.chunks.values() if is_searched_by_words(chunk)])
        vectors.put(made.embedded, embedder.embed_passages([chunk.embedded_text for chunk in made.embedded]))
        return made

    @property
    def chunks(self) -> dict[str, Chunk]:
        """All there are, by address: the truth."""
        return self.catalog.held

    @property
    def embedded(self) -> list[Chunk]:
        return [chunk for chunk in self.chunks.values() if is_embeddable(chunk)]

    def close(self) -> None:
        self.keywords.close()
        self.graph.close()
        self.meaning.vectors.close()

    def filter(self) -> Filter:
        """Any fields together: what there is, what there is not, and what contradicts itself."""
        chance, ids = self.chance, [reference.id for reference in self.references]
        makers: dict[str, Callable[[], Any]] = {
            "paper_ids": lambda: frozenset(chance.sample([*ids, "nobody"], chance.randrange(1, 6))),
            "kinds": lambda: frozenset(chance.sample(list(ChunkKind), chance.randrange(1, 3))),
            "year_min": lambda: chance.choice((*YEARS, 3000)),
            "year_max": lambda: chance.choice((*YEARS[3:], -1, 3000)),
            "venue": lambda: _part(chance, chance.choice((*VENUES, "nowhere", ".*", "\\"))),
            "tags": lambda: frozenset(chance.sample([*TAGS, "unknown", ""], chance.randrange(1, 4))),
            "topic": lambda: chance.choice((*TOPICS, "unknown")),
            "chapter": lambda: chance.choice((0, 1, 2, 3, 9)),
            "section": lambda: chance.choice((0, 1, 2, 9)),
        }
        # A part of a venue's name takes the index longer to look for than all else together.
        usual = [name for name in makers if name != "venue" or chance.random() < 0.5]
        chosen = chance.sample(usual, chance.choice((0, 1, 1, 1, 1, 2, 2, 3)))
        return Filter(**{name: makers[name]() for name in chosen})

    def question(self) -> str:
        """A few words, of which the library may lack some; also stop words alone, and what is no word at all."""
        chance = self.chance
        if chance.random() < 0.1:
            return chance.choice(("of the", "🦓", "最短", "?!", "grpah", "Yu", "x" * 60))
        # The graph knows concepts by their names alone.
        return chance.choice(CONCEPTS) if chance.random() < 0.4 else _prose(chance, chance.randrange(1, 5))

    def _put(self, reference: Reference) -> None:
        chance, topic = self.chance, self.chance.choice(TOPICS)
        count = self.meaning.embedder.count_tokens
        abstract = tuple(reference_chunks(reference, language="en", count_tokens=count))
        texts = [_prose(chance, chance.choice((2, 6, 12))) for _ in range(chance.choice((0, 4, 8, 20)))]
        body = tuple(_passage(reference, number, text, topic, chance) for number, text in enumerate(texts))
        for part, text, chunks in ((Part.ABSTRACT, reference_text(reference), abstract), (Part.BODY, "", body)):
            if chunks:
                self.catalog.put([Entry(reference, Document(reference.id, part, text, digest="d"), chunks)])
        self.references.append(reference)
        self.chunks.update({chunk.address: chunk for chunk in (*abstract, *body)})
        self._put_concepts(reference.id, [*abstract, *body])

    def _put_concepts(self, paper_id: str, chunks: Sequence[Chunk]) -> None:
        """What a chunk has a word for, it mentions; the paper relates some of them to each other."""
        mentions = [
            Mention(name, chunk.address, 1, self.chance.choice((0.25, 0.5, 1.0)))
            for chunk in filter(is_searched_by_words, chunks)
            for name in CONCEPTS
            if name in chunk.text.split()
        ]
        pairs = [self.chance.sample(CONCEPTS, 2) for _ in range(2)]
        triples = [Triple(one, Predicate.USES, other, 0.5, chunks[0].address, "") for one, other in pairs]
        concepts = tuple(Concept(name) for name in CONCEPTS)
        self.graph.put([Contribution(paper_id, tuple(chunks), concepts, tuple(mentions), tuple(triples))])


def _reference(chance: Random, number: int) -> Reference:
    return Reference(
        id=chance.choice(IDS).format(number),
        title=_prose(chance, 4),
        authors=tuple(Author(name, "Ada") for name in chance.sample(NAMES, chance.randrange(3))),
        abstract=_prose(chance, chance.choice((0, 3, 12, 20))),
        venue=chance.choice(VENUES),
        note=chance.choice(("", "", "read the proof of this")),
        published=Published(chance.choice(YEARS)),
        tags=tuple(chance.sample(TAGS, chance.choice((0, 0, 1, 2, 3)))),
    )


def _passage(reference: Reference, number: int, text: str, topic: str, chance: Random) -> Chunk:
    chapter, section, is_figure = chance.randrange(1, 4), chance.randrange(3), chance.random() < 0.2
    place = f"fig{number + 1}" if is_figure else f"ch{chapter}/s{section}/p{number}"
    chunk = Chunk(
        address=f"{reference.id}/{place}",
        paper_id=reference.id,
        part=Part.BODY,
        kind=ChunkKind.EXHIBIT if is_figure else ChunkKind.PASSAGE,
        text=text,
        start=0,
        end=len(text),
        position=number,
        chapter=chapter,
        section=section,
        topic=topic,
        language="en",
    )
    return chunk.with_facts(reference)


def _prose(chance: Random, length: int) -> str:
    """Some words are much more common than others, so that scores tie and words are missed."""
    words = [*COMMON * 3, *CONCEPTS * 2, *WORDS]
    return " ".join(chance.choices(words, k=length))


def _part(chance: Random, text: str) -> str:
    """Some of a text, in any case."""
    start = chance.randrange(len(text) + 1)
    changed = chance.choice((str.upper, str.lower, str.title, str))(text[start : start + chance.randrange(1, 12)])
    return str(changed)
