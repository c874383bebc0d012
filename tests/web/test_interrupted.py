"""A server that goes away in the midst of an answer: what came stays, and is not passed off as the whole."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from carrel import http
from carrel.http.server import Server, listen
from tests.http.asking import QUESTION, TRUE, Halting
from tests.http.serving import running
from tests.saved_answers import opened
from tests.web.asking import answered
from tests.web.conftest import Look

REST = "It melts at about 1,215 degrees, which surprised nobody at all in the laboratory."


@contextmanager
def hanging(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process whose answers never end, and where it listens."""
    command = [sys.executable, "-m", "tests.web.hanging_server", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url, process.communicate()[1]
        yield process, url
    finally:
        process.kill()
        process.communicate()


@contextmanager
def answering(folder: Path, url: str) -> Iterator[None]:
    """Another server at the same address, which answers."""
    with opened(folder, TRUE, f"{REST} [1]\n", **{"answer.threshold": 0.0}) as library:
        server, listening = Server(http.create(library)), listen("127.0.0.1", int(url.rpartition(":")[2]))
        thread = threading.Thread(target=server.run_at, args=[listening])
        thread.start()
        try:
            yield
        finally:
            server.stop()
            thread.join()


@pytest.fixture
def halting(tmp_path: Path) -> Iterator[tuple[str, Halting]]:
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        with running(library) as server:
            yield server.url, generator
            generator.released.set()


def begin(look: Look, url: str) -> Page:
    """A page on which an answer has begun and does not go on."""
    page = look(f"/ask?q={QUESTION}", at=url)
    expect(page.locator(".answer-said")).to_contain_text("Granite is hard.")
    return page


@pytest.mark.troubled
@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
def test_what_came_stays_marked_as_broken_off_and_is_asked_again_once_the_server_is_back(
    look: Look, tmp_path: Path, way: signal.Signals
) -> None:
    with hanging(tmp_path / "first") as (process, url):
        page = begin(look, url)
        process.send_signal(way)
        process.wait(20)
    expect(page.get_by_text("Broken off: this is not the whole answer.")).to_be_visible()
    expect(page.locator(".answer-said")).to_contain_text("Granite is hard.")
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text("This page goes on by itself once it does.")).to_be_visible()
    expect(page.get_by_role("article").get_by_role("alert")).to_contain_text("Carrel does not answer")
    with answering(tmp_path / "second", url):
        expect(page.get_by_text("This page goes on by itself once it does.")).to_have_count(0)
        page.get_by_role("button", name="Ask again").click()
        expect(page.locator(".answer-said")).to_contain_text(REST)
        expect(answered(page, QUESTION).get_by_role("alert")).to_have_count(0)


def test_a_page_loaded_anew_in_the_midst_of_an_answer_asks_again(halting: tuple[str, Halting], look: Look) -> None:
    url, generator = halting
    page = begin(look, url)
    page.reload()
    expect(page.locator(".answer-said")).to_contain_text("Granite is hard.")
    generator.released.set()
    answered(page, QUESTION)
    expect(page.get_by_role("article")).to_have_count(1)
    assert generator.asked == 2


def test_an_answer_goes_on_while_another_view_is_looked_at(halting: tuple[str, Halting], look: Look) -> None:
    url, generator = halting
    page = begin(look, url)
    page.get_by_role("link", name="Library", exact=True).click()
    page.wait_for_url("**/library")
    generator.released.set()
    page.go_back()
    answered(page, QUESTION)
    assert generator.asked == 1
