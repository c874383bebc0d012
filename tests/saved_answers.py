"""A small library, and answers from it that need no search."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from carrel import Library
from carrel.testing import HashedWords, Script
from carrel.types import Answer, Certainty, Citation, Confidence, Standing, Statement, Strategy

GRANITE = "Granite is hard. It melts at about 1,215 degrees, which surprised nobody at all in the laboratory."
BASALT = "Basalt is dark and forms from lava. It does not float on water, whatever older handbooks may claim."
HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> "
    "\u202eRocks\u202c & *minerals* [x](javascript:alert(2)) \x1b[31m"
)


def record(paper_id: str, abstract: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": paper_id,
        "title": f"On {paper_id}",
        "doi": "10.1000/xyz",
        "authors": [{"first": "Ada", "last": "Stone"}, {"first": "Bo", "last": "Rock"}],
        "abstract": abstract,
        "venue": "Journal of Rocks",
        "published": {"year": 2020},
        "note": "my own secret thought",
        "pdf_path": "/home/me/secret.pdf",
        **fields,
    }


RECORDS = (record("granite", GRANITE), record("basalt", BASALT), record("hostile", GRANITE, title=HOSTILE))


def put_records(library: Library, *records: dict[str, Any]) -> None:
    """Make refs.jsonl say this, and the library with it."""
    library.layout.refs.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    library.build_index()


@contextmanager
def opened(folder: Path, *said: str, **overrides: Any) -> Iterator[Library]:
    """A library of these papers; with words for its generator, one that can be asked."""
    options: dict[str, Any] = {"embedder": HashedWords(), "overrides": overrides}
    if said:
        options["generator"] = Script(*said)
    with Library.init(folder, **options) as library:
        put_records(library, *RECORDS)
        yield library


def answer(library: Library, *cited: tuple[str, str], question: str = "How hard is it?", **fields: Any) -> Answer:
    """An answer that quotes these words of these papers' abstracts, a statement each."""
    citations = []
    for number, (paper_id, quote) in enumerate(cited, start=1):
        (chunk,) = library.stores.catalog.chunks([f"{paper_id}/abstract"])
        start = chunk.text.index(quote)
        end = start + len(quote)
        citations.append(Citation(number, chunk, quote, start, end, 0.9, standing=Standing(url="https://example.org")))
    statements = tuple(Statement(one.quote, (one.id,)) for one in citations)
    values: dict[str, Any] = {
        "query_id": "0" * 32,
        "question": question,
        "answer": " ".join(f"{one.text} [{one.citations[0]}]" for one in statements) or "The library does not say.",
        "statements": statements,
        "citations": tuple(citations),
        "confidence": Confidence.HIGH,
        "has_insufficient_evidence": not statements,
        "near_misses": (),
        "unsupported": (),
        "strategy": Strategy.HYBRID,
        "generator": "extractive",
        "certainty": Certainty(0.9),
        "threshold": 0.6,
        **fields,
    }
    return Answer(**values)
