"""How often a statement is believed that an excerpt supports, and how often one that it does not.

    python -m benchmarks.support ../shared/data/retrieval/scifact [--sample 200] [--split validation]

Five rules are compared on the same statements (`benchmarks.statements` says which they are): (a) so many of the words
are in one sentence, or two; (b) numbers, names, denials, directions and doubts agree, too; (c) order and added words
do, too, which is what Carrel asks; (d) the embedder finds the two similar, too; (e) a logistic model of all of this,
fitted on the training part. Each cell is the share that is believed, with its 95 % interval.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks import statements
from benchmarks.scierc_triples import interval
from carrel import claims
from carrel.answer.support import LEAST_SHARED
from carrel.embedders.granite import Granite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchmarks.statements import Weighed
    from carrel.answer.support import Comparison

    Array = NDArray[np.float64]
    Rule = Callable[[Weighed], bool]

SIMILAR = 0.85
RIDGE = 1.0
ALLOWED = 0.01
"""The share of wrong statements that the logistic model may believe."""


def shares_words(one: Weighed) -> bool:
    return one.most_shared >= LEAST_SHARED


def agrees(one: Weighed) -> bool:
    return any(given.shared >= LEAST_SHARED and not any(_conflicts(given)) for given, _ in one.nearest)


def is_supported(one: Weighed) -> bool:
    return any(not given.objection() for given, _ in one.nearest)


def is_similar(one: Weighed) -> bool:
    return any(not given.objection() and similarity >= SIMILAR for given, similarity in one.nearest)


def _conflicts(given: Comparison) -> tuple[bool, ...]:
    pair = given.statement, given.source
    return (
        bool(claims.unsaid_number(*pair)),
        bool(claims.unsaid_name(*pair)),
        claims.denies(*pair),
        claims.turns(*pair),
        claims.drops_a_doubt(*pair),
    )


class Model(NamedTuple):
    weights: Array
    least: float

    def score(self, one: Weighed) -> float:
        """What has a number or a name of its own is never believed, whatever else speaks for it."""
        sound = [near for near in one.nearest if not any(_conflicts(near[0])[:2])]
        return max((float(_signs(*near) @ self.weights) for near in sound), default=-np.inf)

    def believes(self, one: Weighed) -> bool:
        return self.score(one) >= self.least


def _signs(given: Comparison, similar: float) -> Array:
    length = np.log(len(given.statement.words) / max(1, len(given.source.words)))
    added = len(given.statement.missing(given.source))
    return np.array([1, given.shared, given.order, similar, length, added, *_conflicts(given), not given.objection()])


def fit(given: Sequence[Weighed]) -> Model:
    """Newton's steps to the weights; then the lowest score above which few enough of the wrong are."""
    rows = [(_signs(*near), one.example.right) for one in given for near in one.nearest]
    design, right = np.array([row for row, _ in rows]), np.array([float(good) for _, good in rows])
    weights = np.zeros(design.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        curve = design.T @ (design * (chance * (1 - chance))[:, None]) + RIDGE * np.eye(len(weights))
        weights = weights - np.linalg.solve(curve, design.T @ (chance - right) + RIDGE * weights)
    scores = sorted((Model(weights, 0).score(one) for one in given if not one.example.right), reverse=True)
    return Model(weights, scores[int(ALLOWED * len(scores))] + 1e-9)


def report(given: Sequence[Weighed], rules: dict[str, Rule]) -> Iterator[str]:
    yield "| statements | n | " + " | ".join(rules) + " |\n|---|---:|" + "---:|" * len(rules)
    for kind in dict.fromkeys(one.example.kind for one in given):
        yield _row(kind, [one for one in given if one.example.kind == kind], rules)
    for name, right in (("**all that are right**", True), ("**all that are wrong**", False)):
        yield _row(name, [one for one in given if one.example.right is right], rules)


def _row(name: str, given: Sequence[Weighed], rules: dict[str, Rule]) -> str:
    cells = []
    for rule in rules.values():
        believed = sum(map(rule, given))
        low, high = interval(believed, len(given))
        cells.append(f"{believed / len(given):.3f} ({max(low, 0):.2f}–{high:.2f})")
    return f"| {name} | {len(given)} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sample", type=int, default=200, help="of each kind of statement")
    parser.add_argument("--split", default="validation")
    options = parser.parse_args()
    embedder = Granite()
    train, test = (
        statements.weighed(statements.examples(options.data, split, sample=options.sample), embedder)
        for split in ("train", options.split)
    )
    rules: dict[str, Rule] = {
        "(a) words": shares_words,
        "(b) + agreement": agrees,
        "(c) + order, additions": is_supported,
        f"(d) + similarity {SIMILAR}": is_similar,
        "(e) logistic": fit(train).believes,
    }
    print("\n".join(report(test, rules)))


if __name__ == "__main__":
    main()
