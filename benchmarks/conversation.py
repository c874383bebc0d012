"""What rewriting follow-up questions is worth: recall@5 with and without, and whether it leaves new topics alone.

    python -m benchmarks.conversation ../shared/data/retrieval [--work .bench] [--sample N]

A question of a collection becomes two: one that names its subject, the first run of words that say what it is about,
and one that asks the rest of "it". The second is asked as it stands, and made whole from the first. The last row asks
the question as it was, after another one of the collection, on which it does not depend.
"""

from __future__ import annotations

import argparse
import random
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import collections
from carrel import conversing
from carrel.catalogs.conversations import Turn
from carrel.evaluate.intervals import bootstrap
from carrel.rerankers.fused import Fused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLLECTIONS = ("scifact", "pubmedqa_train", "hotpot100")
DEPTH = 5
LONGEST_SUBJECT = 3


class Asked(NamedTuple):
    query: str
    whole: str
    opening: str
    follow_up: str
    other: str
    """A question of the same collection about something else."""


def halved(text: str) -> tuple[str, str] | None:
    """A question about the subject, and what is asked of it; None if there is no telling them apart."""
    words = text.split()
    own = {word.strip("?.,:;()") for word in conversing.subjects(text)}
    start = next((place for place, word in enumerate(words) if word.strip("?.,:;()") in own), None)
    if start is None:
        return None
    end = start + 1
    while end < min(len(words), start + LONGEST_SUBJECT) and words[end].strip("?.,:;()") in own:
        end += 1
    subject, rest = " ".join(words[start:end]), " ".join([*words[:start], "it", *words[end:]])
    return (f"What is known about {subject.strip('?.,:;')}?", rest) if end < len(words) else None


def conversations(queries: Mapping[str, str], wanted: Sequence[str]) -> list[Asked]:
    made = []
    for place, query in enumerate(wanted):
        parts = halved(queries[query])
        if parts:
            made.append(Asked(query, queries[query], *parts, queries[wanted[place - 1]]))
    return made


def ways(asked: Asked) -> dict[str, str]:
    opening, other = Turn(asked.opening, asked.opening, ""), Turn(asked.other, asked.other, "")
    return {
        "whole question": asked.whole,
        "follow-up as it stands": asked.follow_up,
        "follow-up made whole": conversing.standalone(asked.follow_up, [opening]),
        "whole question after another": conversing.standalone(asked.whole, [other]),
    }


def recall(text: str, relevant: Mapping[str, int], index: collections.Index) -> float:
    passages = index.search(text, reranker=Fused()).passages[:DEPTH]
    return len({one.chunk.address for one in passages} & relevant.keys()) / min(len(relevant), DEPTH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--collections", nargs="+", default=COLLECTIONS)
    options = parser.parse_args()
    print(f"| collection | n | asked | changed | recall@{DEPTH} | 95 % |\n|---|---|---|---|---|---|")
    for name in options.collections:
        collection = collections.load(options.data / name)
        index = collections.index(collection, options.work)
        judged = sorted(collection.relevant)
        wanted = random.Random(7).sample(judged, min(options.sample, len(judged)))
        talks = conversations(collection.queries, wanted)
        for way in ways(talks[0]) if talks else ():
            pairs = [(ways(one)[way], one) for one in talks]
            changed = statistics.mean(text not in {one.whole, one.follow_up} for text, one in pairs)
            found = [recall(text, collection.relevant[one.query], index) for text, one in pairs]
            low, high = bootstrap(found)
            mean = statistics.mean(found)
            print(f"| {name} | {len(found)} | {way} | {changed:.0%} | {mean:.3f} | {low:.3f}–{high:.3f} |", flush=True)


if __name__ == "__main__":
    main()
