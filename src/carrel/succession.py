"""An embedder that takes over from another while the library is open.

Another process may put another model's vectors in the place of those that a long-running one was opened with. That one
then reads the settings again: if they name the embedder that the vectors are of by now, it goes on with that one.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from carrel import settings
from carrel.assembling import Assembling
from carrel.errors import CarrelError
from carrel.telemetry import log

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.embedders import Embedder
    from carrel.layout import Layout
    from carrel.settings import Settings
    from carrel.stores import Stores
    from carrel.vectors import VectorStore


class Successor(NamedTuple):
    embedder: Embedder
    vectors: VectorStore
    settings: Settings
    origins: dict[str, str]


@dataclass
class Succession:
    place: Layout
    overrides: Mapping[str, Any] | None
    is_closed: bool
    """Whether the embedder was handed over by the caller: then it is never another."""
    turn: RLock = field(default_factory=RLock)
    outgrown: list[VectorStore] = field(default_factory=list)
    """Searches that are under way may still use them."""
    _in_vain: object = None
    """What the settings named, and of what the vectors were, when these did not agree: a model is not made twice."""

    def successor(self, stores: Stores, before: Settings, set_by: Mapping[str, str]) -> Successor | None:
        """Whom the settings name by now, if the vectors are that one's. Whatever else they say is not taken up."""
        if self.is_closed:
            return None
        try:
            chosen, now = settings.load(self.place.config, self.overrides)
            asked = (chosen.embedder, chosen.models, stores.vectors.model, stores.vectors.dim)
            if asked == self._in_vain:
                return None
            taken = before.model_copy(update={"embedder": chosen.embedder, "models": chosen.models})
            origins = _without_models(set_by) | {key: now[key] for key in now.keys() - _without_models(now).keys()}
            make = Assembling(self.place, taken, lambda key: origins.get(key) == str(self.place.config))
            embedder = make.embedder()
        except CarrelError as error:
            log("search", logging.WARNING, "no other embedder can be taken up", reason=error.message)
            return None
        if (embedder.name, embedder.dim) != (stores.vectors.model, stores.vectors.dim):
            self._in_vain = asked
            return None
        log("search", logging.INFO, "another embedder is taken up", model=embedder.name)
        self.outgrown.append(stores.vectors)
        vectors = make.vectors(stores.catalog, model=embedder.name, dim=embedder.dim)
        return Successor(embedder, vectors, taken, origins)

    def close(self) -> None:
        for vectors in self.outgrown:
            vectors.close()
        self.outgrown.clear()


def _without_models(origins: Mapping[str, str]) -> dict[str, str]:
    """Who has set what stays as it is: a password is given only to a server that its owner has named."""
    return {key: origin for key, origin in origins.items() if key != "embedder" and not key.startswith("models.")}
