"""The verb `migrate`: a library's stores into others, without embedding anything again.

What is moved is compared, row by row, and the old stores stay as they are. An interrupted move goes on where it was:
a ledger beside the library tells which papers arrived.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from carrel.assembling import lives_beside_catalog
from carrel.errors import InvalidInput
from carrel.ingest.ledger import Ledger
from carrel.library import Library
from carrel.migrating.errands import Errand
from carrel.migrating.moves import CatalogMove, GraphMove, KeywordsMove, VectorsMove

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from carrel.migrating.errands import Moved, Mover
    from carrel.types import Progress

SEAMS = ("vectors", "keywords", "graph", "catalog")
"""In the order in which they move. The catalog is last: who asks, rates or revokes something writes to it meanwhile."""


@dataclass(frozen=True, slots=True)
class Migrated:
    moved: Mapping[str, Moved]
    settings: Mapping[str, str]
    """What to set, so that the library is where it was moved to."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def migrate(
    folder: str, flags: Mapping[str, str], to: Mapping[str, str], *, force: bool = False, progress: Progress
) -> Migrated:
    """Fill the stores that `to` names, by setting, and leave the old ones as they are. Nobody writes meanwhile."""
    with (
        Library.open(folder, overrides=flags) as library,
        Library.open(folder, overrides={**flags, **to}) as other,
    ):
        wanted = _wanted(library, to)
        alone = library.lock.alone(timeout=library.settings.lock_timeout, progress=progress)
        with alone as turn, ExitStack() as opened:
            make = partial(_errand, library, other, force=force, turn=turn, progress=progress)
            errands = {seam: make(seam) for seam in wanted}
            movers = _movers(errands, library, other, opened)
            for mover in movers.values():
                mover.check()
            moved = {seam: mover.run() for seam, mover in movers.items()}
            turn()
            for errand in errands.values():
                errand.ledger.forget()
    return Migrated(moved, dict(to))


def _wanted(library: Library, to: Mapping[str, str]) -> list[str]:
    """What moves; with the catalog also what lives beside it."""
    if not to:
        raise InvalidInput("nothing to move is named", hint="Name a target: --catalog, --vectors, --keywords, --graph.")
    now = {seam: str(getattr(library.settings, seam)) for seam in SEAMS}
    for seam, target in to.items():
        if now[seam] == target:
            verb = "are" if seam.endswith("s") else "is"
            raise InvalidInput(
                f"the {seam} {verb} in {target!r} already", hint="'carrel config show' tells where each store is."
            )
    return [seam for seam in SEAMS if seam in to or ("catalog" in to and lives_beside_catalog(now[seam]))]


def _errand(
    library: Library, other: Library, seam: str, *, force: bool, turn: Callable[[], None], progress: Progress
) -> Errand:
    source, target = (str(getattr(each.settings, seam)) for each in (library, other))
    ledger = Ledger(
        library.layout.cache / "moving" / f"{seam}.jsonl",
        to=target,
        namespace=getattr(other.settings, f"{seam}_namespace"),
        model=library.stores.vectors.model,
        dim=library.stores.vectors.dim,
        half=other.settings.vectors_half,
    )
    batch = library.settings.ingest.batch_characters
    return Errand(seam, source, target, library.stores.catalog, ledger, force, batch, turn, progress)


def _movers(errands: Mapping[str, Errand], library: Library, other: Library, opened: ExitStack) -> dict[str, Mover]:
    """In the order in which they are to go. All targets are open before the first of them is filled."""
    old, make = library.stores, other.assembling
    movers: dict[str, Mover] = {}
    catalog = opened.enter_context(closing(make.catalog())) if "catalog" in errands else old.catalog
    if errand := errands.get("vectors"):
        vectors = make.vectors(catalog, model=old.vectors.model, dim=old.vectors.dim)
        half = other.settings.vectors_half
        movers["vectors"] = VectorsMove(errand, old.vectors, opened.enter_context(closing(vectors)), half)
    if errand := errands.get("keywords"):
        keywords = opened.enter_context(closing(make.keywords(catalog)))
        movers["keywords"] = KeywordsMove(errand, old.keywords, keywords)
    if errand := errands.get("graph"):
        movers["graph"] = GraphMove(errand, old.graph, opened.enter_context(closing(make.graph())))
    if errand := errands.get("catalog"):
        movers["catalog"] = CatalogMove(errand, catalog)
    return movers
