"""Which characters of a printed page lie under what is marked on the screen: read from the PDF, not from the server."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

_ON_SCREEN = """() => {
  const rectangle = (element) => element.getBoundingClientRect().toJSON();
  return {
    picture: rectangle(document.querySelector(".sheet-picture")),
    boxes: [...document.querySelectorAll(".sheet-box")].map(rectangle),
  };
}"""


def shown(page: Page) -> dict[str, Any]:
    """Where the picture and the marks on it are, once they are drawn."""
    picture = page.locator(".sheet-picture")
    expect(picture).to_be_visible()
    expect(picture).not_to_have_js_property("naturalWidth", 0)
    expect(page.locator(".sheet-box").first).to_be_visible()
    found: dict[str, Any] = page.evaluate(_ON_SCREEN)
    return found


def marked(page: Page, pdf: Path, number: int) -> str:
    """What the marks on the screen cover of that page, spelt from the PDF: characters whose middle lies in one."""
    screen = shown(page)
    document = pypdfium2.PdfDocument(pdf)
    try:
        sheet = document[number - 1]
        width, height = sheet.get_size()
        picture = screen["picture"]
        assert abs(picture["width"] / picture["height"] - width / height) < 0.01
        boxes = [_in_points(box, picture, width, height) for box in screen["boxes"]]
        text = sheet.get_textpage()
        return "".join(
            text.get_text_range(index, 1)
            for index in range(text.count_chars())
            if any(_holds(box, _middle(text.get_charbox(index), height)) for box in boxes)
        )
    finally:
        document.close()


def letters(text: str) -> str:
    """Without what the setting of lines makes of it: white space, hyphens, ligatures."""
    return re.sub(r"[\s\-\u00ad\u2010\u2011\ufffe\x02]", "", unicodedata.normalize("NFKC", text))


def _in_points(
    box: dict[str, float], picture: dict[str, float], width: float, height: float
) -> tuple[float, float, float, float]:
    across, down = width / picture["width"], height / picture["height"]
    left, top = (box["x"] - picture["x"]) * across, (box["y"] - picture["y"]) * down
    return left, top, left + box["width"] * across, top + box["height"] * down


def _middle(box: tuple[float, float, float, float], height: float) -> tuple[float, float]:
    left, bottom, right, top = box
    return (left + right) / 2, height - (top + bottom) / 2


def _holds(box: tuple[float, float, float, float], point: tuple[float, float]) -> bool:
    left, top, right, bottom = box
    return left <= point[0] <= right and top <= point[1] <= bottom
