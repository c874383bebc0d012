"""A query understood by what the library's own indexes say of its words."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel import queries
from carrel.errors import CarrelError, InvalidInput
from carrel.search.begun import within
from carrel.search.listing import listing_arm
from carrel.telemetry import log
from carrel.types import EVERYTHING, Degradation, Mode, Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from carrel.catalogs import Catalog
    from carrel.keywords import KeywordIndex
    from carrel.queries import Fields, Lookup, Understood
    from carrel.search.arms import Arm
    from carrel.settings import Search as Options
    from carrel.types import Filter, Hit, Passage

_TEXTS = 16
"""Chunks that are read for one word: enough to find it in, few enough not to be felt."""


@dataclass(frozen=True)
class Asked:
    """What a query comes to."""

    understood: Understood
    where: Filter | None
    """None: no paper is what the query's fields ask for."""
    degraded: tuple[Degradation, ...] = ()

    @property
    def text(self) -> str:
        """Empty when the query has nothing but fields."""
        return self.understood.text

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.understood.steps

    @property
    def is_worded(self) -> bool:
        """Whether there is more to be looked up than words."""
        return bool(self.understood.phrases or self.understood.also)

    def lifted(self, passages: Sequence[Passage]) -> list[Passage]:
        """Those with the phrases first: of words, the keyword arm found no others."""
        # Stable, so that each kind keeps its order.
        return sorted(passages, key=lambda one: bool(self.understood.phrases) and "keyword" not in one.fused.arms)


def plain(query: str, where: Filter) -> Asked:
    """A query that is nothing but its text."""
    return Asked(queries.Understood(query), where)


@dataclass(frozen=True)
class Understanding:
    """What a query is understood by."""

    keywords: KeywordIndex
    catalog: Catalog
    options: Options
    narrow: Callable[[Fields, Filter], Filter | None]
    """The filter that allows what both allow; None when that is no paper."""
    adapt: Callable[[Arm], Arm] = lambda arm: arm
    """What is done to every arm."""

    def __call__(self, query: str, where: Filter, mode: Mode) -> Asked:
        """Phrases and acronyms are for the keyword arm: without it, they are no more than words."""
        options, by_words = self.options, mode in (Mode.HYBRID, Mode.KEYWORD)
        parsed = queries.parse(query, fields=options.query_fields, phrases=options.phrases and by_words)
        allowed = self.narrow(parsed.fields, where) if parsed.fields else where
        if allowed is None:
            named = " ".join(step.found for step in parsed.steps)
            unmet = Step(StepKind.FIELD, named, "no paper of the library", is_told=True)
            bare = queries.as_it_stands(parsed)
            return Asked(queries.Understood(bare.text, steps=(*bare.steps, unmet)), None)
        asking = lookup(self.keywords, self.catalog, allowed)
        expand = options.acronyms and by_words
        try:
            understood = within(
                options.arm_timeout,
                lambda: queries.understand(parsed, asking, correct=options.spelling, expand=expand),
            )
        except InvalidInput:
            raise
        except CarrelError as error:
            log("search", logging.WARNING, "query taken as it stands", reason=error.message)
            return Asked(queries.as_it_stands(parsed), allowed, (Degradation("understanding", error.message),))
        return Asked(understood, allowed)

    def keyword_arm(self, asked: Asked) -> Arm:
        """An arm that knows the phrases and the other names in the query."""
        phrases, also = asked.understood.phrases, asked.understood.also

        def find(query: str, limit: int, where: Filter) -> list[Hit]:
            return self.keywords.search(query, limit=limit, where=where, phrases=phrases, also=also)

        return self.adapt(find)

    def listing_arm(self) -> Arm:
        """For a query that names nothing but papers."""
        return self.adapt(listing_arm(self.catalog))

    def matches(self, asked: Asked) -> int | None:
        """How many chunks have all phrases of a query or, without any, one of its words; None if nobody can tell."""
        where = asked.where or EVERYTHING
        try:
            return self.keywords.matches(asked.text, where=where, phrases=asked.understood.phrases)
        except CarrelError as error:
            log("search", logging.WARNING, "matches not counted", reason=error.message)
            return None


def lookup(keywords: KeywordIndex, catalog: Catalog, where: Filter) -> Lookup:
    """What a library says. Phrases are looked for where the search may look; words and their meaning anywhere."""

    def texts(addresses: Sequence[str]) -> list[str]:
        return [" ".join((chunk.embedded_text, *chunk.authors)) for chunk in catalog.chunks(addresses)]

    def having(phrase: str, beside: str) -> list[str]:
        hits = keywords.search(beside, limit=_TEXTS, where=EVERYTHING, phrases=[phrase])
        return texts([hit.address for hit in hits])

    def near(word: str, distance: int, beside: str) -> list[str]:
        return texts(keywords.near(word, distance=distance, beside=beside, limit=_TEXTS))

    return queries.Lookup(
        frequencies=keywords.frequencies,
        count=lambda phrases: keywords.matches("", where=where, phrases=phrases),
        having=having,
        near=near,
    )
