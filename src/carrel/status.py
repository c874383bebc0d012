"""How a library stands: whether its index is current and if not why, how much there is, and what it works with."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrel import health
from carrel.bundles.circumstances import public
from carrel.errors import CarrelError
from carrel.health import IndexState
from carrel.release import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from carrel.library import Library

_HINTS = {
    IndexState.NOT_BUILT: "Take papers in with 'carrel add', or run 'carrel index build'.",
    IndexState.BUILDING: "Another process is at it.",
    IndexState.STALE: "Run 'carrel index build'.",
    IndexState.READY: "",
}


@dataclass(frozen=True, slots=True)
class Status:
    release: str
    library: str
    """The name of its folder."""
    state: IndexState
    reasons: tuple[str, ...]
    """Why the index is not ready, as far as its marks tell."""
    hint: str
    papers: int
    chunks: int
    figures: int
    concepts: int | None
    """None where the graph cannot be asked."""
    index_created: str
    index_size_bytes: int
    models: Mapping[str, str]
    """By what they do."""
    stores: Mapping[str, str]
    """By what they keep: the kinds, without addresses."""

    def as_dict(self) -> dict[str, Any]:
        return {"healthy": self.state == IndexState.READY, **asdict(self)}


def of(library: Library) -> Status:
    """Told without reading a paper: what 'carrel index check' compares is not compared here."""
    sizes, state = library.stores.catalog.sizes(), library.index_state()
    settings, cache = library.settings, library.layout.cache
    return Status(
        release=VERSION,
        library=library.layout.root.resolve().parent.name,
        state=state,
        reasons=tuple(health.complaints(library.stores, library.layout)),
        hint=_HINTS[state],
        papers=sizes.papers,
        chunks=sizes.chunks - sizes.figures,
        figures=sizes.figures,
        concepts=_concepts(library),
        index_created=health.created_at(cache),
        index_size_bytes=health.index_size(cache),
        models={
            "embedder": public(library.embedder.name),
            "reranker": _called(lambda: library.reranker.name if library.reranker else "none", settings.reranker),
            "generator": _called(lambda: library.generator.name, settings.generator),
        },
        stores={name: _kind(getattr(settings, name)) for name in ("catalog", "vectors", "keywords", "graph")},
    )


def _concepts(library: Library) -> int | None:
    """A server that is down does not hide the rest."""
    try:
        return library.stores.graph.size().concepts
    except CarrelError:
        return None


def _called(name: Callable[[], str], chosen: str) -> str:
    """A model that cannot be had is called what the settings call it."""
    try:
        return public(name())
    except CarrelError:
        return public(chosen)


def _kind(chosen: str) -> str:
    return chosen.partition(":")[0]
