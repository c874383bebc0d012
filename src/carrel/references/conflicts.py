"""Git's conflict markers in refs.jsonl, resolved by what the records mean.

Records of the two sides are recognised by DOI, then by id. Where only one side says something, or only one side changed
it, that stands; the longer list of authors and the more exact date win; tags are united. What both sides changed to
different things is left between markers, for the user to decide.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from carrel.errors import InvalidInput
from carrel.files import write_atomically
from carrel.identifiers import normalise_doi
from carrel.references import jsonl
from carrel.types import Published, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from carrel.types import Author, Origin

    Choose = Callable[[str, str, Any, Any], Any]
    """Paper, field, ours, theirs → the value that stands, or None to leave it open."""

_OURS, _BASE, _SPLIT, _THEIRS = "<<<<<<<", "|||||||", "=======", ">>>>>>>"


@dataclass(frozen=True, slots=True)
class Operation:
    paper_id: str
    doi: str
    action: str
    """`kept` (one side has it), `same`, `merged` or `unresolved`."""
    reason: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    paper_id: str
    doi: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    text: str
    """The file as it should be; unresolved records keep their markers."""
    total_papers: int
    ours_papers: int
    theirs_papers: int
    unresolved: tuple[Unresolved, ...]
    operations: tuple[Operation, ...]

    def as_dict(self) -> dict[str, Any]:
        merged = sum(one.action == "merged" for one in self.operations)
        shown = asdict(self)
        del shown["text"]
        return {**shown, "merged": merged}


@dataclass(frozen=True, slots=True)
class _Hunk:
    """What stands between two markers: each side's lines, and the common ancestor's where git wrote them."""

    ours: tuple[str, ...]
    base: tuple[str, ...]
    theirs: tuple[str, ...]


def resolve_file(refs: Path, choose: Choose | None, *, dry_run: bool) -> Resolution:
    """Merge every conflict in refs.jsonl; what cannot be merged keeps its markers."""
    try:
        resolution = resolve(refs.read_text(encoding="utf-8"), choose or (lambda *_: None))
    except ValueError as error:
        raise InvalidInput(
            f"the conflict in {str(refs)!r} cannot be read: {error}", hint="Mend that line by hand."
        ) from error
    if not dry_run and resolution.operations:
        write_atomically(refs, resolution.text.encode())
    return resolution


def resolve(text: str, choose: Choose = lambda *_: None) -> Resolution:
    """Merge every conflict in a file's text."""
    lines: list[str] = []
    unresolved: list[Unresolved] = []
    operations: list[Operation] = []
    papers = ours = theirs = 0
    for part in _parts(text):
        if isinstance(part, str):
            lines.append(part)
            papers += bool(part.strip())
            continue
        for merged in _merge_hunk(part, choose):
            lines += merged.lines
            operations.append(merged.operation)
            unresolved += merged.unresolved
        ours += len(part.ours)
        theirs += len(part.theirs)
    return Resolution(
        text="".join(f"{line}\n" for line in lines),
        total_papers=papers + len(operations),
        ours_papers=ours,
        theirs_papers=theirs,
        unresolved=tuple(unresolved),
        operations=tuple(operations),
    )


def _parts(text: str) -> Iterator[str | _Hunk]:
    """Plain lines, and hunks; a marker that does not fit is an error, for it is no conflict git wrote."""
    sides: dict[str, list[str]] | None = None
    side = ""
    for line in text.removesuffix("\n").split("\n"):
        marker = line[:7]
        if marker == _OURS:
            sides, side = {_OURS: [], _BASE: [], _SPLIT: []}, _OURS
        elif sides is not None and marker in (_BASE, _SPLIT):
            side = marker
        elif sides is not None and marker == _THEIRS:
            yield _Hunk(*(tuple(sides[name]) for name in (_OURS, _BASE, _SPLIT)))
            sides = None
        elif sides is not None:
            sides[side] += [line] if line.strip() else []
        else:
            yield line
    if sides is not None:
        raise ValueError(f"a conflict begins with {_OURS!r} and does not end with {_THEIRS!r}")


@dataclass(frozen=True, slots=True)
class _Merged:
    lines: list[str]
    operation: Operation
    unresolved: list[Unresolved]


def _merge_hunk(hunk: _Hunk, choose: Choose) -> Iterator[_Merged]:
    ours, theirs, base = ([jsonl.load(line) for line in side] for side in (hunk.ours, hunk.theirs, hunk.base))
    left = list(theirs)
    for mine in ours:
        match = _match(mine, left)
        if match is None:
            yield _kept(mine, "only ours has it")
            continue
        left.remove(match)
        yield _merge_pair(mine, match, _match(mine, base), choose)
    for one in left:
        yield _kept(one, "only theirs has it")


def _match(reference: Reference, others: Iterable[Reference]) -> Reference | None:
    others = list(others)
    doi = normalise_doi(reference.doi)
    by_doi = (one for one in others if doi and normalise_doi(one.doi) == doi)
    by_id = (one for one in others if one.id == reference.id)
    return next(by_doi, None) or next(by_id, None)


def _kept(reference: Reference, reason: str) -> _Merged:
    return _Merged([jsonl.dump(reference)], Operation(reference.id, reference.doi, "kept", reason), [])


def _merge_pair(ours: Reference, theirs: Reference, base: Reference | None, choose: Choose) -> _Merged:
    values: dict[str, Any] = {}
    open_fields: list[str] = []
    for field in Reference.__dataclass_fields__:
        mine, other = getattr(ours, field), getattr(theirs, field)
        value = mine if field == "id" else _one_value(field, mine, other, getattr(base, field) if base else None)
        value = choose(ours.id, field, mine, other) if value is None else value
        if value is None:
            open_fields.append(field)
        values[field] = mine if value is None else value
    if open_fields:
        left = [Unresolved(ours.id, ours.doi, tuple(open_fields))]
        return _Merged(_marked(ours, theirs), Operation(ours.id, ours.doi, "unresolved", ", ".join(open_fields)), left)
    merged = replace(ours, **values)
    same = merged in (ours, theirs)
    reason = "one side says all" if same else "each side says something"
    return _Merged([jsonl.dump(merged)], Operation(ours.id, ours.doi, "same" if same else "merged", reason), [])


def _one_value(field: str, ours: Any, theirs: Any, base: Any) -> Any:  # noqa: ANN401
    """The value on which the two sides can agree; None when they cannot."""
    if ours == theirs or not theirs or theirs == base:
        return ours
    if not ours or ours == base:
        return theirs
    agree = _AGREEMENTS.get(field)
    return agree(ours, theirs) if agree else None


def _united(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*ours, *theirs]))


def _longer(ours: tuple[Author, ...], theirs: tuple[Author, ...]) -> tuple[Author, ...] | None:
    return max(ours, theirs, key=len) if len(ours) != len(theirs) else None


def _same_doi(ours: str, theirs: str) -> str | None:
    return ours if normalise_doi(ours) == normalise_doi(theirs) else None


def _more_exact(ours: Published, theirs: Published) -> Published | None:
    """Of two dates of which one only says more, that one."""
    pairs = list(zip(asdict(ours).values(), asdict(theirs).values(), strict=True))
    if any(one and other and one != other for one, other in pairs):
        return None
    return Published(*(one or other for one, other in pairs))


def _named_source(ours: Origin, theirs: Origin) -> Origin | None:
    return ours if not theirs.id else theirs if not ours.id else None


_AGREEMENTS: dict[str, Callable[[Any, Any], Any]] = {
    "tags": _united,
    "supplement_paths": _united,
    "authors": _longer,
    "published": _more_exact,
    "source": _named_source,
    "doi": _same_doi,
}
"""How two sides that both say something may still agree."""


def _marked(ours: Reference, theirs: Reference) -> list[str]:
    return [f"{_OURS} ours", jsonl.dump(ours), _SPLIT, jsonl.dump(theirs), f"{_THEIRS} theirs"]
