"""Health is what every part says when it is put to work, and figures are of what happened."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpx2
import pytest

from carrel.errors import CarrelError, ModelServerUnavailable, StoreUnavailable
from carrel.http.health import Health
from carrel.types import Candidate
from tests.http.serving import Running, changed, running
from tests.saved_answers import opened


class Broken:
    """A reranker that can be repaired."""

    name = "broken"
    is_broken = True

    def score(self, _query: str, candidates: Sequence[Candidate]) -> list[float]:
        if self.is_broken:
            raise ModelServerUnavailable("the reranker is not there", hint="Start it.")
        return [0.5] * len(candidates)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Running]:
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library, running(library) as made:
        yield made


def state(url: str, path: str = "") -> tuple[int, dict[str, bool]]:
    """The status, and which components are healthy; `healthy` and `ready` beside them."""
    answer = httpx2.get(f"{url}/api/health{path}", timeout=30)
    told = answer.json()
    parts = {name: one["healthy"] for name, one in told["components"].items()}
    return answer.status_code, {"healthy": told["healthy"], "ready": told["ready"], **parts}


def test_every_part_is_put_to_work(served: Running) -> None:
    status, told = state(served.url)
    parts = {"embedder", "catalog", "vectors", "keywords", "graph", "reranker", "generator", "jobs"}
    assert (status, told["healthy"], told["ready"]) == (200, True, True)
    assert parts <= set(told)
    assert all(told.values())
    components = httpx2.get(f"{served.url}/api/health").json()["components"]
    assert all(one["latencyMs"] > 0 for one in components.values())
    assert components["vectors"]["message"].endswith("vectors of hashed-words-64-128")


def test_a_dead_reranker_is_not_healthy_though_questions_are_taken(served: Running) -> None:
    library, broken = served.service.library, Broken()
    library.reranker = broken
    status, told = state(served.url)
    assert (status, told["reranker"], told["healthy"]) == (503, False, False)
    message = httpx2.get(f"{served.url}/api/health").json()["components"]["reranker"]["message"]
    assert message == "the reranker is not there. Start it."
    status, told = state(served.url, "/ready")
    assert (status, told["ready"]) == (200, True)
    assert httpx2.get(f"{served.url}/api/health/live").json() == {"alive": True}


def test_without_a_catalog_the_service_is_alive_but_not_ready(served: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost() -> None:
        raise StoreUnavailable("cannot reach the catalog")

    monkeypatch.setattr(served.service.library.stores.catalog, "unfinished", lost)
    status, told = state(served.url, "/ready")
    assert (status, told["ready"], told["catalog"]) == (503, False, False)
    assert httpx2.get(f"{served.url}/api/health/live").status_code == 200


def test_a_service_that_is_about_to_stop_is_not_ready(served: Running) -> None:
    assert state(served.url, "/ready")[0] == 200
    served.service.gate.closed = True
    status, told = state(served.url, "/ready")
    assert (status, told["ready"], told["healthy"]) == (503, False, True)
    served.service.gate.closed = False


def a_health(probe: Callable[[], str], *, fresh: float = 0.0, patience: float = 5.0) -> Health:
    return Health({"part": probe}, frozenset({"part"}), fresh=fresh, patience=patience)


def test_a_part_is_asked_again_only_after_a_while() -> None:
    times = iter(["first", "second"])
    health = a_health(lambda: next(times), fresh=60)
    assert health.report() is health.report()
    assert health.report().components["part"].message == "first"
    health.fresh = 0.0
    assert health.report().components["part"].message == "second"


def test_a_part_that_hangs_is_not_waited_for_nor_asked_twice_and_may_come_back() -> None:
    asked, free = [], threading.Event()

    def hang() -> str:
        asked.append(1)
        free.wait(60)
        return "back"

    health = a_health(hang, patience=0.05)
    start = time.monotonic()
    for _ in range(3):
        component = health.report().components["part"]
        assert (component.healthy, component.message) == (False, "no answer within 0.05 s")
    assert time.monotonic() - start < 20
    assert len(asked) == 1
    free.set()
    health.patience = 5.0
    assert health.report().components["part"].message == "back"


def test_whoever_asks_at_the_same_time_hears_the_same() -> None:
    asked: list[int] = []

    def slow() -> str:
        asked.append(1)
        time.sleep(0.1)
        return "fine"

    health = a_health(slow, fresh=60)
    threads = [threading.Thread(target=health.report) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asked) == 1


def test_a_part_that_fails_in_its_own_way_is_told_as_one_that_fails(served: Running) -> None:
    def odd() -> str:
        raise CarrelError("odd")

    component = a_health(odd).report().components["part"]
    assert (component.healthy, component.message) == (False, "odd")


def figures(url: str) -> dict[str, float]:
    text = httpx2.get(f"{url}/metrics", timeout=30).text
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def test_figures_are_of_what_happened(served: Running) -> None:
    library = served.service.library
    assert httpx2.get(f"{served.url}/api/search", params={"query": "granite"}).status_code == 200
    assert httpx2.get(f"{served.url}/api/papers/nobody").status_code == 404
    answer = library.ask("How hard is granite?")
    library.reranker = Broken()
    library.search("basalt")
    told = figures(served.url)
    assert told['carrel_http_requests_total{method="GET",route="/api/search",status="200"}'] == 1
    assert told['carrel_http_requests_total{method="GET",route="/api/papers/{paper}",status="404"}'] == 1
    assert told['carrel_http_request_seconds_count{method="GET",route="/api/search"}'] == 1
    assert told['carrel_queries_total{kind="answer",strategy="hybrid"}'] == 1
    assert told['carrel_queries_total{kind="search",strategy="hybrid"}'] == 2
    assert told[f'carrel_answers_total{{confidence="{answer.confidence.value}"}}'] == 1
    assert told['carrel_degradations_total{part="rerank"}'] == 1
    assert told['carrel_stage_seconds_count{stage="total"}'] == 3
    assert told['carrel_component_up{component="catalog"}'] == 1
    assert (told["carrel_queries_active"], told["carrel_queries_active_max"]) == (0, 10)
    assert (told["carrel_queries_queued"], told["carrel_queries_queued_max"]) == (0, 30)
    assert (told["carrel_jobs_unfinished"], told["carrel_jobs_running"]) == (0, 0)
    assert told['carrel_questions_total{ended="answered"}'] == 0
    assert told["carrel_uptime_seconds"] > 0


def test_figures_are_kept_also_where_no_history_is(served: Running) -> None:
    library = served.service.library
    library.settings = changed(library.settings, history__enabled=False)
    library.search("basalt")
    assert figures(served.url)['carrel_queries_total{kind="search",strategy="hybrid"}'] == 1


def test_nobody_can_make_the_figures_grow_by_inventing_paths_and_methods(served: Running) -> None:
    for number in range(20):
        httpx2.request(f"METHOD{number}", f"{served.url}/invented/{number}")
        httpx2.get(f"{served.url}/api/papers/invented-{number}")
    counted = [name for name in figures(served.url) if name.startswith("carrel_http_requests_total")]
    assert len(counted) == 2
    assert not any(re.search("invented|METHOD", name) for name in counted)


def test_figures_come_also_when_the_catalog_does_not(served: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost() -> int:
        raise StoreUnavailable("cannot reach the catalog")

    monkeypatch.setattr(served.service.library.stores.catalog.submissions, "waiting", lost)
    monkeypatch.setattr(served.service.library.stores.catalog, "unfinished", lost)
    told = figures(served.url)
    assert "carrel_jobs_unfinished" not in told
    assert told['carrel_component_up{component="catalog"}'] == 0
