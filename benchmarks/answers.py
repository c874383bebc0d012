"""Whether every quote of many answers really stands in the papers, and how soon an answer begins.

    python -m benchmarks.answers DATA [--generator gguf:FILE] [--questions 500] [--work .bench]

Questions of three collections are asked of libraries made of their documents. Each quote is then looked for by this
script alone, without Carrel's own means of finding quotes: at its offsets in the text that the library's database file
holds, and, white space apart, in the collection's own file. What a statement says beyond its quotes is looked for, too:
numbers, and words with capitals or digits inside.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sqlite3
import sys
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from carrel.evaluate import collections
from carrel.trials.shelves import Shelf
from carrel.types import DoneEvent, TokenEvent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.library import Library
    from carrel.types import Answer, Citation, Statement

SHARES = {"scifact": 0.4, "pubmedqa_train": 0.4, "cp_algorithms": 0.2}
"""How many of the questions each collection asks."""
_TELLING = re.compile(r"\d[\d.,]*\d|\d|\b\w*[A-Z]\w*[A-Z]\w*\b|\b[A-Za-z]+\d\w*\b")
"""Numbers, acronyms, and names such as p53 and mRNA."""
_FAULTS = 20


@dataclass
class Tally:
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    first_event: list[float] = field(default_factory=list)
    first_word: list[float] = field(default_factory=list)
    said: list[tuple[str, str]] = field(default_factory=list)
    """Statements that are not their quote's own words, and the quotes."""

    def fault(self, kind: str, what: str) -> None:
        self.counts[kind] += 1
        self.faults.append(f"{kind}: {what}")


@dataclass(frozen=True)
class Raw:
    """What the papers say, read without Carrel."""

    originals: dict[str, str]
    """Title and text of each document, as the collection's file has them."""
    stored: dict[tuple[str, str], str]
    """The library's texts by paper and part, read from its database file."""


def main() -> None:
    options = _options()
    tally = Tally()
    # Interrupted, it tells of what it has asked.
    with suppress(KeyboardInterrupt):
        for name, share in SHARES.items():
            _run(options.data / "retrieval" / name, round(share * options.questions), options, tally)
    _print(options.generator, tally, options.show)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--generator", default="extractive")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting")
    parser.add_argument("--show", type=int, default=0, help="statements in other words than their quotes' to print")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--slice", default="0/1", help="a part of the questions, as 1/2, for several processes")
    return parser.parse_args()


def _run(folder: Path, count: int, options: argparse.Namespace, tally: Tally) -> None:
    collection = collections.read(folder)
    texts = sorted(collection.queries.values())
    questions = random.Random(options.seed).sample(texts, min(count, len(texts)))
    chosen: dict[str, Any] = {"generator": options.generator, **dict(one.split("=", 1) for one in options.set)}
    with ExitStack() as opened:
        shelf = Shelf(options.work / "answers" / folder.name, chosen, opened)
        library = shelf.library({})
        list(shelf.fill(collection.documents))
        # What is loaded once is loaded.
        library.ask(questions[0])
        raw = Raw(_originals(folder), _stored(library.layout.database))
        at, of = map(int, options.slice.split("/"))
        for question in questions[at::of]:
            _check(_answered(library, question, tally), raw, tally)
            print(f"{tally.counts['asked']} asked", end="\r", file=sys.stderr, flush=True)


def _answered(library: Library, question: str, tally: Tally) -> Answer:
    began, first, word = time.perf_counter(), None, None
    for event in library.stream(question):
        elapsed = time.perf_counter() - began
        first = first or elapsed
        if isinstance(event, TokenEvent):
            word = word or elapsed
        if isinstance(event, DoneEvent):
            tally.first_event.append(first)
            tally.first_word.append(word or elapsed)
            return event.answer
    raise AssertionError("a stream that does not end with the answer")


def _check(answer: Answer, raw: Raw, tally: Tally) -> None:
    tally.counts["asked"] += 1
    tally.counts["refused" if answer.has_insufficient_evidence else "answered"] += 1
    tally.counts["degraded"] += bool(answer.degraded)
    tally.counts["dropped"] += len(answer.unsupported)
    tally.dropped.update(re.sub(r"[\d“”\"'].*", "…", one.reason) for one in answer.unsupported)
    for citation in answer.citations:
        _check_quote(citation, raw, tally)
    cited = {citation.id: citation for citation in answer.citations}
    for statement in answer.statements:
        tally.counts["statements"] += 1
        if not statement.citations or not set(statement.citations) <= set(cited):
            tally.fault("statements without a source", statement.text)
        _check_statement(statement, [cited[number] for number in statement.citations], tally)


def _check_quote(citation: Citation, raw: Raw, tally: Tally) -> None:
    tally.counts["quotes"] += 1
    paper, part = citation.chunk.paper_id, citation.chunk.part.value
    if paper not in raw.originals:
        tally.fault("references to papers that are not there", paper)
        return
    if raw.stored.get((paper, part), "")[citation.start : citation.end] != citation.quote:
        tally.fault("quotes that are not at their offsets", f"{paper}: {citation.quote}")
    if _plain(citation.quote) not in _plain(raw.originals[paper]):
        tally.fault("quotes that are not in the collection's file", f"{paper}: {citation.quote}")


def _check_statement(statement: Statement, citations: Sequence[Citation], tally: Tally) -> None:
    quoted = _plain(" ".join(citation.quote for citation in citations))
    if _plain(statement.text) not in quoted:
        tally.counts["statements in other words"] += 1
        tally.said.append((statement.text, quoted))
    for token in _TELLING.findall(statement.text):
        if token.casefold() not in quoted.casefold():
            tally.fault("numbers and names that no quote has", f"{token} in {statement.text!r} of {quoted!r}")


def _plain(text: str) -> str:
    return " ".join(text.split())


def _originals(folder: Path) -> dict[str, str]:
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        return {one["_id"]: f"{one.get('title') or ''} {one['text']}" for one in map(json.loads, file)}


def _stored(database: Path) -> dict[tuple[str, str], str]:
    with sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True) as connection:
        rows = connection.execute("SELECT paper_id, part, text FROM texts")
        return {(paper, part): text for paper, part, text in rows}


def _print(generator: str, tally: Tally, show: int) -> None:
    print(f"{generator}\n\n| | |\n|---|---:|")
    names = ("asked", "answered", "refused", "degraded", "statements", "statements in other words", "quotes", "dropped")
    for name in names:
        print(f"| {name} | {tally.counts[name]:,} |")
    for name in (
        "quotes that are not at their offsets",
        "quotes that are not in the collection's file",
        "references to papers that are not there",
        "statements without a source",
        "numbers and names that no quote has",
    ):
        print(f"| {name} | **{tally.counts[name]:,}** |")
    for name, times in (("first event", tally.first_event), ("first word of the answer", tally.first_word)):
        middle, late = np.quantile(times, [0.5, 0.95]) * 1000
        print(f"| {name}, ms, p50 / p95 / most | {middle:.0f} / {late:.0f} / {max(times) * 1000:.0f} |")
    for reason, count in tally.dropped.most_common(12):
        print(f"| dropped: {reason} | {count:,} |")
    print("", *tally.faults[:_FAULTS], sep="\n")
    for text, quoted in tally.said[:show]:
        print(f"- {text}\n  “{quoted}”")


if __name__ == "__main__":
    main()
