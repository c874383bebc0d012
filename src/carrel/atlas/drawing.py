"""Where the concepts of a map stand: near those they are related to, and none over another. The same every time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Points = NDArray[np.float64]

_ROUNDS = 250
_WORK = 50_000
"""Boxes times rounds: of very many, no more than what a reader waits for."""
_DISTANCE = 110.0
"""Between two concepts that are related."""
_WIDER = 1.3
"""Screens and pages are wider than high."""
_FILLED = 0.36
"""How much of the map its boxes take up: less is easier to follow, more easier to read."""
_GAP = 12.0
_MARGIN = 24.0
_GOLDEN = math.pi * (3 - math.sqrt(5))


class Drawing(NamedTuple):
    centres: list[tuple[float, float]]
    width: float
    height: float


def draw(sizes: Sequence[tuple[float, float]], pairs: Sequence[tuple[int, int]]) -> Drawing:
    """Places for boxes of these sizes, of which these pairs are joined."""
    boxes = np.array(sizes, dtype=np.float64).reshape(-1, 2)
    points = _attracted(_spiral(len(boxes)), np.array(pairs, dtype=np.int64).reshape(-1, 2))
    points = _apart(_drawn_together(points, boxes), boxes)
    low, high = (points - boxes / 2).min(axis=0), (points + boxes / 2).max(axis=0)
    moved = points - low + _MARGIN
    width, height = high - low + 2 * _MARGIN
    return Drawing([(round(float(x), 1), round(float(y), 1)) for x, y in moved], round(width, 1), round(height, 1))


def edge_of(box: tuple[float, float], centre: tuple[float, float], towards: tuple[float, float]) -> tuple[float, float]:
    """Where a line from the centre of a box leaves it."""
    across, down = towards[0] - centre[0], towards[1] - centre[1]
    if not across and not down:
        return centre
    share = min(box[0] / 2 / abs(across) if across else math.inf, box[1] / 2 / abs(down) if down else math.inf)
    return centre[0] + across * min(share, 1), centre[1] + down * min(share, 1)


def _spiral(count: int) -> Points:
    """The first in the middle, the others around it."""
    steps = np.arange(count)
    radius = _DISTANCE * 0.6 * np.sqrt(steps)
    return np.stack([radius * np.cos(steps * _GOLDEN) * _WIDER, radius * np.sin(steps * _GOLDEN)], axis=1)


def _attracted(points: Points, pairs: NDArray[np.int64]) -> Points:
    """After Fruchterman and Reingold: all repel each other, the joined attract, and the middle draws a little."""
    shape = np.array([_WIDER, 1.0])
    points = points / shape
    rounds = _rounds(len(points))
    for step in range(rounds):
        across, down = _apart_by(points)
        push = _DISTANCE**2 / (across**2 + down**2 + 1.0)
        force = np.stack([(across * push).sum(axis=1), (down * push).sum(axis=1)], axis=1) - points * 0.35
        along = points[pairs[:, 0]] - points[pairs[:, 1]]
        pull = along * (np.linalg.norm(along, axis=1) / _DISTANCE)[:, None]
        np.add.at(force, pairs[:, 0], -pull)
        np.add.at(force, pairs[:, 1], pull)
        length = np.linalg.norm(force, axis=1, keepdims=True) + 1e-9
        heat = _DISTANCE * (1 - step / rounds) * 0.5
        points = points + force / length * np.minimum(length, heat)
    return np.asarray(points * shape)


def _drawn_together(points: Points, boxes: Points) -> Points:
    """As close as the boxes allow, those far out more than those within."""
    middle = points.mean(axis=0)
    away = (points - middle) / np.array([_WIDER, 1.0])
    distance = np.linalg.norm(away, axis=1, keepdims=True)
    round_map = away * (distance + 1.0) ** -0.35
    area = (boxes + _GAP).prod(axis=1).sum() / _FILLED
    radius = max(float(np.linalg.norm(round_map, axis=1).max()), 1e-9)
    return np.asarray(round_map / radius * math.sqrt(area / math.pi / _WIDER) * np.array([_WIDER, 1.0]))


def _apart(points: Points, boxes: Points) -> Points:
    """Push boxes that overlap apart, each pair along the way that is shorter, until none does."""
    wide, high = ((boxes[:, None, axis] + boxes[None, :, axis]) / 2 + _GAP for axis in (0, 1))
    numbers = np.arange(len(boxes))
    later = np.sign(numbers[:, None] - numbers[None, :])
    for _ in range(_rounds(len(points))):
        across, down = _apart_by(points)
        over_x, over_y = wide - np.abs(across), high - np.abs(down)
        over = (over_x > 0) & (over_y > 0) & (later != 0)
        if not over.any():
            break
        by_height = over_y <= over_x
        push_x = np.where(over & ~by_height, over_x * np.where(across == 0, later, np.sign(across)), 0.0)
        push_y = np.where(over & by_height, over_y * np.where(down == 0, later, np.sign(down)), 0.0)
        points = points + np.stack([push_x.sum(axis=1), push_y.sum(axis=1)], axis=1) * 0.35
    return points


def _apart_by(points: Points) -> tuple[Points, Points]:
    """How far each stands from each, across and down."""
    return points[:, 0, None] - points[None, :, 0], points[:, 1, None] - points[None, :, 1]


def _rounds(count: int) -> int:
    return max(40, min(_ROUNDS, _WORK // count))
