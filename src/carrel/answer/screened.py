"""What of a passage may be shown and quoted: all but the sentences that command a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel import screening, sentences
from carrel.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def harmless(text: str) -> tuple[Span, ...] | None:
    """The stretches between such sentences, in order; None for all of it."""
    orders = screening.instructions(text)
    return tuple(_between(text, orders)) if orders else None


def statements(text: str) -> list[Span]:
    """The sentences of its prose that state something, without what asks or commands behind them."""
    found: list[Span] = []
    for span in sentences.prose(text):
        said = text[span.start : span.end]
        kept = said[: screening.stated(said)].rstrip()
        if kept:
            found.append(Span(span.start, span.start + len(kept)))
    return found


def within(spans: Iterable[Span], stretches: Sequence[Span] | None) -> tuple[Span, ...]:
    """What of these spans lies in the stretches, in order."""
    if stretches is None:
        return tuple(spans)
    shared = (
        Span(max(span.start, stretch.start), min(span.end, stretch.end)) for span in spans for stretch in stretches
    )
    return tuple(one for one in shared if one.start < one.end)


def _between(text: str, orders: Sequence[Span]) -> Iterator[Span]:
    start = 0
    for order in (*orders, Span(len(text), len(text))):
        if text[start : order.start].strip():
            yield Span(start, order.start)
        start = order.end
