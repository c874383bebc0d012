"""What is done to concepts: each verb reads the files, writes them, and says what changed."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from carrel import naming
from carrel.curation import edges
from carrel.curation.notebook import read, short
from carrel.curation.records import CONCEPT_ID, CuratedConcept, Merge, Node, concept_id, name, now, prose
from carrel.errors import InvalidInput, NotFound
from carrel.identifiers import unused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from carrel.curation.edges import Papers
    from carrel.curation.notebook import Curated
    from carrel.types import Concept

_NOT_IN_ID = re.compile(r"[^a-z0-9_]+")
_LONGEST_ID = 60


@dataclass(frozen=True, slots=True)
class Kept:
    """A concept that was written."""

    status: str
    """`created` or `updated`."""
    concept: CuratedConcept
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"status": self.status, "concept": self.concept.as_record()}


@dataclass(frozen=True, slots=True)
class Deleted:
    id: str
    edges_removed: int

    def as_dict(self) -> dict[str, Any]:
        return {"status": "deleted", "id": self.id, "edges_removed": self.edges_removed}


@dataclass(frozen=True, slots=True)
class Merged:
    source_id: str
    """Of a concept that only papers speak of, its name."""
    target_id: str
    edges_updated: int
    aliases_added: tuple[str, ...]
    duplicates_removed: int
    """Edges that were there already, or would lead back to where they begin."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "status": "merged",
            "source_id": self.source_id,
            "target_id": self.target_id,
            "edges_updated": self.edges_updated,
            "aliases_added": list(self.aliases_added),
            "duplicates_removed": self.duplicates_removed,
        }


def add(folder: Path, wanted: CuratedConcept) -> Kept:
    curated, wanted = read(folder), _tidy(wanted)
    if not CONCEPT_ID.fullmatch(wanted.id):
        hint = f"Use small letters, digits, '-' and '_', as in {slug(wanted.id, ())!r}."
        raise InvalidInput(f"{short(wanted.id)} is no concept's id", hint=hint)
    if wanted.id in curated.concepts:
        raise InvalidInput(f"there is a concept {wanted.id!r} already", hint="'carrel concept update' changes it.")
    if became := curated.current(wanted.id):
        raise InvalidInput(f"the concept {wanted.id!r} was merged into {became!r}", hint="Choose another id.")
    curated.concept_lines.write({}, [wanted.as_record()])
    return Kept("created", wanted, _warnings(wanted, curated))


def update(
    folder: Path,
    concept: str,
    *,
    name: str | None = None,
    aliases: Iterable[str] | None = None,
    description: str | None = None,
) -> Kept:
    """Change what is given; aliases that are given replace those that were there."""
    curated = read(folder)
    before = curated.concept(concept)
    given = {"name": name, "aliases": None if aliases is None else tuple(aliases), "description": description}
    changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if not changes:
        raise InvalidInput("nothing was said to be changed", hint="Give a name, aliases or a description.")
    after = _tidy(replace(before, **changes))
    record = after.as_record()
    changed = {key: record.get(key) for key in changes}
    curated.concept_lines.write({_lines_of(before.id, curated)[-1]: changed})
    return Kept("updated", after, _warnings(after, curated))


def delete(folder: Path, concept: str, papers: Papers, *, force: bool = False) -> Deleted:
    """Take a concept out, and, if so forced, the edges that begin or end at it."""
    curated = read(folder)
    given = concept_id(concept)
    if given not in curated.concepts:
        raise NotFound(f"there is no concept {short(given)}", hint="'carrel concept list' shows those there are.")
    linked = edges.of_concept(curated, given, papers)
    if linked and not force:
        raise InvalidInput(
            f"the concept {given!r} has {len(linked)} edges", hint="Delete them, too, with --force, or merge it."
        )
    if linked:
        curated.edge_lines.write(dict.fromkeys(linked))
    curated.concept_lines.write(dict.fromkeys(_lines_of(given, curated)))
    return Deleted(given, len(linked))


def merge(folder: Path, source: str, target: str, papers: Papers, spoken: Callable[[str], Concept | None]) -> Merged:
    """Make one concept of two; what the source was called leads to the target from then on.

    A name that the user has no concept for is looked for among those that papers speak of (`spoken`).
    """
    curated = read(folder)
    old, new = (curated.named(one) or _of_papers(one, spoken, curated) for one in (source, target))
    if old.id == new.id if old.id and new.id else naming.key(old.name) == naming.key(new.name):
        raise InvalidInput(
            f"{short(source)} and {short(target)} are one concept already", hint="Name two different ones."
        )
    if not new.id:
        new = CuratedConcept(slug(new.name, curated.ids), name(new.name))
        curated.concept_lines.write({}, [new.as_record()])
        curated = read(folder)
    # The edges first: should it end here, the same command does the rest.
    moved = edges.move(curated, {Node("concept", old.id): Node("concept", new.id)}, papers) if old.id else edges.Moved()
    aliases = _more((old.name, old.id, *old.aliases), new)
    history = (*new.merged, *old.merged, Merge(old.name, now(), old.id))
    whole = replace(new, aliases=(*new.aliases, *aliases), merged=history).as_record()
    changed = {_lines_of(new.id, curated)[-1]: {key: whole.get(key) for key in ("aliases", "merged")}}
    curated.concept_lines.write(changed | dict.fromkeys(_lines_of(old.id, curated)))
    return Merged(old.id or old.name, new.id, moved.updated, aliases, moved.removed)


def slug(text: str, taken: Iterable[str]) -> str:
    """An id made of a name."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    made = _NOT_IN_ID.sub("-", letters[: 4 * _LONGEST_ID]).strip("-_")[:_LONGEST_ID].rstrip("-_")
    return unused(made or "concept", frozenset(taken))


def _tidy(concept: CuratedConcept) -> CuratedConcept:
    """With texts as they are kept, and every alias once."""
    own = name(concept.name)
    if not own:
        raise InvalidInput(f"the concept {short(concept.id)} needs a name", hint="Give one with --name.")
    aliases = dict.fromkeys(alias for text in concept.aliases if (alias := name(text)) and alias != own)
    return replace(
        concept,
        id=concept_id(concept.id),
        name=own,
        aliases=tuple(aliases),
        description=prose(concept.description),
    )


def _warnings(concept: CuratedConcept, curated: Curated) -> tuple[str, ...]:
    """Of names that lead to another concept already."""
    others = {text: curated.named(text) for text in (concept.name, *concept.aliases)}
    return tuple(
        f"{short(text)} is a name of the concept {other.id!r}, too; 'carrel concept merge' makes one of two"
        for text, other in others.items()
        if other is not None and other.id != concept.id
    )


def _lines_of(concept: str, curated: Curated) -> list[int]:
    return [number for number, record in curated.concept_lines.records if record["id"] == concept]


def _of_papers(text: str, spoken: Callable[[str], Concept | None], curated: Curated) -> CuratedConcept:
    """What papers mean by a name; without an id, unless they mean one of the user's own."""
    found = spoken(text)
    if found is None:
        raise NotFound(
            f"there is no concept {short(text)}, neither of your own nor in the papers",
            hint="'carrel concept list' shows your own, 'carrel concepts' those of the papers.",
        )
    return curated.named(found.name) or CuratedConcept("", found.name, found.aliases)


def _more(names: Sequence[str], concept: CuratedConcept) -> tuple[str, ...]:
    """Those of the names that the concept does not have in any spelling."""
    known = {naming.key(text) for text in (concept.name, *concept.aliases)}
    more: dict[str, str] = {}
    for text in filter(None, map(name, names)):
        if naming.key(text) not in known:
            more.setdefault(naming.key(text), text)
    return tuple(more.values())
