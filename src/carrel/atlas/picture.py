"""A map of concepts as SVG."""

from __future__ import annotations

import math
import unicodedata
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from carrel.atlas.drawing import draw, edge_of
from carrel.atlas.statements import FORWARD, SYMMETRIC
from carrel.types import Predicate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.atlas.neighbourhoods import Neighbourhood, Node
    from carrel.atlas.statements import Edge

_LONGEST_LABEL = 30
_SMALLEST, _LARGEST = 13.0, 20.0
_DASHES = {Predicate.COMPARED_TO: "7 4", Predicate.RELATED_TO: "2 3"}


class _Pill(NamedTuple):
    """A concept as it is drawn."""

    label: str
    font: float
    size: tuple[float, float]


def figure(shown: Neighbourhood) -> Iterator[str]:
    numbers = {node.row.key: number for number, node in enumerate(shown.nodes)}
    ends = [(numbers[edge.relation.subject], numbers[edge.relation.object]) for edge in shown.edges]
    pills = _pills(shown.nodes)
    drawing = draw([pill.size for pill in pills], ends)
    yield '<figure aria-label="Map of concepts">'
    yield f'<svg id="map" viewBox="0 0 {drawing.width} {drawing.height}" tabindex="0" aria-label="Map of concepts">'
    yield f"<defs>{''.join(map(_marker, FORWARD))}</defs>"
    for edge, (start, end) in zip(shown.edges, ends, strict=True):
        if start != end:
            a = edge_of(pills[start].size, drawing.centres[start], drawing.centres[end])
            b = edge_of(pills[end].size, drawing.centres[end], drawing.centres[start])
            yield _line(edge, (start, end), a, b)
    for number, (node, pill) in enumerate(zip(shown.nodes, pills, strict=True)):
        is_centre = shown.centre is not None and node.row.key == shown.centre.key
        yield _node(number, node, pill, drawing.centres[number], is_centre=is_centre)
    yield "</svg>"
    yield '<div id="zoom" hidden><button id="closer" aria-label="Closer">+</button>'
    yield '<button id="wider" aria-label="Wider">−</button><button id="fit">Whole map</button></div>'
    yield "</figure>"


def _pills(nodes: Sequence[Node]) -> list[_Pill]:
    """What the papers make most of is largest."""
    most = max((node.row.weight for node in nodes), default=0.0) or 1.0
    made = []
    for node in nodes:
        name = " ".join(node.row.concept.name.split())
        label = name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"
        font = round(_SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(max(0.0, node.row.weight) / most), 1)
        made.append(_Pill(label, font, (round(_width(label) * font + 20, 1), round(font * 1.9, 1))))
    return made


def _width(text: str) -> float:
    """In units of the font's size; rather too wide than too narrow."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    upper = sum(letter.isupper() for letter in text)
    return 0.57 * len(text) + 0.48 * wide + 0.15 * upper


def _marker(predicate: Predicate) -> str:
    return (
        f'<marker id="head-{predicate}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path fill="var(--{predicate})" d="M0 0L8 4L0 8z"/></marker>'
    )


def stroke(predicate: Predicate, width: float) -> str:
    """How a relation's line looks: by its colour and, for who does not see that, by its dashes."""
    dashes = f' stroke-dasharray="{_DASHES[predicate]}"' if predicate in _DASHES else ""
    return f'stroke="var(--{predicate})" stroke-width="{width}"{dashes}'


def _line(edge: Edge, ends: tuple[int, int], start: tuple[float, float], end: tuple[float, float]) -> str:
    predicate = edge.predicate
    head = "" if predicate in SYMMETRIC else f' marker-end="url(#head-{predicate})"'
    width = round(1.2 + min(1.8, 0.3 * (edge.relation.statements - 1)), 1)
    said = escape(f"{edge.subject} {FORWARD[predicate]} {edge.object}")
    return (
        f'<path class="edge {predicate}" data-ends="c{ends[0]} c{ends[1]}" {stroke(predicate, width)}{head} '
        f'd="M{start[0]:.1f} {start[1]:.1f}L{end[0]:.1f} {end[1]:.1f}">'
        f"<title>{said}</title></path>"
    )


def _node(number: int, node: Node, pill: _Pill, centre: tuple[float, float], *, is_centre: bool) -> str:
    width, height = pill.size
    left, top = round(centre[0] - width / 2, 1), round(centre[1] - height / 2, 1)
    return (
        f'<a class="node{" is-centre" if is_centre else ""}" href="#c{number}">'
        f"<title>{escape(node.row.concept.name)}</title>"
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="{height / 2:.1f}"/>'
        f'<text x="{centre[0]}" y="{centre[1]}" font-size="{pill.font}">{escape(pill.label)}</text></a>'
    )
