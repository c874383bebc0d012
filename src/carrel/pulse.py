"""Whether each part of a library works, told by putting it to work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from carrel.errors import CarrelError
from carrel.search import reranking
from carrel.search.reranking import Bounds
from carrel.types import EVERYTHING, Candidate, Chunk, ChunkKind, Fused, Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from carrel.library import Library

_WORD = "test"


def catalog(library: Library) -> str:
    pending = len(library.stores.catalog.unfinished().pending)
    return f"answers; {pending:,} papers are not indexed yet" if pending else "answers"


def vectors(library: Library) -> str:
    store = library.current.vectors
    store.search(numpy.eye(1, library.embedder.dim, dtype=numpy.float32)[0], limit=1, where=EVERYTHING)
    return f"{store.count():,} vectors of {store.model}"


def keywords(library: Library) -> str:
    library.stores.keywords.search(_WORD, limit=1, where=EVERYTHING)
    return f"{library.stores.keywords.count():,} chunks"


def graph(library: Library) -> str:
    return f"{library.stores.graph.size().concepts:,} concepts"


def embedder(library: Library) -> str:
    model = library.embedder
    return f"{model.name}, {len(model.embed_query(_WORD))} dimensions, loaded and verified"


def reranker(library: Library) -> str:
    model = library.reranker
    if model is None:
        return "none"
    chunk = Chunk(f"{_WORD}/abstract", _WORD, Part.ABSTRACT, ChunkKind.ABSTRACT, _WORD, 0, len(_WORD))
    candidate = Candidate(chunk, Fused(chunk.address, 0.0, {}))
    reranking.score(_WORD, [candidate], model, Bounds(1, library.settings.rerank.timeout))
    return f"{model.name}, answers"


def generator(library: Library) -> str:
    """Those that can tell whether they would answer are asked; none of them is sent a text."""
    check: Callable[[], str] | None = getattr(library.generator, "check", None)
    return check() if check else library.generator.name


PARTS: dict[str, Callable[[Library], str]] = {
    "embedder": embedder,
    "catalog": catalog,
    "vectors": vectors,
    "keywords": keywords,
    "graph": graph,
    "reranker": reranker,
    "generator": generator,
}
"""In the order in which one failing explains the next. Each says how it is, or raises what is wrong."""
ESSENTIAL = frozenset({"embedder", "catalog", "vectors", "keywords"})
"""Without which nothing is found as it should be; without the others, an answer says what it did without."""


def felt(name: str, library: Library) -> str:
    """How a part is; whatever is wrong with it is a CarrelError."""
    try:
        return PARTS[name](library)
    except CarrelError:
        raise
    except Exception as error:  # A part may be anybody's, and whoever asks wants to hear of the others, too.
        raise CarrelError(f"the {name} failed: {type(error).__name__}: {error}") from error
