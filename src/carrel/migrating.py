"""The verb `migrate`: a library's catalog into another database."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrel import locking
from carrel.catalogs.copying import copy
from carrel.catalogs.sql import SqlCatalog
from carrel.errors import InvalidInput
from carrel.library import Library

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.types import Progress


@dataclass(frozen=True, slots=True)
class Migrated:
    source: str
    """As the setting `catalog` has it."""
    target: str
    rows: Mapping[str, int]
    """By table; each was compared."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def migrate(folder: str, flags: Mapping[str, str], to: str, *, force: bool = False, progress: Progress) -> Migrated:
    """Copy the catalog and leave the old one as it is; which of the two is used, the setting `catalog` says."""
    with (
        Library.open(folder, overrides=flags) as library,
        Library.open(folder, overrides={**flags, "catalog": to}) as other,
    ):
        source = library.settings.catalog
        if source == to:
            raise InvalidInput(f"the catalog is in {to!r} already", hint="'carrel config show' tells where it is.")
        lock = locking.held(library.layout.lock, timeout=library.settings.lock_timeout, progress=progress)
        with lock, closing(_by_sql(library)) as old, closing(_by_sql(other)) as new:
            return Migrated(source, to, copy(old.database, new.database, replace=force, progress=progress))


def _by_sql(library: Library) -> SqlCatalog:
    made = library.make_catalog()
    if not isinstance(made, SqlCatalog):
        raise InvalidInput(
            f"a catalog of the kind {library.settings.catalog!r} cannot be copied",
            hint="Those of 'sqlite' and 'postgresql:' can.",
        )
    return made
