"""Fit how far the words of a sentence are to be believed that may state a relation, and show how well that holds.

    python -m benchmarks.fit_triples ../shared/data [--write]

Every candidate of SciERC's training abstracts (`carrel.concepts.triples.candidates`) is an example: right if people
marked that relation in its sentence, by the ends' heads (`benchmarks.scierc_triples.by_head`). A logistic model with a
ridge learns from its signs how likely that is; signs that fewer than eight candidates have are left out, so that a
rare cue counts as much as others of its predicate do on average.

The floor is the lowest at which the precision of what is kept is at least 0.8 in cross-validation: ten parts, an
abstract's candidates all in one. The table shows that, and the weights that are written are fitted on all of them. The
development part has no say.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import scierc_triples as scierc
from carrel import sentences
from carrel.concepts.triples.belief import WEIGHTS
from carrel.concepts.triples.candidates import candidates
from carrel.concepts.triples.checks import MOST_IN_A_CHUNK
from carrel.concepts.triples.plain import plain
from carrel.concepts.triples.sentence import read
from carrel.naming import key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Array = NDArray[np.float64]
RIDGE = 5.0
LEAST_SEEN = 8
PARTS = 10
WANTED = 0.8
FLOORS = (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
LOWEST = 0.5


class Example(NamedTuple):
    abstract: int
    triple: scierc.Stated
    signs: tuple[str, ...]
    right: bool
    """By heads, which is what is learned."""
    nearly: bool
    """By overlap, which is what precision counts."""


class Model(NamedTuple):
    signs: tuple[str, ...]
    weights: Array
    """The last is the bias."""

    def chances(self, examples: Sequence[Example]) -> Array:
        return _sigmoid(_design(examples, self.signs) @ self.weights)


def examples(abstracts: Iterable[scierc.Abstract]) -> Iterator[Example]:
    for number, abstract in enumerate(abstracts):
        known = scierc.known_terms(abstract)
        for span in sentences.prose(abstract.text):
            sentence = read(plain(abstract.text[span.start : span.end]), known)
            wanted = scierc.marked_in(abstract, span.start, span.end, known)
            for one in candidates(sentence, known) if sentence else ():
                if one.cue.confidence is None:
                    stated = scierc.Stated(one.subject, one.predicate, one.object)
                    right, nearly = (
                        scierc.is_right(scierc.Found("", stated, wanted), same)
                        for same in (scierc.by_head, scierc.by_overlap)
                    )
                    yield Example(number, stated, one.signs, right, nearly)


def fit(given: Sequence[Example]) -> Model:
    seen = Counter(sign for example in given for sign in example.signs)
    signs = tuple(sorted(sign for sign, count in seen.items() if count >= LEAST_SEEN))
    design, right = _design(given, signs), np.array([example.right for example in given], dtype=np.float64)
    ridge = np.diag([*[RIDGE] * len(signs), 0.01])
    weights = np.zeros(len(signs) + 1)
    # Newton's steps; the sum is convex, so that they end at the same weights from anywhere.
    for _ in range(50):
        chance = _sigmoid(design @ weights)
        curve = design.T @ (design * (chance * (1 - chance))[:, None]) + ridge
        weights = weights - np.linalg.solve(curve, design.T @ (chance - right) + ridge @ weights)
    return Model(signs, weights)


def _design(given: Sequence[Example], signs: Sequence[str]) -> Array:
    column = {sign: place for place, sign in enumerate(signs)}
    design = np.zeros((len(given), len(signs) + 1))
    design[:, -1] = 1
    for row, example in zip(design, given, strict=True):
        row[[column[sign] for sign in example.signs if sign in column]] = 1
    return design


def _sigmoid(values: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-values))
    return result


def cross_validated(given: Sequence[Example]) -> Array:
    """How likely each is called by a model that was fitted without its abstract."""
    count = max(example.abstract for example in given) + 1
    part = np.random.default_rng(0).permutation(count) % PARTS
    of = np.array([part[example.abstract] for example in given])
    chances = np.zeros(len(given))
    for number in range(PARTS):
        held_out = [example for example, other in zip(given, of, strict=True) if other == number]
        model = fit([example for example, other in zip(given, of, strict=True) if other != number])
        chances[of == number] = model.chances(held_out)
    return chances


def kept(given: Sequence[Example], chances: Array, floor: float) -> list[Example]:
    """The surest of each abstract, each statement once, as `carrel.concepts.triples.checks.best` does."""
    chosen: dict[tuple[int, str, frozenset[str]], Example] = {}
    counts: Counter[int] = Counter()
    for row in np.argsort(-chances, kind="stable"):
        example = given[row]
        pair = frozenset((key(example.triple.subject), key(example.triple.object)))
        said = (example.abstract, str(example.triple.predicate), pair)
        if chances[row] >= floor and said not in chosen and counts[example.abstract] < MOST_IN_A_CHUNK:
            chosen[said] = example
            counts[example.abstract] += 1
    return list(chosen.values())


def precision(chosen: Sequence[Example]) -> float:
    return sum(example.nearly for example in chosen) / max(1, len(chosen))


def floor_of(given: Sequence[Example], chances: Array) -> float:
    good = (floor for floor in FLOORS if floor >= LOWEST and precision(kept(given, chances, floor)) >= WANTED)
    return next(good, FLOORS[-1])


def written(model: Model, floor: float) -> str:
    weights = {sign: round(float(weight), 4) for sign, weight in zip(model.signs, model.weights, strict=False)}
    learned = {"fitted_on": "SciERC, train", "floor": floor, "bias": round(float(model.weights[-1]), 4)}
    return json.dumps({**learned, "weights": weights}, indent=1) + "\n"


def report(given: Sequence[Example], chances: Array, relations: int) -> Iterator[str]:
    yield "| least | triples | precision: overlap (95 %) | head | recall: overlap |\n|---|---|---|---|---|"
    for floor in FLOORS:
        chosen = kept(given, chances, floor)
        nearly, right = (sum(getattr(example, name) for example in chosen) for name in ("nearly", "right"))
        count = max(1, len(chosen))
        low, high = scierc.interval(nearly, count)
        shares = f"{nearly / count:.3f} ({low:.2f}–{high:.2f}) | {right / count:.3f} | {nearly / relations:.3f}"
        yield f"| {floor:.2f} | {len(chosen)} | {shares} |"
    yield "\nof those called so likely, so many are right (by head):"
    for low in np.arange(0, 1, 0.1):
        within = [example.right for example, at in zip(given, chances, strict=True) if low <= at < low + 0.1]
        yield f"{low:.1f}–{low + 0.1:.1f}: {np.mean(within):.2f} of {len(within)}" if within else f"{low:.1f}–: none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", type=Path, nargs="?", const=WEIGHTS, help="keep the weights, in the package")
    chosen = parser.parse_args()
    abstracts = list(scierc.abstracts(chosen.data, "train"))
    given = list(examples(abstracts))
    relations = sum(len(sentence.stated) for abstract in abstracts for sentence in abstract.sentences)
    print(f"{len(abstracts)} abstracts, {relations} relations, {len(given)} candidates", end=", ")
    print(f"{sum(example.right for example in given)} of them right\n")
    chances = cross_validated(given)
    print("\n".join(report(given, chances, relations)))
    model, floor = fit(given), floor_of(given, chances)
    print(f"\nfloor {floor}; {len(model.signs)} signs")
    if chosen.write:
        chosen.write.write_text(written(model, floor), encoding="utf-8")


if __name__ == "__main__":
    main()
