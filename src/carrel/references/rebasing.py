"""What changed in a source since it was last read, put onto what the library says by now."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from carrel.types import Reference

if TYPE_CHECKING:
    from collections.abc import Sequence


def rebase(ours: Reference, base: Reference, theirs: Reference) -> tuple[Reference, list[str]]:
    """Our record with their changes since `base`, and the fields that both changed: those stay ours."""
    changes: dict[str, Any] = {"tags": _tags(ours.tags, base.tags, theirs.tags)}
    disputed: list[str] = []
    for field in fields(Reference):
        own, old, new = (getattr(one, field.name) for one in (ours, base, theirs))
        if field.name in ("id", "tags") or new in (old, own):
            continue
        if own in (old, field.default):
            changes[field.name] = new
        else:
            disputed.append(field.name)
    return replace(ours, **changes), disputed


def _tags(ours: Sequence[str], base: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    gone = set(base) - set(theirs)
    added = [tag for tag in theirs if tag not in base]
    return tuple(dict.fromkeys([*(tag for tag in ours if tag not in gone), *added]))
