"""A bundle as Markdown. What papers say is text there, never markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.bundles import FORMAT, telling
from carrel.bundles.telling import line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.bundles import Bundle, Quote

_MARKUP = re.compile(r"[\\`*\[\]<>|~$]|(?<!\w)_|_(?!\w)")


def text(bundle: Bundle, data: str) -> str:
    blocks = [
        f"# {_escaped(bundle.question)}",
        *_answer(bundle),
        *_sources(bundle),
        *_references(bundle),
        *_left_out(bundle),
        *_made(bundle),
        f"<!-- {FORMAT}\n{data}\n-->",
    ]
    return "\n\n".join(blocks) + "\n"


def _answer(bundle: Bundle) -> Iterator[str]:
    if bundle.asked != bundle.question:
        yield f"*Asked as: {_escaped(bundle.asked)}*"
    if bundle.statements:
        yield "\n".join(f"{_escaped(one.text)} {_marks(one.citations)}" for one in bundle.statements)
    else:
        yield _escaped(bundle.answer)
    yield f"*{telling.verdict(bundle)}*"


def _sources(bundle: Bundle) -> Iterator[str]:
    if bundle.citations:
        yield "## Sources"
    for quote in bundle.citations:
        place = telling.place(bundle, quote)
        yield f"**[{quote.id}] {_escaped(telling.title(bundle, quote))}**{f' · {_escaped(place)}' if place else ''}"
        yield from (f"**{_escaped(telling.flag(one))}**" for one in quote.flags)
        yield f"> “{_escaped(quote.quote)}”"
        yield _found_at(quote)


def _found_at(quote: Quote) -> str:
    return f"{_escaped(quote.address)}, {telling.offsets(quote)}"


def _references(bundle: Bundle) -> Iterator[str]:
    if bundle.references:
        yield "## References"
        yield "\n".join(
            " ".join(filter(None, [f"- {_escaped(telling.reference(one))}", telling.doi_link(one)]))
            for one in bundle.references
        )


def _left_out(bundle: Bundle) -> Iterator[str]:
    if bundle.near_misses:
        yield "## Near misses"
    for near in bundle.near_misses:
        yield f"**{_escaped(near.title)}** · {near.score:.2f} · {_escaped(near.address)}"
        yield f"> {_escaped(near.text)}"
    if bundle.unsupported:
        yield "## Left out, because nothing proves it"
        yield "\n".join(f"- {_escaped(one.text)} ({_escaped(one.reason)})" for one in bundle.unsupported)


def _made(bundle: Bundle) -> Iterator[str]:
    yield "## How it was made"
    yield "\n".join(f"- {_escaped(name)}: {_escaped(value)}" for name, value in telling.circumstances(bundle))
    if bundle.documents:
        yield "\n".join(f"- {_escaped(one.paper_id)}, {one.part}: sha256 {one.sha256}" for one in bundle.documents)
    yield "`carrel verify` checks every quote of this file against the library."


def _marks(numbers: Sequence[int]) -> str:
    return " ".join(f"[{number}]" for number in numbers)


def _escaped(value: str) -> str:
    shown = line(value).replace("&", "&amp;")
    return _MARKUP.sub(lambda mark: "&lt;" if mark.group() == "<" else f"\\{mark.group()}", shown)
