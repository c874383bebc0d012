"""How questions ended since the server began."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.errors import OutOfTime, QueueFull, QueueTimeout, ShuttingDown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.types import Answer

_LATEST = 1000
_TURNED_AWAY = (QueueFull, QueueTimeout, ShuttingDown)


@dataclass
class Tally:
    answered: int = 0
    """Those among them that have no answer for lack of evidence are `unanswered`, too."""
    unanswered: int = 0
    left: int = 0
    """Whoever asked did not wait for the end."""
    turned_away: int = 0
    timed_out: int = 0
    failed: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=_LATEST), repr=False)
    """Milliseconds, of the latest answers."""

    def add(self, answer: Answer, milliseconds: float) -> None:
        self.answered += 1
        self.unanswered += answer.has_insufficient_evidence
        self.latencies.append(milliseconds)

    @contextmanager
    def watching(self) -> Iterator[list[Answer]]:
        """Count what a question ends with, unless that is an answer: who has put it here is not gone too early."""
        answers: list[Answer] = []
        try:
            yield answers
        except _TURNED_AWAY:
            self.turned_away += 1
            raise
        except OutOfTime:
            self.timed_out += 1
            raise
        except Exception:
            self.failed += 1
            raise
        except BaseException:
            self.left += not answers
            raise

    @property
    def mean_latency(self) -> float | None:
        return round(sum(self.latencies) / len(self.latencies), 3) if self.latencies else None
