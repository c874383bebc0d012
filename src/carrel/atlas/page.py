"""A map of concepts as one file that needs nothing else: no server, no script from elsewhere, no connection.

What papers say is text, never markup and never script. Without scripts the page still shows everything.
"""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from carrel.atlas.picture import figure, stroke
from carrel.atlas.statements import FORWARD, ORDER
from carrel.atlas.views import Related, by_phrase, seen_from
from carrel.errors import InvalidInput
from carrel.files import write_atomically, writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from carrel.atlas.neighbourhoods import Neighbourhood, Node
    from carrel.atlas.statements import Evidence, Where

MOST = 1001
"""Concepts: a thousand around another are more than anybody makes out."""
_OURS = '<meta name="generator" content="Carrel map of concepts">'
_HEAD = 2000
"""Bytes in which that is looked for."""


def write(path: Path, shown: Neighbourhood, *, force: bool = False) -> None:
    """Put the page of a map there. A file that is no such page is replaced only by `force`."""
    with writing(path):
        is_other = path.is_dir() or (path.exists() and not _is_ours(path))
    if is_other and not (force and path.is_file()):
        raise InvalidInput(
            f"{str(path)!r} is there already and is no map of concepts",
            hint="Name another file, or replace it with --force." if path.is_file() else "Name a file.",
        )
    if len(shown.nodes) > MOST:
        raise InvalidInput(f"{len(shown.nodes):,} concepts are too many for a page", hint=f"Draw at most {MOST:,}.")
    write_atomically(path, html(shown).encode("utf-8", "replace"))


def html(shown: Neighbourhood) -> str:
    style, script = _asset("page.css"), _asset("page.js")
    name = shown.centre.concept.name if shown.centre else ""
    title = f"{name}: map of concepts" if name else "Map of concepts"
    policy = (
        f"default-src 'none'; script-src {_hashed(script)}; style-src {_hashed(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            _OURS,
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="referrer" content="no-referrer">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            *figure(shown),
            *_aside(shown),
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return _OURS.encode() in file.read(_HEAD)


def _asset(name: str) -> str:
    return (files("carrel.atlas") / name).read_text(encoding="utf-8")


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _aside(shown: Neighbourhood) -> Iterator[str]:
    numbers = {node.row.key: number for number, node in enumerate(shown.nodes)}
    related: dict[str, list[Related]] = defaultdict(list)
    for edge in shown.edges:
        for key in dict.fromkeys([edge.relation.subject, edge.relation.object]):
            related[key].append(seen_from(key, edge))
    yield "<aside>"
    yield f"<h1>{_isolated(shown.centre.concept.name) if shown.centre else 'Map of concepts'}</h1>"
    yield f'<p class="faint">{_counted(shown)}</p>'
    yield '<input id="search" type="search" placeholder="Find a concept ( / )" aria-label="Find a concept" hidden>'
    yield from _legend(shown)
    yield from _index(shown)
    yield '<div id="told">'
    for number, node in enumerate(shown.nodes):
        yield from _article(number, node, related[node.row.key], numbers)
    yield "</div></aside>"


def _counted(shown: Neighbourhood) -> str:
    counted = f"{len(shown.nodes):,} concepts, {len(shown.edges):,} relations"
    if shown.centre is None:
        return f"{counted}; the library has {shown.total:,} concepts"
    more = shown.total + 1 - len(shown.nodes)
    left_out = f"; {more:,} more are left out" if more else ""
    return f"{counted} within {shown.hops} step{'s' if shown.hops > 1 else ''}{left_out}"


def _legend(shown: Neighbourhood) -> Iterator[str]:
    used = {edge.predicate for edge in shown.edges}
    yield '<section id="legend"><h3>Relations</h3><ul>'
    for predicate in (one for one in ORDER if one in used):
        sample = f'<svg viewBox="0 0 26 8" aria-hidden="true"><path d="M0 4H26" {stroke(predicate, 3)}/></svg>'
        box = f'<input type="checkbox" id="show-{predicate}" checked>'
        yield f"<li><label>{box}{sample}{FORWARD[predicate]}</label></li>"
    yield "</ul></section>"


def _index(shown: Neighbourhood) -> Iterator[str]:
    yield '<nav id="index" aria-label="All concepts"><h3 id="all">Concepts</h3><ol>'
    for number, node in enumerate(shown.nodes):
        concept = node.row.concept
        names = escape(" ".join([concept.name, *concept.aliases]))
        yield (
            f'<li data-id="c{number}" data-names="{names}"><a href="#c{number}">{_isolated(concept.name)}</a>'
            f'<span class="faint">{_papers(node)}</span></li>'
        )
    yield "</ol></nav>"


def _article(number: int, node: Node, related: Sequence[Related], numbers: dict[str, int]) -> Iterator[str]:
    concept = node.row.concept
    yield f'<article id="c{number}"><p class="faint back"><a href="#all">All concepts</a></p>'
    yield f"<h2>{_isolated(concept.name)}</h2>"
    if concept.aliases:
        yield f'<p class="faint">also {", ".join(map(_isolated, concept.aliases))}</p>'
    if concept.definition:
        yield f"<p>{_isolated(concept.definition)}</p>"
    kind = f"{_isolated(concept.category)} · " if concept.category else ""
    passages = f"{node.row.chunks:,} passage{'' if node.row.chunks == 1 else 's'}"
    yield f'<p class="faint">{kind}{_papers(node)}, {passages}</p>'
    heading = ""
    for one in sorted(related, key=by_phrase):
        if one.phrase != heading:
            yield f"{'</ul>' if heading else ''}<h3>{one.phrase}</h3><ul>"
            heading = one.phrase
        yield f'<li><a href="#c{numbers[one.other_key]}">{_isolated(one.other)}</a>'
        yield from map(_quoted, one.edge.evidence)
        yield "</li>"
    yield "</ul>" if heading else ""
    if node.read:
        yield "<h3>read of it in</h3><ul>"
        yield from (f"<li><cite>{_place(where)}</cite></li>" for where in node.read)
        yield "</ul>"
    yield "</article>"


def _quoted(evidence: Evidence) -> str:
    return f"<blockquote>{_isolated(evidence.text)}<cite>{_place(evidence.where)}</cite></blockquote>"


def _place(where: Where) -> str:
    if not where.address:
        return "your own files"
    year = f" ({where.year})" if where.year else ""
    section = f" · {_isolated(' — '.join(where.section_path))}" if where.section_path else ""
    page = f" · page {where.page}" if where.page is not None else ""
    return f"{_isolated(where.title)}{year}{section}{page} · <code>{_isolated(where.address)}</code>"


def _papers(node: Node) -> str:
    return f"{node.row.papers:,} paper{'' if node.row.papers == 1 else 's'}"


def _isolated(text: str) -> str:
    """Text of either direction that turns nothing around it."""
    return f"<bdi>{escape(text)}</bdi>"
