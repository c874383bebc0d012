"""How sure the evidence makes us that it holds an answer.

A logistic curve over what is known by then: the `fused` reranker's probabilities of all passages together, how near the
nearest of their sentences is to the question, and how many of the question's words they have. Its numbers are in
`certainty.json`, one set for each case in which something is not known; `benchmarks/fit_certainty.py` says where they
come from. They assume that of three questions that a library is asked, two have an answer in it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from carrel import words
from carrel.answer import wording
from carrel.types import Certainty, Confidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.types import Excerpt, Passage

EMBEDDER = "granite-embedding-30m-english"
"""Whose similarities the numbers were fitted to, here and in `fused`."""
FEWEST = 30
"""Candidates. Among fewer, as in one paper, none can stand out, and `fused`, which goes by that, says little."""
MODELS = (
    ("whole", frozenset({"passages", "sentence"})),
    ("reranked", frozenset({"passages", "words"})),
    ("near", frozenset({"sentence", "words"})),
    ("words", frozenset({"words"})),
)
"""Which numbers are used when these features are known, the first that fit."""
_OF_FUSED = frozenset({"coverage", "heading"})
"""What `fused` says that it went by, and no other reranker does."""
_LEVELS = ((0.8, Confidence.HIGH), (0.6, Confidence.MEDIUM), (0.4, Confidence.LOW))
_EDGE = 1e-3
_MOST_MISSING = 5
_BY_WORDS = 0.75
"""As sure as words alone make: of the questions all of whose words were found, so many had an answer."""


@dataclass(frozen=True)
class _Model:
    weights: Mapping[str, float]
    bias: float

    def of(self, values: Mapping[str, float]) -> float:
        value = self.bias + sum(weight * values[name] for name, weight in self.weights.items())
        return round(1 / (1 + math.exp(-max(-50.0, min(50.0, value)))), 6)


def certainty(
    question: str,
    passages: Sequence[Passage],
    excerpts: Sequence[Excerpt],
    *,
    embedder: str = "",
    candidates: int = FEWEST,
) -> Certainty:
    """The probability that what was found holds an answer, and what of the question it does not speak of.

    `embedder` names the model that the similarities are of. What another reranker or embedder says, nobody has
    measured: it can make us less sure, never more. `candidates` says how many the passages were chosen from.
    """
    if not passages:
        return Certainty(0.0, _missing(question, frozenset()))
    spoken = frozenset[str]().union(*_spoken(passages))
    values = features(question, passages, excerpts, embedder)
    if candidates < FEWEST and "sentence" in values:
        values.pop("passages", None)
    sure = _probability(values)
    if sure is not None and not _is_measured(passages[0], embedder):
        sure = min(sure, max((one.probability for one in passages if one.probability is not None), default=1.0))
    return Certainty(sure, _missing(question, spoken))


def features(
    question: str, passages: Sequence[Passage], excerpts: Sequence[Excerpt], embedder: str
) -> dict[str, float]:
    """What can be told, as far as the numbers were fitted to it."""
    near = [one.nearest for one in excerpts if one.nearest is not None]
    values = {"sentence": max(near)} if near and embedder == EMBEDDER else {}
    likely = [one.probability for one in passages if one.probability is not None]
    if likely and _is_measured(passages[0], embedder):
        values["passages"] = _logit(1 - math.prod(1 - one for one in likely))
    spoken = _spoken(passages)
    if weighed := wording.weights(question, spoken):
        values["words"] = wording.covered(frozenset[str]().union(*spoken), weighed)
    return values


def _is_measured(passage: Passage, embedder: str) -> bool:
    """Whether its probability is of `fused`, made of similarities that `fused` was fitted to, or of none."""
    signals = passage.signals.keys()
    return signals >= _OF_FUSED and (embedder == EMBEDDER or "similarity" not in signals)


def _spoken(passages: Sequence[Passage]) -> list[frozenset[str]]:
    """The words of each, with its headings'."""
    return [frozenset(words.stems(one.chunk.embedded_text)) for one in passages]


def _missing(question: str, spoken: frozenset[str]) -> tuple[str, ...]:
    """Words of the question, as it has them, that are not spoken of in any form."""
    unspoken = [stem for stem in wording.weights(question, []) if stem not in spoken]
    return wording.spelt(question, unspoken)[:_MOST_MISSING]


def level(probability: float | None) -> Confidence:
    """The same in a word. Without a probability no claim is made."""
    levels = (level for least, level in _LEVELS if probability is not None and probability >= least)
    return next(levels, Confidence.INSUFFICIENT)


def _probability(values: Mapping[str, float]) -> float | None:
    model = next((_models()[name] for name, needed in MODELS if needed <= values.keys()), None)
    if model is None:
        return None
    most = _BY_WORDS if values.keys() <= {"words"} else 1.0
    return min(model.of(values), most)


@cache
def _models() -> dict[str, _Model]:
    stored = json.loads((resources.files("carrel.answer") / "certainty.json").read_text(encoding="utf-8"))
    return {name: _Model(**numbers) for name, numbers in stored["models"].items()}


def _logit(probability: float) -> float:
    inside = min(max(probability, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))
