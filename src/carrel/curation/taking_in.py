"""Keeping the graph at what the curated files say, whoever has changed them: a command, an editor, git."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from carrel.curation.contributing import addresses, contribution
from carrel.curation.notebook import CONCEPTS, EDGES, read
from carrel.curation.sheets import lines
from carrel.files import write_atomically, writing
from carrel.graphs import CURATED

if TYPE_CHECKING:
    from carrel.catalogs import Catalog
    from carrel.graphs import GraphStore
    from carrel.layout import Layout
    from carrel.types import Contribution

_KNOWN = "curated.json"
"""Of the cache: which files were last taken in, and what they contributed."""


def take_in(place: Layout, catalog: Catalog, graph: GraphStore) -> bool:
    """Make the graph say what the files say of the papers there are now; whether it had to be told.

    To be called by whoever writes, after the papers are in the graph.
    """
    if is_empty(place):
        return False
    marks, known = _marks(place), _known(place)
    made = contribution(read(place.root), lambda papers: addresses(papers, catalog))
    told = {"files": marks, "contribution": _digest(made), "store": type(graph).__qualname__}
    is_there = CURATED in graph.papers()
    if told == known and is_there == _says_something(made):
        return False
    _put(made, graph)
    with writing(place.cache):
        place.cache.mkdir(parents=True, exist_ok=True)
    write_atomically(place.cache / _KNOWN, json.dumps(told).encode())
    return True


def is_empty(place: Layout) -> bool:
    """Whether there is nothing to be taken in, nor ever was."""
    return not _marks(place) and not _known(place)


def is_current(place: Layout) -> bool:
    """Whether the files are those that were last taken in. Costs next to nothing."""
    return bool(_marks(place) == _known(place).get("files", {}))


def _put(made: Contribution, graph: GraphStore) -> None:
    if _says_something(made):
        graph.put([made])
    else:
        graph.delete([CURATED])


def _says_something(made: Contribution) -> bool:
    return bool(made.concepts or made.mentions or made.triples)


def _digest(made: Contribution) -> str:
    return hashlib.sha256(repr(made).encode()).hexdigest()


def _marks(place: Layout) -> dict[str, str]:
    files = [place.root / name for name in (CONCEPTS, EDGES)]
    return {path.name: hashlib.sha256(b"".join(lines(path))).hexdigest() for path in files if path.exists()}


def _known(place: Layout) -> dict[str, Any]:
    try:
        known = json.loads((place.cache / _KNOWN).read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
