"""Which caption belongs to which figure, table or listing of a Marker file.

Marker calls some captions `Text` or `ListItem`, puts them before or after, and splits one into several blocks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.parsers import captions
from carrel.types import BlockKind, ExhibitKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.parsers.marker_blocks import Item

_SHOWN = {BlockKind.FIGURE: ExhibitKind.FIGURE, BlockKind.TABLE: ExhibitKind.TABLE, BlockKind.CODE: None}
_GROUP = 4
"""How far apart the parts of one group can stand."""
_WORDED = frozenset({BlockKind.TEXT, BlockKind.LIST})
_LIKE_A_CAPTION = re.compile(r"(?:- )?[^\W\d_]{3,12}\.?\s{0,2}[\w.-]{1,8}?\s?[.:|—–]\s", re.UNICODE)


def assigned(items: Sequence[Item]) -> dict[int, list[int]]:
    """Of each item that shows something, by its place: the places of its captions. Each is given once."""
    found: dict[int, list[int]] = {}
    taken: set[int] = set()
    after_first = _stand_after(items)
    shown = [place for place, item in enumerate(items) if item.kind in _SHOWN]
    for only_in_group in (True, False):
        for place in shown:
            if place not in found and (given := _captions(items, place, taken, after_first, only_in_group)):
                found[place] = given
                taken.update(given)
    for place in shown:
        if place not in found and (far := _further_off(items, place, taken)) is not None:
            found[place] = [far]
            taken.add(far)
    return found


def _further_off(items: Sequence[Item], place: int, taken: set[int]) -> int | None:
    """A caption that a paragraph parts from what it belongs to."""
    kind = _SHOWN[items[place].kind]
    near = (place + step for step in (2, -2, 3, -3))
    labels = ((there, label_of(items[there])) for there in near if 0 <= there < len(items) and there not in taken)
    return next((there for there, label in labels if kind and label and captions.kind_of(label) == kind), None)


def label_of(item: Item) -> str:
    """The label of what is a caption, or reads like one."""
    if item.kind == BlockKind.CAPTION:
        return captions.label_of(item.text)
    text = item.text.removeprefix("- ")
    return captions.label_of(text) if item.kind in _WORDED and _LIKE_A_CAPTION.match(item.text[:60]) else ""


def _stand_after(items: Sequence[Item]) -> dict[BlockKind, bool]:
    """For each kind, whether more captions stand behind than before: decides where there is one on both sides."""
    behind = dict.fromkeys(_SHOWN, 0)
    for place, item in enumerate(items):
        if item.kind in _SHOWN:
            before, after = (bool(list(_run(items, place, step))) for step in (-1, 1))
            behind[item.kind] += after - before
    return {kind: count >= 0 for kind, count in behind.items()}


def _captions(
    items: Sequence[Item],
    place: int,
    taken: set[int],
    after_first: dict[BlockKind, bool],
    only_in_group: bool,  # noqa: FBT001
) -> list[int]:
    """The captions beside an item, those of the preferred side first; in reading order."""
    steps = (1, -1) if after_first[items[place].kind] else (-1, 1)
    for step in steps:
        run = [near for near in _run(items, place, step) if near not in taken]
        in_group = any(items[near].group == items[place].group != 0 for near in run)
        if run and (in_group or not only_in_group):
            return sorted(run)
    return []


def _run(items: Sequence[Item], place: int, step: int) -> Iterator[int]:
    """The captions next to an item on one side, up to the one that carries the label."""
    kind = _SHOWN[items[place].kind]
    for near in range(place + step, place + step * (_GROUP + 1), step):
        if not 0 <= near < len(items) or not (items[near].kind == BlockKind.CAPTION or label_of(items[near])):
            return
        label = label_of(items[near])
        fits = not label or kind is None or captions.kind_of(label) in {kind, ExhibitKind.ALGORITHM}
        if not fits or (kind is None and not label) or _belongs_elsewhere(items, place, near):
            return
        yield near
        if label:
            return


def _belongs_elsewhere(items: Sequence[Item], place: int, near: int) -> bool:
    """Whether a caption came in a group with another item of the same kind."""
    group = items[near].group
    if not group or group == items[place].group:
        return False
    around = range(max(near - _GROUP, 0), min(near + _GROUP + 1, len(items)))
    return any(items[other].group == group and items[other].kind == items[place].kind for other in around)
