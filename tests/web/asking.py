"""Asking on the page, as tests do it."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Locator, Page, Request, expect

from tests.web.shelf import QUESTION


def ask(page: Page, words: str = QUESTION) -> Locator:
    """The turn in which this is asked, once it is answered."""
    box(page).fill(words)
    page.keyboard.press("Enter")
    return answered(page, words)


def answered(page: Page, words: str = QUESTION) -> Locator:
    turn = page.get_by_role("article").filter(has=page.get_by_role("heading", name=words, exact=True)).last
    expect(turn.get_by_role("button", name="Save")).to_be_visible()
    return turn


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Question")


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="Proof", exact=True)


def asked(page: Page) -> list[dict[str, Any]]:
    """What the page will have asked the server to answer."""
    bodies: list[dict[str, Any]] = []

    def note(request: Request) -> None:
        if request.url.endswith("/api/query/stream"):
            bodies.append(json.loads(request.post_data or "{}"))

    page.on("request", note)
    return bodies
