"""`carrel serve --open`: the page in the user's browser, once it can be seen."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import httpx2
import pytest

from carrel import Library
from tests.http.serving import wait_until
from tests.http.test_shutdown import ENVIRONMENT, process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Library.init(tmp_path / "library") as library:
        return library.layout.root.parent


def test_the_browser_is_shown_the_address_that_is_printed_and_it_answers(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited = tmp_path / "visited"
    browser = tmp_path / "browser.py"
    browser.write_text(
        "import sys, urllib.request\n"
        "status = urllib.request.urlopen(sys.argv[1] + '/api/health/live').status\n"
        f"open({str(visited)!r}, 'w').write(f'{{sys.argv[1]}} {{status}}')\n"
    )
    monkeypatch.setitem(ENVIRONMENT, "BROWSER", f"{sys.executable} {browser} %s")
    with process("-m", "carrel", "-C", str(folder), "serve", "--port", "0", "--open") as (server, url):
        wait_until(lambda: visited.exists() and visited.read_text() != "", seconds=30)
        assert visited.read_text() == f"{url} 200"
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=20)
    assert (server.returncode, out) == (0, "")
    assert err.splitlines() == ["Ctrl-C stops it.", "Stopped."]


@pytest.mark.parametrize("browser", ["/nowhere/at/all %s", f"{sys.executable} -c 'import time;time.sleep(9)'"])
def test_a_browser_that_cannot_be_had_or_never_comes_is_no_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: str
) -> None:
    monkeypatch.setitem(ENVIRONMENT, "BROWSER", browser)
    monkeypatch.setitem(ENVIRONMENT, "PATH", os.devnull)
    with process("-m", "carrel", "-C", str(folder), "serve", "--port", "0", "--open", "--json") as (server, _):
        assert server.stdout is not None
        address = server.stdout.readline().split('"')[3]
        assert httpx2.get(f"{address}/api/health/live").status_code == 200
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=20)
    assert (server.returncode, err) == (0, "Stopped.\n")
