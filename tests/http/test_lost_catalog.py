"""A PostgreSQL that is not there, or is lost while the service runs: said at once, and used again when it is back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from carrel import Library
from carrel.errors import StoreUnavailable
from tests import servers
from tests.http.asking import QUESTION, ask
from tests.http.serving import running, wait_until
from tests.saved_answers import opened


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[servers.Postgresql]:
    monkeypatch.setenv("CARREL_CATALOG_PASSWORD", servers.PASSWORD)
    try:
        with servers.postgresql_to_stop() as started:
            yield started
    except servers.CannotStart as reason:
        pytest.skip(str(reason))


def test_questions_are_answered_again_when_the_catalogs_server_is_back(
    server: servers.Postgresql, tmp_path: Path
) -> None:
    with opened(tmp_path, catalog=server.address, **{"answer.threshold": 0.0}) as library, running(library) as served:
        first = ask(served.url)
        assert (first.status_code, len(first.json()["citations"])) == (200, 2)
        server.stop()
        start = time.monotonic()
        refused = ask(served.url)
        assert time.monotonic() - start < 10
        assert (refused.status_code, refused.json()["error"]) == (503, "STORE_UNAVAILABLE")
        assert servers.PASSWORD not in refused.text
        assert httpx2.post(f"{served.url}/api/query/stream", json={"query": QUESTION}, timeout=30).status_code == 503
        wait_until(lambda: httpx2.get(f"{served.url}/api/health/ready", timeout=30).status_code == 503)
        assert httpx2.get(f"{served.url}/api/health/live", timeout=30).status_code == 200
        server.start()
        again = ask(served.url)
        assert (again.status_code, again.json()["answer"]) == (200, first.json()["answer"])
        wait_until(lambda: httpx2.get(f"{served.url}/api/health/ready", timeout=30).status_code == 200)


def test_a_library_whose_server_is_not_there_says_so_and_works_once_it_is(
    server: servers.Postgresql, tmp_path: Path
) -> None:
    with opened(tmp_path, catalog=server.address):
        pass
    server.stop()
    with Library.open(tmp_path, overrides={"catalog": server.address}) as library:
        with pytest.raises(StoreUnavailable, match=r"cannot use the catalog on .*refused"):
            library.list()
        server.start()
        assert [row.reference.id for row in library.list()] == ["basalt", "granite", "hostile"]
