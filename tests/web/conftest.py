"""The page, looked at in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Page

from carrel import Library
from tests.http.serving import running
from tests.web import browsing
from tests.web.shelf import fill

Look: TypeAlias = Callable[..., Page]


# One for each file: while it runs, nothing else in the process may run an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = browsing.executable()
    if path is None:
        pytest.skip(browsing.MISSING)
    with browsing.chromium(path) as started:
        yield started


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Made once for all the processes that run tests."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "shelf"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            fill(folder.with_name("filling"))
            folder.with_name("filling").rename(folder)
    return folder


@pytest.fixture(scope="module")
def library(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """What tests/web/shelf.py tells, for this file alone."""
    folder = tmp_path_factory.mktemp("own") / "shelf"
    shutil.copytree(filled, folder)
    with Library.open(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def url(library: Library) -> Iterator[str]:
    # The page is many small files: a test that loads it again and again would be told to wait.
    with running(library, requests_per_minute=0) as server:
        yield server.url


@pytest.fixture
def look(browser: Browser, url: str, request: pytest.FixtureRequest) -> Iterator[Look]:
    """`look("/ask?q=…", viewport=PHONE, color_scheme="dark")` opens a view.

    It may ask nobody but its own server, and nothing may go wrong in it, or the test fails in the end. Tests in which
    something is to go wrong are marked `troubled`.
    """
    with ExitStack() as stack:
        opened = []

        def open_view(path: str, at: str = url, **options: object) -> Page:
            page, trouble = stack.enter_context(browsing.looking(browser, at, **options))
            opened.append(trouble)
            page.goto(path)
            return page

        yield open_view
    assert [one for trouble in opened for one in trouble.requests] == []
    if not request.node.get_closest_marker("troubled"):
        assert [one for trouble in opened for one in trouble.errors] == []
