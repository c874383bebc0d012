"""A real Chromium, and pages in it that may ask nobody but the server they came from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
MISSING = "there is no Chromium: 'make test' installs Debian's where it may"
# As root, in a container, and without asking the browser's maker for anything.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
PATIENCE_MS = 60_000
"""What takes a moment may take many on a machine that has other things to do."""


def executable() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE_MS)
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Trouble:
    """What a page did that it must not do."""

    requests: list[str] = field(default_factory=list)
    """Addresses of other servers that it asked."""
    errors: list[str] = field(default_factory=list)
    """What was thrown, refused by the content security policy, or called an error by the browser."""


@contextmanager
def looking(browser: Browser, url: str, **options: Any) -> Iterator[tuple[Page, Trouble]]:
    """A page of its own, with a size and a colour scheme; `url` is where it may ask."""
    settings = {"viewport": WIDE, "color_scheme": "light", "reduced_motion": "reduce", **options}
    context = browser.new_context(base_url=url, **settings)
    page, trouble = context.new_page(), Trouble()
    page.set_default_timeout(PATIENCE_MS)
    own = urlsplit(url).netloc

    def asked(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != own:
            trouble.requests.append(request.url)

    def told(message: ConsoleMessage) -> None:
        if message.type == "error":
            trouble.errors.append(message.text)

    page.on("request", asked)
    page.on("console", told)
    page.on("pageerror", lambda error: trouble.errors.append(str(error)))
    try:
        yield page, trouble
    finally:
        context.close()
