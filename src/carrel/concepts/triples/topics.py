"""What an article is about, by its title."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.concepts.triples.ends import is_name
from carrel.naming import key

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_WORDS = 6
_COST = re.compile(r"\s+in\s+\$?O\(.*$|\s+[-–—]\s+O\(.*$")
_INTRODUCED = re.compile(r"^(?:an?\s+)?introduction\s+to\s+(?:the\s+)?|^the\s+", re.IGNORECASE)
_SPECIAL = re.compile(r"\s+[-–—]\s+")
_MORE = re.compile(r"\.\s+|\s+/\s+|:\s+|\s+\(")
_DOING = re.compile(r"[A-Z][a-z]+ing\b")


def topic_of(title: str, known: Mapping[str, str]) -> str:
    """Its name, of a title that is one: `Maximum flow - Dinic's algorithm` is about the algorithm; else nothing."""
    name = _INTRODUCED.sub("", _MORE.split(special(title))[0]).strip()
    name = known.get(key(name), name)
    return name if len(name.split()) <= MOST_WORDS and is_name(name, known, alone=True) else ""


def special(title: str) -> str:
    """The part of a title that tells it from others, without what it costs."""
    whole = _COST.sub("", title)
    parts = [part for part in _SPECIAL.split(whole) if not _DOING.match(part)]
    return (parts[-1] if parts else whole).strip()
