"""What query understanding is worth: nDCG@10 with each step on and off.

    python -m benchmarks.understanding ../shared/data/retrieval [--work .bench]

Each collection is asked its own queries; the same with one slip of the pen in a word of four letters or more that the
collection has, three times over; and, where a query has an acronym that the collection defines or what it stands for,
the same query with the one in place of the other.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from benchmarks import collections
from carrel import fusion, queries
from carrel.queries import acronyms, spelling
from carrel.search.understanding import lookup
from carrel.types import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from carrel.catalogs import Catalog
    from carrel.types import Chunk

    Asked: TypeAlias = list[tuple[str, str]]
    """Queries by their ids; one may be asked in several ways."""

COLLECTIONS = ("scifact", "cranfield", "cp_algorithms")
QUERIES = 150
SLIPS = 3
DEPTH = 50
STEPS = {
    "off": {"correct": False, "expand": False},
    "spelling": {"correct": True, "expand": False},
    "acronyms": {"correct": False, "expand": True},
    "both": {"correct": True, "expand": True},
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DEFINED = re.compile(r"\(([A-Z][A-Za-z0-9]{1,8})\)")


@dataclass(frozen=True)
class Texts:
    """As much of a catalog as is needed to read chunks."""

    by_address: Mapping[str, Chunk]

    def chunks(self, addresses: Sequence[str]) -> list[Chunk]:
        return [self.by_address[address] for address in addresses]


def misspelled(word: str, chance: random.Random) -> str:
    """One letter put in, left out, changed or swapped with the next, neither the first nor the last."""
    place, letter = chance.randrange(1, len(word) - 1), chance.choice(_LETTERS)
    before, after = word[:place], word[place:]
    slips = (before + letter + after, before + after[1:], before + letter + after[1:])
    return chance.choice((*slips, before + after[1] + after[0] + after[2:]))


def with_slips(asked: Asked, known: Callable[[Sequence[str]], list[int]]) -> Asked:
    chance, changed = random.Random(7), []
    for query, text in asked * SLIPS:
        words = list(spelling.candidates(text))
        held = [word for word, count in zip(words, known(words), strict=True) if count]
        if held:
            word = chance.choice(held)
            changed.append((query, re.sub(rf"\b{word}\b", misspelled(word, chance), text)))
    return changed


def defined(chunks: Sequence[Chunk]) -> dict[str, str]:
    """Acronyms of a collection and what they stand for, by every chunk that defines one."""
    texts: dict[str, list[str]] = {}
    for chunk in chunks:
        for short in set(_DEFINED.findall(chunk.text)):
            texts.setdefault(short, []).append(chunk.text)
    found = {short: acronyms.long_form(short, where) for short, where in texts.items()}
    return {short: form for short, form in found.items() if form and sum(map(str.isupper, short)) > 1}


def replaced(asked: Asked, names: Mapping[str, str], flags: int) -> Asked:
    """The queries that have one of these names, with the other one in its place."""
    changed = []
    for query, text in asked:
        found = ((re.search(rf"\b{re.escape(name)}\b", text, flags), other) for name, other in names.items())
        first = next(((match, other) for match, other in found if match), None)
        if first:
            match, other = first
            changed.append((query, f"{text[: match.start()]}{other}{text[match.end() :]}"))
    return changed[:QUERIES]


def measure(index: collections.Index, asked: Asked) -> dict[str, tuple[float, float, float]]:
    """By steps: nDCG@10 of the keyword arm, of both arms fused, and the median milliseconds of understanding."""
    library = lookup(index.keywords, cast("Catalog", Texts(index.by_address)), EVERYTHING)
    embed = cache(index.embedder.embed_query)
    figures = {}
    for name, steps in STEPS.items():
        by_words, fused, spent = [], [], []
        for query, text in asked:
            start = time.perf_counter()
            understood = queries.understand(queries.parse(text), library, **steps)
            spent.append((time.perf_counter() - start) * 1000)
            found = {
                "vector": index.vectors.search(embed(understood.text), limit=DEPTH, where=EVERYTHING),
                "keyword": index.keywords.search(
                    understood.text, limit=DEPTH, where=EVERYTHING, phrases=understood.phrases, also=understood.also
                ),
            }
            joined = fusion.reciprocal_rank(found, weights={"vector": 1.0, "keyword": 1.0})
            relevant = index.collection.relevant[query]
            by_words.append(collections.ndcg([hit.address for hit in found["keyword"]], relevant))
            fused.append(collections.ndcg([one.address for one in joined], relevant))
        figures[name] = statistics.mean(by_words), statistics.mean(fused), statistics.median(spent)
    return figures


def variants(index: collections.Index) -> dict[str, Asked]:
    collection, chance = index.collection, random.Random(7)
    judged = [(query, collection.queries[query]) for query in sorted(collection.relevant)]
    sample = chance.sample(judged, min(QUERIES, len(judged)))
    names = defined(collection.chunks)
    return {
        "as they are": sample,
        "one slip each": with_slips(sample, index.keywords.frequencies),
        "acronym for long form": replaced(judged, {form: short for short, form in names.items()}, re.IGNORECASE),
        "long form for acronym": replaced(judged, names, 0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    options = parser.parse_args()
    heads = [f"{arm}: {steps}" for arm in ("words", "RRF") for steps in STEPS]
    print("| collection, queries | n |", " | ".join(heads), "| ms |")
    print("|---" * (len(heads) + 3) + "|")
    for name in COLLECTIONS:
        index = collections.index(collections.load(options.data / name), options.work)
        for kind, asked in variants(index).items():
            if asked:
                figures = measure(index, asked)
                scores = [f"{figures[steps][arm]:.4f}" for arm in (0, 1) for steps in STEPS]
                row = [f"{name}, {kind}", str(len(asked)), *scores, f"{figures['both'][2]:.1f}"]
                print("|", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    main()
