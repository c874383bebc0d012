"""How much of the graph of concepts is told at once.

What papers say of concepts is short; what the user's own files say may be anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.http import bounds

if TYPE_CHECKING:
    from collections.abc import Iterable

_NODES = 350_000
_EDGES = 350_000
"""Bytes, as are all of these."""
_WITH_EVIDENCE = 300_000
_DETAIL = 250_000
_NAME = 300
_TITLE = 400
_DEFINITION = 1500
_SENTENCE = 6000
_PARTS = ("relations", "discussed", "mentioned", "code_examples", "formulas", "speakers", "citations", "beside")
"""Of a concept's detail: lists that share its room."""


def summary(shown: dict[str, Any]) -> dict[str, Any]:
    """A concept among others."""
    aliases = {"aliases": bounds.texts(shown["aliases"], 4 * _NAME)}
    return bounds.with_texts({**shown, **aliases}, name=_NAME, category=_NAME, definition=_DEFINITION)


def neighbourhood(shown: dict[str, Any]) -> dict[str, Any]:
    """The nearest concepts, and how they stand to each other: most of it with the sentences that say so."""
    nodes = bounds.first(map(_node, shown["nodes"]), _NODES)
    names = {node["name"] for node in nodes}
    edges = [_stated(edge, "subject", "object") for edge in shown["edges"]]
    among = [edge for edge in edges if edge["subject"] in names and edge["object"] in names]
    told = bounds.first(_with_evidence_first(among), _EDGES)
    centre = bounds.cut(shown["centre"], _NAME) if shown["centre"] else None
    return {**shown, "centre": centre, "nodes": nodes, "edges": told, "edges_left_out": len(among) - len(told)}


def detail(shown: dict[str, Any]) -> dict[str, Any]:
    """What is told of one concept."""
    room = _DETAIL // len(_PARTS)
    places = {name: map(_place, shown[name]) for name in ("discussed", "mentioned", "code_examples", "formulas")}
    lists = {
        **places,
        "relations": (_stated(one, "other") for one in shown["relations"]),
        "speakers": (bounds.with_texts(one, title=_TITLE) for one in shown["speakers"]),
        "citations": shown["citations"],
        "beside": (bounds.cut(one, _NAME) for one in shown["beside"]),
    }
    defined = _place(shown["defined_in"]) if shown["defined_in"] else None
    fitted = {name: bounds.first(lists[name], room) for name in _PARTS}
    return {**summary(shown), **fitted, "defined_in": defined}


def study(shown: dict[str, Any]) -> dict[str, Any]:
    """A path, of which the last steps must not be missing: what is left out is why."""
    room = _EDGES // (len(shown["steps"]) or 1)
    steps = [
        {
            **summary(one),
            "read": _place(one["read"]) if one["read"] else None,
            "because": bounds.first(map(_reason, one["because"]), room),
        }
        for one in shown["steps"]
    ]
    aside = bounds.first(map(_reason, shown["set_aside"]), _EDGES)
    return {"concept": bounds.cut(shown["concept"], _NAME), "steps": steps, "set_aside": aside}


def _node(shown: dict[str, Any]) -> dict[str, Any]:
    return {**summary(shown), "read": [_place(one) for one in shown["read"]]}


def _with_evidence_first(edges: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Edges for which there is no room with their sentences are told without; `statements` counts these."""
    room = _WITH_EVIDENCE
    for edge in edges:
        room -= bounds.size(edge)
        yield edge if room >= 0 else {**edge, "evidence": []}


def _stated(shown: dict[str, Any], *ends: str) -> dict[str, Any]:
    evidence = {"evidence": [_sentence(one) for one in shown["evidence"]]}
    return bounds.with_texts({**shown, **evidence}, **dict.fromkeys(ends, _NAME))


def _reason(shown: dict[str, Any]) -> dict[str, Any]:
    return bounds.with_texts(_stated(shown, "before", "after"), said=3 * _NAME)


def _sentence(shown: dict[str, Any]) -> dict[str, Any]:
    return bounds.with_texts(_place(shown), text=_SENTENCE)


def _place(shown: dict[str, Any]) -> dict[str, Any]:
    return {**bounds.with_texts(shown, title=_TITLE), "section_path": bounds.texts(shown["section_path"], 2 * _NAME)}
