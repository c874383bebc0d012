"""Whether a saved answer still says only what the library's papers say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from carrel import quotes
from carrel.answer.proving import Prover, Unproved
from carrel.answer.said import Said
from carrel.bundles import hashed
from carrel.bundles.telling import flag as told
from carrel.identifiers import paper_of
from carrel.types import Excerpt, Span
from carrel.verifying import AnswerChecked, Fate, Fault, QuoteChecked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from carrel.bundles import Bundle, Made, Quote, Source
    from carrel.bundles.files import Opened
    from carrel.catalogs import Catalog
    from carrel.types import Document, Standing, Statement

    StandingOf: TypeAlias = Callable[[str], Standing]

_PROBLEMS = {
    Fate.MISPLACED: "the text is unchanged, but the quote does not stand where the answer says",
    Fate.QUOTE_GONE: "the quote is no longer in the text",
    Fate.PAPER_GONE: "the paper's text is no longer in the library",
}


@dataclass(frozen=True)
class Shelf:
    """What an answer is held against."""

    catalog: Catalog
    standing: StandingOf
    now: Made
    """How an answer would be made today."""


def verify(name: str, opened: Opened, shelf: Shelf) -> tuple[AnswerChecked, list[Fault]]:
    """Look at every quote and every statement of an answer; `name` is what its file is called."""
    return _Check(name, opened, shelf).result()


@dataclass
class _Check:
    name: str
    opened: Opened
    shelf: Shelf

    @cached_property
    def bundle(self) -> Bundle:
        return self.opened.bundle

    @cached_property
    def documents(self) -> dict[tuple[str, str], Document | None]:
        """The texts that are quoted, as they are now."""
        catalog = self.shelf.catalog
        places = dict.fromkeys((one.paper_id, one.part) for one in self.bundle.citations)
        there = {row.reference.id for row in catalog.papers({paper_id for paper_id, _ in places})}
        return {place: catalog.document(*place) if place[0] in there else None for place in places}

    @cached_property
    def quotes(self) -> tuple[QuoteChecked, ...]:
        return tuple(map(self._quote, self.bundle.citations))

    def result(self) -> tuple[AnswerChecked, list[Fault]]:
        bundle = self.bundle
        checked = AnswerChecked(self.name, bundle.question, bundle.made.time, self.quotes, tuple(self._notes()))
        return checked, [*self._file_faults(), *self._quote_faults(), *self._answer_faults()]

    def _quote(self, quote: Quote) -> QuoteChecked:
        document = self.documents[quote.paper_id, quote.part]
        if document is None:
            return QuoteChecked(quote.id, quote.address, Fate.PAPER_GONE)
        is_same = any(_is(source, document) for source in self.bundle.documents)
        if _stands(quote, document.text):
            status = Fate.UNCHANGED if is_same else Fate.TEXT_CHANGED
            return QuoteChecked(quote.id, quote.address, status, quote.start, quote.end)
        span = quotes.locate(quote.quote, document.text)
        if span is None:
            return QuoteChecked(quote.id, quote.address, Fate.MISPLACED if is_same else Fate.QUOTE_GONE)
        status = Fate.MISPLACED if is_same else Fate.MOVED
        return QuoteChecked(quote.id, quote.address, status, span.start, span.end)

    def _file_faults(self) -> Iterator[Fault]:
        if not self.opened.is_sealed:
            yield self._fault("sha256", "the file was changed after it was saved")
        if self.opened.is_shown is False:
            yield self._fault("text", "what the file shows is not what its data say")

    def _quote_faults(self) -> Iterator[Fault]:
        for quote in self.quotes:
            if not quote.stands:
                yield self._fault(f"[{quote.id}] {quote.address}", _PROBLEMS[quote.status])

    def _answer_faults(self) -> Iterator[Fault]:
        bundle = self.bundle
        known = [quote.id for quote in bundle.citations]
        if len(known) != len(set(known)):
            yield self._fault("citations", "two citations have one number")
        described = {(source.paper_id, source.part) for source in bundle.documents}
        for quote in bundle.citations:
            if paper_of(quote.address) != quote.paper_id:
                yield self._fault(f"[{quote.id}] {quote.address}", f"the quote is said to be of {quote.paper_id!r}")
            if (quote.paper_id, quote.part) not in described or quote.paper_id not in bundle.papers:
                yield self._fault(f"[{quote.id}] {quote.address}", "the file does not say what the paper is")
        if not _says(bundle.answer, bundle.statements, refused=bundle.has_insufficient_evidence):
            yield self._fault("answer", "the answer is not what its statements say")
        for number, statement in enumerate(bundle.statements, start=1):
            reason = self._doubt(statement)
            if reason:
                yield self._fault(f"statement {number}", reason)

    def _doubt(self, statement: Statement) -> str:
        """Why a statement is not to be believed; empty if its quotes carry it."""
        cited = {quote.id: quote for quote in self.bundle.citations}
        for number in statement.citations:
            if number not in cited:
                return f"it cites [{number}], which is not there"
        held = [cited[number] for number in statement.citations]
        if any(_is_same(statement.text, quote.quote) for quote in held) or self._is_proved(statement, held):
            return ""
        return "none of its quotes says so"

    def _is_proved(self, statement: Statement, cited: Sequence[Quote]) -> bool:
        """As when the answer was given: by the quotes alone, or by the passages that they stand in."""
        alone = {quote.id: (quote.quote, Span(0, len(quote.quote))) for quote in cited}
        return self._proves(statement, alone) or self._proves(statement, dict(self._passages(cited)))

    def _proves(self, statement: Statement, shown: Mapping[int, tuple[str, Span]]) -> bool:
        """Whether the very quotes are found as its proof again, in what is shown around them."""
        excerpts = [Excerpt(number, "", text) for number, (text, _) in shown.items()]
        try:
            places = Prover(excerpts).prove(Said(statement.text, tuple(shown)))
        except Unproved:
            return False
        return any(_covers(place.span, shown[place.number][1]) for place in places)

    def _passages(self, cited: Sequence[Quote]) -> Iterator[tuple[int, tuple[str, Span]]]:
        """By number: the chunks that quotes were taken from, if they are still there, and where the quotes stand."""
        chunks = {chunk.address: chunk for chunk in self.shelf.catalog.chunks([quote.address for quote in cited])}
        for quote in cited:
            chunk = chunks.get(quote.address)
            span = chunk and quotes.locate(quote.quote, chunk.text)
            if chunk and span:
                yield quote.id, (chunk.text, span)

    def _notes(self) -> Iterator[str]:
        made, now = self.bundle.made, self.shelf.now
        if self.opened.is_shown is None:
            yield f"what the file shows was not compared with its data: Carrel {made.carrel} wrote it"
        if made.library != now.library:
            yield f"it was saved from the library {made.library!r}; this one is {now.library!r}"
        for quote in self.quotes:
            if quote.status == Fate.MOVED:
                yield f"[{quote.id}] {quote.address} stands at characters {quote.start}–{quote.end} now"
        changed = {quote.address for quote in self.quotes if quote.status in {Fate.TEXT_CHANGED, Fate.MOVED}}
        yield from (f"the text of {address} has changed since" for address in sorted(changed))
        yield from self._records()
        yield from self._flags()
        for part, before, after in (
            ("embedder", made.embedder, now.embedder),
            ("reranker", made.reranker, now.reranker),
        ):
            if before != after:
                yield f"the {part} was {before!r} and is {after!r} now"

    def _records(self) -> Iterator[str]:
        """Whose references the library has otherwise: corrected since, or changed in the file."""
        rows = self.shelf.catalog.papers(self.bundle.papers)
        for now in (row.reference for row in rows):
            before = self.bundle.papers[now.id]
            for field in ("title", "authors", "published", "venue", "doi"):
                if getattr(before, field) != getattr(now, field):
                    yield f"the {field} of {now.id} is another in the library now"

    def _flags(self) -> Iterator[str]:
        """What has been said of the papers since."""
        known = {(quote.paper_id, flag.notice) for quote in self.bundle.citations for flag in quote.flags}
        there = dict.fromkeys(paper_id for (paper_id, _), document in self.documents.items() if document)
        for paper_id in there:
            for flag in self.shelf.standing(paper_id).flags:
                if (paper_id, flag.notice) not in known:
                    yield f"of {paper_id} since: {told(flag)}"

    def _fault(self, thing: str, problem: str) -> Fault:
        return Fault(self.name, thing, problem)


def _is(source: Source, document: Document) -> bool:
    """Whether a text is the one that an answer was made from."""
    same = (source.paper_id, source.part) == (document.paper_id, document.part)
    return same and source.sha256 == hashed(document.text)


def _stands(quote: Quote, text: str) -> bool:
    return 0 <= quote.start < quote.end <= len(text) and text[quote.start : quote.end] == quote.quote


def _is_same(statement: str, quote: str) -> bool:
    span = quotes.locate(statement, quote)
    return span is not None and not (quote[: span.start] + quote[span.end :]).strip()


def _says(answer: str, statements: Sequence[Statement], *, refused: bool) -> bool:
    """Whether an answer consists of its statements, in order, and the marks of their citations."""
    if refused or not statements:
        return refused and not statements
    rest = answer
    for statement in statements:
        before, found, rest = rest.partition(statement.text)
        marks, rest = _marks(rest)
        if before.strip() or not found or marks != statement.citations:
            return False
    return not rest.strip()


def _marks(text: str) -> tuple[tuple[int, ...], str]:
    """The citations that a text begins with, and what comes after them."""
    found = re.match(r"(?:\s*\[[0-9]{1,9}\])*", text)
    marks = found.group() if found else ""
    return tuple(map(int, re.findall(r"[0-9]+", marks))), text[len(marks) :]


def _covers(place: Span, quote: Span) -> bool:
    """A proof is the whole quote: a part of it may well say the opposite."""
    return place.start <= quote.start and quote.end <= place.end
