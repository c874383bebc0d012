"""A library that asks who asks: the page asks its user, keeps what it is told, and goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from carrel import Library
from carrel.types.service import Scope
from tests.http.serving import running
from tests.web.conftest import Look
from tests.web.shelf import PROOF

# That it is refused first is what the browser calls an error.
pytestmark = pytest.mark.troubled

HELD = re.compile(r"^\d+ papers$")


@pytest.fixture(scope="module")
def url(library: Library) -> Iterator[str]:
    with running(library, require_token=True, requests_per_minute=0) as server:
        yield server.url


@pytest.fixture
def secret(library: Library) -> Iterator[str]:
    token, secret = library.create_token("reader", Scope.READ)
    yield secret
    if not next(one for one in library.tokens() if one.id == token.id).revoked_at:
        library.revoke_token(token.id)


def give(page: Page, secret: str) -> None:
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Token").fill(secret)
    dialog.get_by_role("button", name="Go on").click()


def test_the_page_asks_for_a_token_and_goes_on_with_what_it_wanted(look: Look, secret: str) -> None:
    page = look("/library")
    dialog = page.get_by_role("dialog", name="This library asks for a token")
    expect(dialog.get_by_label("Token")).to_be_focused()
    give(page, secret)
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("link", name=HELD)).to_be_visible()
    expect(page.locator("main a[href^='/paper/']").first).to_be_visible()


def test_a_token_is_kept_in_this_browser_until_it_is_told_to_forget(look: Look, secret: str) -> None:
    page = look("/health")
    give(page, secret)
    expect(page.get_by_role("link", name=HELD)).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name=HELD)).to_be_visible()
    page.locator("body").press("?")
    page.get_by_role("button", name="Forget it").click()
    page.reload()
    expect(page.get_by_role("dialog", name="This library asks for a token")).to_be_visible()


@pytest.mark.parametrize("wrong", ["carrel_nonsense", "with\ttab", "Größe 日本", "x" * 20_000, "\r\nX-Evil: 1"])
def test_what_is_no_token_is_refused_in_words_and_can_be_put_right(look: Look, secret: str, wrong: str) -> None:
    page = look("/ask")
    give(page, wrong)
    expect(page.get_by_text("This token is not good")).to_be_visible()
    give(page, secret)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("link", name=HELD)).to_be_visible()


def test_nobody_gets_past_the_question_with_escape(look: Look) -> None:
    page = look("/library")
    dialog = page.get_by_role("dialog", name="This library asks for a token")
    expect(dialog).to_be_visible()
    for _ in range(3):
        page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    assert page.locator("main a[href^='/paper/']").count() == 0


def test_a_token_that_was_taken_back_is_asked_for_anew(look: Look, library: Library, secret: str) -> None:
    page = look("/library")
    give(page, secret)
    expect(page.get_by_role("link", name=HELD)).to_be_visible()
    library.revoke_token("reader")
    page.reload()
    expect(page.get_by_text("This token is not good, or not any more.")).to_be_visible()


def test_a_token_never_stands_in_an_address(look: Look, secret: str) -> None:
    page = look("/library")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    give(page, secret)
    expect(page.get_by_role("link", name=HELD)).to_be_visible()
    assert any("/api/papers" in address for address in asked)
    assert not [address for address in asked if secret in address]


def test_pictures_come_with_the_token_too(look: Look, library: Library, secret: str) -> None:
    (found,) = library.search(PROOF, limit=1).passages
    page = look("/library")
    give(page, secret)
    expect(page.get_by_role("link", name=HELD)).to_be_visible()
    page.goto(f"/proof/{found.chunk.address}")
    picture = page.locator("main img").first
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 100
