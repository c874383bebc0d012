"""What the rerankers share that run a model."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from carrel.errors import ModelTooSlow


def probability(logit: float) -> float:
    """The logistic function, exact at both ends."""
    small = math.exp(-abs(logit))
    return 1 / (1 + small) if logit >= 0 else small / (1 + small)


@dataclass(frozen=True)
class Deadline:
    """Until when a model may be at work. Nobody waits longer, so that going on would only keep the machine busy."""

    seconds: float
    start: float = field(default_factory=time.monotonic)

    def check(self, name: str) -> None:
        if time.monotonic() - self.start > self.seconds:
            raise too_slow(name, self.seconds)


def too_slow(name: str, seconds: float) -> ModelTooSlow:
    return ModelTooSlow(
        f"the reranker {name!r} was not done within {seconds:g} s",
        hint="Raise rerank.timeout, or lower rerank.overfetch.",
    )
