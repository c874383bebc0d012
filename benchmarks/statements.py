"""Statements that an excerpt supports and statements that it does not, from SciFact's claims and abstracts.

Claims are people's paraphrases. Right are those that an abstract supports, against that abstract, and its own sentences
shortened. Wrong are claims against an abstract that contradicts them, against one whose rationale was taken out, and
against another claim's; and supported claims, sentences and shortened sentences in which one thing was changed.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks import corruptions
from carrel import claims, quotes
from carrel.answer.sources import Source
from carrel.types import Excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from carrel.answer.support import Comparison
    from carrel.embedders import Embedder
    from carrel.types import Vector

RIGHT = ("supported claim", "shortened sentence")
_SHORTEST = 40


class Example(NamedTuple):
    kind: str
    statement: str
    abstract: tuple[str, ...]

    @property
    def right(self) -> bool:
        return self.kind in RIGHT


class Weighed(NamedTuple):
    """An example, what an abstract has of it, and how similar that is."""

    example: Example
    most_shared: float
    nearest: tuple[tuple[Comparison, float], ...]


def examples(folder: Path, split: str, *, sample: int, seed: int = 0) -> list[Example]:
    """Up to so many of each kind."""
    chance = random.Random(seed)
    abstracts = {record["_id"]: tuple(record["sentences"]) for record in _records(folder / "sentences.jsonl.gz")}
    records = [record for record in _records(folder / "claims.jsonl.gz") if record["split"] == split]
    by_kind: dict[str, list[Example]] = defaultdict(list)
    for example in [*_of_claims(records, abstracts, chance), *_of_sentences(records, abstracts, chance)]:
        by_kind[example.kind].append(example)
    for given in by_kind.values():
        chance.shuffle(given)
    return [example for given in by_kind.values() for example in given[:sample]]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _of_claims(
    records: Sequence[dict[str, Any]], abstracts: dict[str, tuple[str, ...]], chance: random.Random
) -> Iterator[Example]:
    judged = [record for record in records if record["evidence"]]
    names = corruptions.names_in([record["claim"] for record in judged])
    for record in judged:
        rationale: dict[tuple[str, str], set[int]] = defaultdict(set)
        for found in record["evidence"]:
            rationale[found["doc_id"], found["label"]].update(found["sentences"])
        for (document, label), chosen in rationale.items():
            abstract = abstracts[document]
            rest = tuple(sentence for place, sentence in enumerate(abstract) if place not in chosen)
            kind = RIGHT[0] if label == "SUPPORT" else "contradicted claim"
            yield Example(kind, record["claim"], abstract)
            yield Example("claim, rationale removed", record["claim"], rest)
            if label == "SUPPORT":
                yield from _changed("claim", record["claim"], abstract, names, chance)
        other = chance.choice([other for other in judged if other is not record])
        yield Example("claim, other abstract", record["claim"], abstracts[other["evidence"][0]["doc_id"]])


def _of_sentences(
    records: Sequence[dict[str, Any]], abstracts: dict[str, tuple[str, ...]], chance: random.Random
) -> Iterator[Example]:
    cited = sorted({found["doc_id"] for record in records for found in record["evidence"]})
    names = corruptions.names_in([sentence for document in cited for sentence in abstracts[document]])
    for document in cited:
        for sentence in abstracts[document]:
            if len(sentence) >= _SHORTEST:
                yield from _changed("sentence", sentence, abstracts[document], names, chance)
                short = corruptions.shortened(sentence)
                if short != sentence and len(short) >= _SHORTEST:
                    yield Example(RIGHT[1], short, abstracts[document])
                    yield from _changed("shortened", short, abstracts[document], names, chance)


def _changed(
    what: str, sentence: str, abstract: tuple[str, ...], names: Sequence[str], chance: random.Random
) -> Iterator[Example]:
    for kind, change in corruptions.WRONG.items():
        changed = change(sentence, chance, names)
        if changed != sentence:
            yield Example(f"{what}, {kind}", changed, abstract)


def weighed(given: Iterable[Example], embedder: Embedder) -> list[Weighed]:
    """Everything that a rule may look at."""
    vectors = _Vectors(embedder)
    return [_weighed(example, vectors) for example in given]


class _Vectors:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    def similarities(self, text: str, others: Sequence[str]) -> list[float]:
        new = [one for one in dict.fromkeys((text, *others)) if one not in self._known]
        self._known |= dict(zip(new, self._embedder.embed_passages(new), strict=True))
        return [float(np.dot(self._known[text], self._known[other])) for other in others]


def _weighed(example: Example, vectors: _Vectors) -> Weighed:
    source = Source(Excerpt(1, "", "\n\n".join(example.abstract)))
    statement = claims.read(quotes.equalised(example.statement))
    most = max((one.shared for one in source.compared(statement)), default=0.0)
    near = [one for one in source.nearest(statement) if one.shared >= 0.5]
    similar = vectors.similarities(example.statement, [one.quote for one in near]) if near else []
    return Weighed(example, most, tuple(zip(near, similar, strict=True)))
