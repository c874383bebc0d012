"""An excerpt as it is searched for proof."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from carrel import claims, languages, quotes
from carrel.answer import screened, support
from carrel.answer.support import Comparison
from carrel.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.claims import Claim
    from carrel.types import Excerpt

_WORD = re.compile(r"[^\W\d_]|\d(?![\d.)]*\s*$)")
"""The number of a list's item is none."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_CJK_DENIES = re.compile(r"[不没沒未无無非否]|ない|ません|なかった")
_FEWEST_CHARACTERS = 6


@dataclass(frozen=True, eq=False)
class Source:
    """Only what was offered of an excerpt counts."""

    excerpt: Excerpt

    @property
    def number(self) -> int:
        return self.excerpt.number

    @cached_property
    def is_english(self) -> bool:
        """Of other languages nobody here knows how they deny or doubt."""
        return languages.detect(self.excerpt.text) == "en" and not _CJK.search(self.excerpt.text)

    @cached_property
    def _stretches(self) -> tuple[Span, ...]:
        return (Span(0, len(self.excerpt.text)),) if self.excerpt.offered is None else self.excerpt.offered

    @cached_property
    def _sentences(self) -> list[Span]:
        return [
            Span(stretch.start + span.start, stretch.start + span.end)
            for stretch in self._stretches
            # Who repeats a question or a task has said nothing that could be proved.
            for span in screened.statements(self._text(stretch))
        ]

    def _text(self, span: Span) -> str:
        return self.excerpt.text[span.start : span.end]

    def verbatim(self, text: str) -> Span | None:
        """Where the very words stand, if they say there what they say alone."""
        for stretch in self._stretches:
            if found := quotes.locate(text, self._text(stretch)):
                span = Span(stretch.start + found.start, stretch.start + found.end)
                if self._keeps_its_sense(span):
                    return span
        return None

    def _keeps_its_sense(self, span: Span) -> bool:
        """Whether it is whole sentences, or a part that the rest does not turn round."""
        around = [one for one in self._sentences if one.start < span.end and span.start < one.end]
        if not around or not self._is_all_of(span, around):
            return False
        before, after = (
            self.excerpt.text[around[0].start : span.start],
            self.excerpt.text[span.end : around[-1].end],
        )
        if not _WORD.search(before) and not _WORD.search(after):
            return True
        if _CJK.search(self._text(span)):
            return self._is_a_clause(span) and not _CJK_DENIES.search(before + after)
        if not self.is_english:
            return False
        part, whole = (_read(one) for one in (self._text(span), before + self._text(span) + after))
        turned = claims.denies(part, whole) or claims.turns(part, whole) or claims.drops_a_doubt(part, whole)
        return support.says_enough(part) and not turned

    def _is_all_of(self, span: Span, around: list[Span]) -> bool:
        """Whether there is nothing in it beside sentences that are a proof."""
        ends = [span.start, *(one.end for one in around)]
        starts = [*(one.start for one in around), span.end]
        return not any(_WORD.search(self.excerpt.text[end:start]) for end, start in zip(ends, starts, strict=True))

    def _is_a_clause(self, span: Span) -> bool:
        beside = self.excerpt.text[max(0, span.start - 1) : span.start] + self.excerpt.text[span.end : span.end + 1]
        return span.end - span.start >= _FEWEST_CHARACTERS and not _CJK.search(beside)

    def compared(self, statement: Claim) -> list[Comparison]:
        """With each of its sentences. Of two together a statement can be made that neither says: the subject of one and
        what the other is compared with."""
        return [Comparison(statement, _read(self._text(span)), self._text(span), span) for span in self._sentences]

    def nearest(self, statement: Claim) -> Iterator[Comparison]:
        """With what shares the most words with it."""
        single = self.compared(statement)
        best = max((one.shared for one in single), default=0.0)
        if best > 0:
            yield from (one for one in single if one.shared == best)


def _read(text: str) -> Claim:
    return claims.read(quotes.equalised(text))
