"""The graph of concepts over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from carrel.http import graphs
from carrel.http.shapes import Shape
from carrel.types import Predicate, Role

if TYPE_CHECKING:
    from carrel import atlas
    from carrel.atlas.neighbourhoods import Neighbourhood
    from carrel.atlas.paths import StudyPath
    from carrel.atlas.views import ConceptView


class ConceptSummary(Shape):
    key: str = Field(description="What all its spellings share.")
    name: str = Field(examples=["Dense retrieval"])
    aliases: list[str]
    category: str
    definition: str
    defined_at: str | None = Field(description="Address of the chunk that has the definition.")
    papers: int
    chunks: int
    weight: float
    curated: bool = Field(description="Whether it is the user's own.")


class Concepts(Shape):
    query: str
    concepts: list[ConceptSummary]
    total: int = Field(description="Concepts that fit, on all pages.")
    next_cursor: str | None

    @classmethod
    def of(cls, found: atlas.Concepts) -> Concepts:
        concepts = [graphs.summary(one) for one in found.as_dict()["concepts"]]
        shown = {"query": found.query, "concepts": concepts, "total": found.total, "next_cursor": found.next_cursor}
        return cls.model_validate(shown)


class Where(Shape):
    """A place in the papers; null where the user's own files say so."""

    address: str | None
    paper_id: str | None
    title: str
    year: int | None
    page: int | None
    section_path: list[str]


class Evidence(Where):
    """A sentence that states a relation: `text[start:end]` of what `/api/text/{address}` gives."""

    text: str
    confidence: float
    start: int
    end: int


class Stated(Shape):
    predicate: Predicate
    confidence: float
    statements: int
    evidence: list[Evidence] = Field(description="Of `statements`, a few; none where there is no room for them.")


class Edge(Stated):
    subject: str
    object: str


class Related(Stated):
    """A relation as one of its ends sees it."""

    phrase: str = Field(examples=["is part of"])
    other: str
    forward: bool


class Spoken(Where):
    """A chunk that speaks of the concept."""

    role: Role
    count: int
    relevance: float


class Speaker(Shape):
    """A paper that speaks of the concept."""

    paper_id: str
    title: str
    year: int | None
    chunks: int
    relevance: float


class Cites(Shape):
    paper: str
    cites: str


class ConceptDetail(ConceptSummary):
    defined_in: Where | None
    relations: list[Related]
    discussed: list[Spoken]
    mentioned: list[Spoken]
    code_examples: list[Spoken]
    formulas: list[Spoken]
    speakers: list[Speaker]
    citations: list[Cites] = Field(description="Which of these papers cites which.")
    beside: list[str] = Field(description="What the same chunks speak of.")


class Node(ConceptSummary):
    hops: int
    score: float
    via: str | None = Field(description="The key of the concept by which it was reached.")
    read: list[Where] = Field(description="Where the papers say most of it.")


class Graph(Shape):
    concept: ConceptDetail | None = Field(description="The one that was named.")
    centre: str | None
    hops: int
    nodes: list[Node]
    edges: list[Edge]
    edges_left_out: int = Field(description="Further relations among the nodes, for which there is no room.")
    total: int = Field(description="Concepts that were reached, of which the nodes are the nearest.")

    @classmethod
    def of(cls, shown: Neighbourhood, concept: ConceptView | None) -> Graph:
        told = graphs.neighbourhood(shown.as_dict())
        return cls.model_validate({**told, "concept": graphs.detail(concept.as_dict()) if concept else None})


class StudyReason(Shape):
    """Why one concept comes before another."""

    before: str
    after: str
    said: str = Field(examples=["Sediment is part of bed"])
    predicate: Predicate | None = Field(description="Null where nobody states it and the papers show it.")
    worth: float = Field(description="How far it is believed, from 0 to 1.")
    evidence: list[Evidence]


class StudyStep(ConceptSummary):
    step: int = Field(description="From 1; the last is the concept itself.")
    read: Where | None = Field(description="Where the papers say what it is.")
    because: list[StudyReason] = Field(description="Why it comes before a later step, the surest first.")


class Study(Shape):
    concept: str
    steps: list[StudyStep]
    set_aside: list[StudyReason] = Field(description="What would have closed a circle.")

    @classmethod
    def of(cls, found: StudyPath) -> Study:
        return cls.model_validate(graphs.study(found.as_dict()))
