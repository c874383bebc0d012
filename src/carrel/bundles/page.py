"""A bundle as one page that needs nothing else: no server, no script, no connection. What papers say is text there."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from carrel.bundles import FORMAT, telling
from carrel.bundles.telling import line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from carrel.bundles import Bundle, Quote
    from carrel.types import Reference


def html(bundle: Bundle, data: str) -> str:
    style = _style()
    policy = f"default-src 'none'; style-src {_hashed(style)}; base-uri 'none'; form-action 'none'"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="generator" content="Carrel answer">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="referrer" content="no-referrer">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(line(bundle.question))}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            "<main>",
            *_answer(bundle),
            *_sources(bundle),
            *_references(bundle),
            *_near_misses(bundle),
            *_left_out(bundle),
            *_made(bundle),
            "</main>",
            f'<script type="application/json" id="{FORMAT}">',
            data,
            "</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _answer(bundle: Bundle) -> Iterator[str]:
    yield f"<header><h1>{_text(bundle.question)}</h1>"
    if bundle.asked != bundle.question:
        yield f'<p class="faint">Asked as: {_text(bundle.asked)}</p>'
    kind = "insufficient" if bundle.has_insufficient_evidence else bundle.confidence.value
    yield f'<p class="verdict {kind}">{escape(telling.verdict(bundle))}</p></header>'
    yield '<section class="answer">'
    if bundle.statements:
        flagged = {quote.id for quote in bundle.citations if quote.flags}
        yield from (f"<p>{_text(one.text)} {_marks(one.citations, flagged)}</p>" for one in bundle.statements)
    else:
        yield from (f"<p>{_text(part)}</p>" for part in bundle.answer.split("\n") if part.strip())
    yield "</section>"


def _sources(bundle: Bundle) -> Iterator[str]:
    if not bundle.citations:
        return
    yield "<section><h2>Sources</h2>"
    for quote in bundle.citations:
        yield from _source(bundle, quote)
    yield "</section>"


def _source(bundle: Bundle, quote: Quote) -> Iterator[str]:
    place = telling.place(bundle, quote)
    yield f'<article id="source-{quote.id}"><h3><span class="number">{quote.id}</span>'
    yield f"{_text(telling.title(bundle, quote))}</h3>"
    yield f'<p class="faint">{_text(place)}</p>' if place else ""
    yield from (f'<p class="flag">{_text(telling.flag(one))}</p>' for one in quote.flags)
    yield f"<blockquote>{_text(quote.quote)}</blockquote>"
    yield f'<p class="faint"><code>{_text(quote.address)}</code>, {escape(telling.offsets(quote))}</p></article>'


def _references(bundle: Bundle) -> Iterator[str]:
    if bundle.references:
        yield '<section><h2>References</h2><ul class="references">'
        yield from (f"<li>{_text(telling.reference(one))}{_doi(one)}</li>" for one in bundle.references)
        yield "</ul></section>"


def _doi(reference: Reference) -> str:
    link = telling.doi_link(reference)
    return f' <a href="{escape(link)}" rel="noreferrer">{escape(link)}</a>' if link else ""


def _near_misses(bundle: Bundle) -> Iterator[str]:
    if not bundle.near_misses:
        return
    yield "<section><h2>Near misses</h2>"
    for near in bundle.near_misses:
        yield f"<article><h3>{_text(near.title)}</h3>"
        yield f'<p class="faint">{near.score:.2f} · <code>{_text(near.address)}</code></p>'
        yield f"<blockquote>{_text(near.text)}</blockquote></article>"
    yield "</section>"


def _left_out(bundle: Bundle) -> Iterator[str]:
    if bundle.unsupported:
        yield "<section><h2>Left out, because nothing proves it</h2><ul>"
        yield from (
            f'<li>{_text(one.text)} <span class="faint">({_text(one.reason)})</span></li>' for one in bundle.unsupported
        )
        yield "</ul></section>"


def _made(bundle: Bundle) -> Iterator[str]:
    yield '<section class="made"><h2>How it was made</h2><dl>'
    yield from (f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in telling.circumstances(bundle))
    for one in bundle.documents:
        yield f"<dt>{_text(one.paper_id)}, {one.part}</dt><dd><code>sha256 {_text(one.sha256)}</code></dd>"
    yield "</dl><p><code>carrel verify</code> checks every quote of this page against the library.</p></section>"


def _marks(numbers: Sequence[int], flagged: Collection[int]) -> str:
    return " ".join(
        f'<a class="mark{" flagged" if number in flagged else ""}" href="#source-{number}">[{number}]</a>'
        for number in numbers
    )


def _text(value: str) -> str:
    """Text of either direction that turns nothing around it."""
    return f"<bdi>{escape(line(value))}</bdi>"


@cache
def _style() -> str:
    return (files("carrel.bundles") / "page.css").read_text(encoding="utf-8")


def _hashed(style: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"
