"""What a reader is told of a bundle, in words that Markdown and HTML share. Each escapes them in its own way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.identifiers import normalise_doi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.bundles import Bundle, Quote
    from carrel.types import Flag, Reference

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")
"""What steers a display instead of being shown."""
_MOST_AUTHORS = 8


def line(text: str) -> str:
    """Text from anywhere on one line, with nothing in it that is not seen."""
    return " ".join(_UNSEEN.sub("\ufffd", text).split())


def verdict(bundle: Bundle) -> str:
    asked = f"the threshold is {bundle.threshold:.2f}"
    if bundle.probability is None:
        return "Insufficient evidence: nothing could tell how relevant the passages are."
    if bundle.has_insufficient_evidence:
        return f"Insufficient evidence: {bundle.probability:.2f}; {asked}."
    return f"Confidence: {bundle.confidence.value} ({bundle.probability:.2f}; {asked})."


def title(bundle: Bundle, quote: Quote) -> str:
    reference = bundle.papers.get(quote.paper_id)
    return line(reference.title) if reference else line(quote.paper_id)


def place(bundle: Bundle, quote: Quote) -> str:
    reference = bundle.papers.get(quote.paper_id)
    year = str(reference.published.year) if reference and reference.published.year else ""
    page = f"page {quote.page}" if quote.page is not None else ""
    return " · ".join(filter(None, [year, " — ".join(map(line, quote.section_path)), page]))


def offsets(quote: Quote) -> str:
    return f"characters {quote.start}–{quote.end}"


def flag(one: Flag) -> str:
    """As `Retraction, 2020-05-01: fabricated data (Retraction Watch, as of 2026-11-01)`."""
    date = f", {line(one.date)}" if one.date else ""
    reason = f": {line(one.reason)}" if one.reason else ""
    notice = f", doi {line(one.doi)}" if one.doi else ""
    return f"{one.notice.value.capitalize()}{date}{reason} ({line(one.source)}{notice})"


def reference(one: Reference) -> str:
    names = [line(str(author)) for author in one.authors[:_MOST_AUTHORS]]
    more = " et al." if len(one.authors) > _MOST_AUTHORS else ""
    authors = f"{', '.join(names)}{more}" if names else ""
    year = f"({one.published.year})" if one.published.year else ""
    # The authors' full stop, unless their names bring one.
    who = " ".join(filter(None, [authors, year]))
    parts = [who.rstrip("."), line(one.title).rstrip("."), line(one.venue).rstrip(".")]
    return f"{'. '.join(filter(None, parts))}."


def doi_link(one: Reference) -> str:
    doi = normalise_doi(one.doi)
    return f"https://doi.org/{doi}" if doi and re.fullmatch(r"[\w./:;()<>-]+", doi) else ""


def circumstances(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """How the answer was made, as names and values."""
    made = bundle.made
    yield "Asked", line(f"{made.time.replace('T', ' ').replace('+00:00', ' UTC')}, library {made.library}")
    yield "Carrel", line(made.carrel)
    yield "Embedder", line(made.embedder)
    yield "Reranker", line(made.reranker)
    yield "Generator", line(made.generator)
    yield "Search", line(bundle.strategy)
    for part in bundle.degraded:
        yield "Without", line(f"{part.arm}: {part.reason}")
    for key, value in made.settings.items():
        yield line(key), line(str(value))
