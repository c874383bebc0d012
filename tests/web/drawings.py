"""What the tests of the view Graph see of its drawing, and how they take hold of it."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any, NamedTuple
from urllib.parse import urlencode
from urllib.request import urlopen

from playwright.sync_api import Locator, Page, expect


class Spot(NamedTuple):
    x: float
    y: float


def told(url: str, path: str, **parameters: object) -> dict[str, Any]:
    with urlopen(f"{url}{path}?{urlencode(parameters)}", timeout=30) as answer:  # noqa: S310
        body: dict[str, Any] = json.load(answer)
    return body


def view(**parameters: object) -> str:
    return f"/graph?{urlencode(parameters, doseq=True)}"


def discs(page: Page) -> Locator:
    return page.locator(".graph-node")


def disc(page: Page, name: str) -> Locator:
    return discs(page).filter(has=page.locator("title", has_text=re.compile(f"^{re.escape(name)}$")))


def line(page: Page, *words: str) -> Locator:
    found = page.locator(".graph-edge")
    for word in words:
        found = found.filter(has=page.locator("title", has_text=word))
    return found


def panel(page: Page) -> Locator:
    return page.get_by_role("complementary", name="What is chosen")


def drawn(page: Page) -> set[str]:
    """The names of the concepts in the drawing."""
    expect(discs(page).first).to_be_visible()
    return set(discs(page).locator("title").all_text_contents())


def spots(page: Page) -> dict[str, Spot]:
    """Where the concepts stand, whatever the camera sees of it."""
    expect(discs(page).first).to_be_visible()
    found: dict[str, list[float]] = page.evaluate(
        """() => {
          const scale = Number(document.querySelector(".graph-drawing-svg").dataset.scale);
          return Object.fromEntries([...document.querySelectorAll(".graph-node")].map((node) => {
            const { e, f } = node.transform.baseVal.consolidate().matrix;
            return [node.querySelector("title").textContent, [e / scale, f / scale]];
          }));
        }"""
    )
    return {name: Spot(*spot) for name, spot in found.items()}


def distance(one: Spot, other: Spot) -> float:
    return float(((one.x - other.x) ** 2 + (one.y - other.y) ** 2) ** 0.5)


def names_drawn(page: Page) -> list[dict[str, float]]:
    boxes: list[dict[str, float]] = page.evaluate(
        """() => [...document.querySelectorAll(".graph-name")].map((name) => {
          const { left, right, top, bottom } = name.getBoundingClientRect();
          return { left, right, top, bottom };
        })"""
    )
    return boxes


def overlapping(boxes: list[dict[str, float]]) -> int:
    # Half a pixel is what browsers round.
    return sum(
        one["left"] < other["right"] - 0.5
        and other["left"] < one["right"] - 0.5
        and one["top"] < other["bottom"] - 0.5
        and other["top"] < one["bottom"] - 0.5
        for one, other in combinations(boxes, 2)
    )


def middle(page: Page, one: str, other: str) -> None:
    """Click in the middle of the line between two concepts."""
    boxes = [disc(page, name).locator(".graph-node-disc").bounding_box() for name in (one, other)]
    centres = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes if box]
    page.mouse.click(*(sum(parts) / 2 for parts in zip(*centres, strict=True)))


def towards(one: Spot, other: Spot) -> str:
    """The arrow key that leads from one place to another."""
    across, down = other.x - one.x, other.y - one.y
    if abs(across) > abs(down):
        return "ArrowRight" if across > 0 else "ArrowLeft"
    return "ArrowDown" if down > 0 else "ArrowUp"


def pull(page: Page, what: Locator, across: float, down: float) -> None:
    box = what.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + across / 2, y + down / 2)
    page.mouse.move(x + across, y + down)
    page.mouse.up()
