"""Questions that a library asks of itself: what they are, how they are drawn, and what they take out of the index.

A question is made of words that stand in the library: left there, they would be found by being equal, and the way of
searching that best finds equal words would look best. So its source is removed, wherever it stands in its papers.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING

from carrel.identifiers import paper_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from carrel.types import Chunk, Reference

_WORD = re.compile(r"[^\W_]+")
_BETWEEN = r"[\W_]+"
MOST_ALTERED = 400
"""Chunks that the questions of one kind may have embedded anew: a minute or so."""
_FEWEST = 10


class Kind(StrEnum):
    TITLE = "title"
    """A paper's title; the paper is the answer."""
    DEFINITION = "definition"
    """What a sentence says of a term; the rest of its passage is the answer."""
    CAPTION = "caption"
    """A figure's or table's caption; the passages that mention it are the answer."""
    CITATION = "citation"
    """A sentence that cites papers of the library; they are the answer."""


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    kind: Kind
    text: str
    relevant: frozenset[str]
    """Papers, or the addresses of passages."""
    source: str
    """What it was made of."""
    hidden_in: frozenset[str]
    """The papers whose titles, headings and texts are searched without the source."""
    dropped: frozenset[str] = frozenset()
    """Addresses of chunks that are not searched at all."""
    apart: frozenset[str] = frozenset()
    """Papers that this question is not asked of: the one whose sentence it is."""
    altered: int = 1
    """About how many chunks are searched otherwise because of it."""

    @property
    def of_papers(self) -> bool:
        """Whether its answers are papers, and not passages."""
        return self.kind in (Kind.TITLE, Kind.CITATION)

    @property
    def papers(self) -> frozenset[str]:
        """The papers that hold the answer."""
        return self.relevant if self.of_papers else frozenset(map(paper_of, self.relevant))

    def ranked(self, found: Iterable[Chunk]) -> list[str]:
        """What was found, in its order and each once, as papers or passages."""
        return list(dict.fromkeys(chunk.paper_id if self.of_papers else chunk.address for chunk in found))


def draw(made: Mapping[Kind, Sequence[Question]], count: int, *, seed: int) -> list[Question]:
    """So many questions, each kind with an equal share as far as it reaches, and its papers in turn."""
    drawn: list[Question] = []
    offered = {
        kind: _affordable(_in_turn(questions, random.Random(f"{seed} {kind}")))  # noqa: S311
        for kind, questions in made.items()
    }
    # From the shortest on, so that what it leaves is shared by the others.
    for number, kind in enumerate(sorted(offered, key=lambda kind: (len(offered[kind]), kind))):
        share = (count - len(drawn)) // (len(offered) - number)
        drawn += offered[kind][:share]
    return sorted(drawn, key=lambda question: question.id)


def _affordable(questions: Iterable[Question]) -> list[Question]:
    """As many as do not take too long to embed what they alter: a title stands in every chunk of its paper."""
    chosen = list(questions)
    reach = list(accumulate(question.altered for question in chosen))
    return chosen[: max(_FEWEST, bisect_right(reach, MOST_ALTERED))]


def _in_turn(questions: Sequence[Question], chance: random.Random) -> Iterator[Question]:
    """One of each paper, then a second of each, and so on."""
    by_paper: dict[str, list[Question]] = {}
    for question in sorted(questions, key=lambda question: question.id):
        by_paper.setdefault(min(question.hidden_in), []).append(question)
    groups = [chance.sample(group, len(group)) for group in chance.sample(list(by_paper.values()), len(by_paper))]
    for place in range(max(map(len, groups), default=0)):
        yield from (group[place] for group in groups if place < len(group))


class Removal:
    """What some questions take out of the index."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self._sources: dict[str, list[re.Pattern[str]]] = {}
        self._dropped: set[str] = set()
        for question in questions:
            self._dropped |= question.dropped
            for paper in question.hidden_in:
                self._sources.setdefault(paper, []).append(spelled(question.source))

    def record(self, reference: Reference) -> Reference:
        """A paper's record as it is searched; its title and note may have nothing left."""
        sources = self._sources.get(reference.id, ())
        return replace(reference, title=_without(reference.title, sources), note=_without(reference.note, sources))

    def chunks(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The chunks as they are searched, but for what their record says; those that are not are left out."""
        for chunk in chunks:
            if chunk.address not in self._dropped:
                yield self._altered(chunk) if chunk.paper_id in self._sources else chunk

    def _altered(self, chunk: Chunk) -> Chunk:
        sources = self._sources[chunk.paper_id]
        path = tuple(_without(title, sources) for title in chunk.section_path)
        return replace(chunk, section_path=path, text=_without(chunk.text, sources))


def spelled(source: str) -> re.Pattern[str]:
    """The words of a text one after another, whatever stands between them."""
    words = _WORD.findall(source)
    # Nothing can be without a word, and nothing is to be taken out for it.
    return re.compile(_BETWEEN.join(map(re.escape, words)) if words else r"(?!)", re.IGNORECASE)


def _without(text: str, sources: Iterable[re.Pattern[str]]) -> str:
    for source in sources:
        text = source.sub(" ", text)
    return text if text.strip() else ""
