"""Words of English that a comparison of two claims has to know, from `wording.txt`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from carrel import words

_SECTION = re.compile(r"^\[(\w+):.*\]$", re.MULTILINE)
_, *_PARTS = _SECTION.split(Path(__file__).with_name("wording.txt").read_text(encoding="utf-8"))
_LISTS = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))
SMALL = frozenset(_LISTS["small"].split())
DENIALS = frozenset(_LISTS["denials"].split())
DOUBTS = frozenset(_LISTS["doubts"].split())


@cache
def sides() -> dict[str, frozenset[tuple[int, bool]]]:
    """Stem → on which side of which pairs of opposites it stands."""
    found: dict[str, set[tuple[int, bool]]] = {}
    for axis, pair in enumerate(re.split(r"\n\s*\n", _LISTS["opposites"])):
        for side, listed in enumerate(pair.split("/")):
            for stem in words.stems(listed):
                found.setdefault(stem, set()).add((axis, bool(side)))
    return {stem: frozenset(on) for stem, on in found.items()}
