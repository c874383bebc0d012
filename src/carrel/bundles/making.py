"""From an answer to its bundle: what the library knows of the papers that are cited."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from carrel.bundles import Bundle, Near, Quote, Source, hashed
from carrel.errors import NotFound
from carrel.references.records import public

if TYPE_CHECKING:
    from carrel.bundles import Made
    from carrel.catalogs import Catalog
    from carrel.types import Answer, Citation, Document, Part


def bundle(answer: Answer, made: Made, catalog: Catalog) -> Bundle:
    """All that is to be said of an answer. What it cites must still be in the library."""
    cited = dict.fromkeys((one.chunk.paper_id, one.chunk.part) for one in answer.citations)
    rows = {row.reference.id: row.reference for row in catalog.papers({paper_id for paper_id, _ in cited})}
    texts = {place: _document(*place, catalog) for place in cited}
    for one in answer.citations:
        if texts[one.chunk.paper_id, one.chunk.part].text[one.start : one.end] != one.quote:
            raise _gone(f"the text of {one.chunk.paper_id!r}, which the answer quotes, has changed since")
    documents = tuple(map(_source, texts.values()))
    return Bundle(
        question=answer.question,
        asked=answer.asked or answer.question,
        answer=answer.answer,
        statements=answer.statements,
        citations=tuple(map(_quote, answer.citations)),
        documents=documents,
        references=tuple(public(rows[paper_id]) for paper_id in dict.fromkeys(one.paper_id for one in documents)),
        confidence=answer.confidence,
        has_insufficient_evidence=answer.has_insufficient_evidence,
        probability=answer.certainty.probability,
        threshold=answer.threshold,
        missing=answer.certainty.missing,
        near_misses=tuple(
            Near(one.chunk.address, one.chunk.paper_id, one.chunk.title, one.score, one.chunk.text)
            for one in answer.near_misses
        ),
        unsupported=answer.unsupported,
        strategy=answer.strategy.value,
        degraded=answer.degraded,
        query_id=answer.query_id,
        made=made,
    )


def _quote(citation: Citation) -> Quote:
    chunk = citation.chunk
    return Quote(
        id=citation.id,
        address=chunk.address,
        paper_id=chunk.paper_id,
        part=chunk.part,
        quote=citation.quote,
        start=citation.start,
        end=citation.end,
        page=citation.page,
        boxes=citation.boxes,
        section_path=chunk.section_at(citation.start),
        score=citation.score,
        url=citation.standing.url,
        flags=citation.standing.flags,
    )


def _document(paper_id: str, part: Part, catalog: Catalog) -> Document:
    document = catalog.document(paper_id, part) if catalog.papers([paper_id]) else None
    if document is None:
        raise _gone(f"the answer cites the {part.value} of {paper_id!r}, which is no longer in the library")
    return document


def _gone(message: str) -> NotFound:
    return NotFound(message, hint="Ask again, and save that answer.")


def _source(document: Document) -> Source:
    return Source(
        paper_id=document.paper_id,
        part=document.part,
        sha256=hashed(document.text),
        characters=len(document.text),
        digest=document.digest,
        format=document.format,
        name=PurePath(document.source).name,
    )
