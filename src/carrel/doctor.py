"""The verb `doctor`: what is wrong here, and what to do about it."""

from __future__ import annotations

import platform
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel import advising, hidden, pulse, registry, screening
from carrel.errors import CarrelError
from carrel.files import is_writable
from carrel.library import Library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_LITTLE_SPACE = 500_000_000
_NAMED = 5
"""Papers of a kind that are named."""


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    status: str
    """`ok` or `problem`."""
    detail: str
    hint: str = ""


def examine(folder: str, flags: Mapping[str, str]) -> list[Check]:
    """Every check, in the order in which one failing explains the next."""
    checks = [Check("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}")]
    try:
        library = Library.open(folder, overrides=flags)
    except CarrelError as error:
        return [*checks, Check("library", "problem", error.message, error.hint)]
    with library:
        return [*checks, *(_checked(name, look, library) for name, look in _looks()), _size(library)]


def _looks() -> Iterator[tuple[str, Callable[[Library], str]]]:
    yield "library", _library
    yield "disk", _disk
    yield "extras", _extras
    yield from (pulse.PARTS | {"catalog": _catalog}).items()
    yield "index", _index
    yield "texts", _texts


def _checked(name: str, look: Callable[[Library], str], library: Library) -> Check:
    try:
        return Check(name, "ok", look(library))
    except CarrelError as error:
        return Check(name, "problem", error.message, error.hint)


def _library(library: Library) -> str:
    return f"{library.layout.root}{'' if is_writable(library.layout.home) else ' (read-only)'}"


def _disk(library: Library) -> str:
    free = shutil.disk_usage(library.layout.root).free
    if free < _LITTLE_SPACE:
        raise CarrelError(f"only {free / 1e6:.0f} MB are free", hint="Free some space before adding papers.")
    return f"{free / 1e9:.1f} GB free"


def _extras(library: Library) -> str:
    """Whether what talks to each store is installed: without it, no store can be opened."""
    chosen = {seam: str(getattr(library.settings, seam)) for seam in ("catalog", "vectors", "keywords", "graph")}
    for seam, named in chosen.items():
        registry.find(seam if seam.endswith("s") else f"{seam}s", named.partition(":")[0])
    return ", ".join(f"{seam}: {named.partition(':')[0]}" for seam, named in chosen.items())


def _catalog(library: Library) -> str:
    unfinished = library.stores.catalog.unfinished()
    left = len(unfinished.pending) + len(unfinished.retired)
    if left:
        raise CarrelError(
            f"{left} papers were not finished", hint="Run 'carrel index build' to go on where it stopped."
        )
    return f"{len(library.list()):,} papers"


def _index(library: Library) -> str:
    checked = library.check_index()
    if not checked.healthy:
        raise CarrelError(
            f"stale: {len(checked.missing)} missing, {len(checked.changed)} changed, {len(checked.orphaned)} orphaned",
            hint="Run 'carrel index build'.",
        )
    return f"healthy, {checked.papers_indexed:,} papers"


def _size(library: Library) -> Check:
    """Whether a store is outgrown: no problem, but good to know."""
    try:
        advice = advising.advise(advising.measured(library))
    except CarrelError as error:
        return Check("size", "ok", f"not measured: {error.message}")
    moves = [f"Run '{one.command}'." for one in advice if one.command]
    return Check("size", "ok", "; ".join(one.told for one in advice), " ".join(moves))


def _texts(library: Library) -> str:
    """Papers that somebody may have prepared for machines. What they hide or command is in no answer."""
    told = library.stores.catalog.remarks()
    hiding = [paper for paper, remarks in told.items() if any(map(hidden.is_about_hidden_text, remarks))]
    commanding = [paper for paper, remarks in told.items() if any(map(screening.is_about_instructions, remarks))]
    found = [
        f"{len(papers):,} with {what}: {', '.join(papers[:_NAMED])}{' …' if len(papers) > _NAMED else ''}"
        for what, papers in (("hidden text", hiding), ("instructions to machines", commanding))
        if papers
    ]
    return f"{'; '.join(found)}; 'carrel show' tells more" if found else "no hidden text, no instructions to machines"
