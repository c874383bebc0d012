"""The view of how the library is: what works, what is taken in, and how it is used, with what the API says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect

from carrel import Library
from carrel.errors import StoreUnavailable
from carrel.types.service import Scope
from tests.http.serving import running, wait_until
from tests.http.test_health import Broken
from tests.saved_answers import opened
from tests.web.browsing import PHONE
from tests.web.conftest import Look
from tests.web.shelf import QUESTION, UNANSWERABLE

HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def told(url: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    method = "GET" if body is None else "POST"
    answer = httpx2.request(method, f"{url}/api/{path}", json=body, timeout=60).raise_for_status()
    said: dict[str, Any] = answer.json()
    return said


@pytest.fixture
def fresh(library: Library) -> Iterator[str]:
    """A server that has not looked at anything yet."""
    with running(library) as server:
        yield server.url


def test_a_library_that_works_says_so_with_what_there_is(look: Look, url: str) -> None:
    page = look("/health")
    expect(page.get_by_role("status").first).to_contain_text("Everything works, and the index is current.")
    status = told(url, "status")
    for name, key in (("papers", "papers"), ("passages", "chunks"), ("figures", "figures"), ("concepts", "concepts")):
        expect(page.locator(".counts div", has_text=name)).to_have_text(f"{name}{status[key]:,}")
    parts = told(url, "health")["components"]
    expect(page.locator("[data-part]")).to_have_count(len(parts))
    expect(page.locator("[data-part=vectors]")).to_contain_text(parts["vectors"]["message"])
    expect(page.locator(".made")).to_contain_text(status["models"]["embedder"])
    expect(page.locator(".made")).to_contain_text(status["stores"]["keywords"])


@pytest.mark.troubled
def test_a_part_that_does_not_work_is_told_and_so_is_its_return(look: Look, library: Library, fresh: str) -> None:
    reranker, broken = library.reranker, Broken()
    library.reranker = broken
    try:
        page = look("/health", at=fresh)
        verdict = page.locator(".verdict")
        expect(verdict).to_contain_text("The reranker does not work. Answers go on without, and say so.")
        expect(verdict).to_contain_text("the reranker is not there. Start it.")
        expect(page.locator(".part.is-broken")).to_have_attribute("data-part", "reranker")
        broken.is_broken = False
        expect(verdict).to_contain_text("Everything works", timeout=20_000)
    finally:
        library.reranker = reranker


@pytest.mark.troubled
def test_a_library_without_its_catalog_is_broken(
    look: Look, library: Library, fresh: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost() -> None:
        raise StoreUnavailable("cannot reach the catalog")

    monkeypatch.setattr(library.stores.catalog, "unfinished", lost)
    page = look("/health", at=fresh)
    expect(page.locator(".verdict.is-danger")).to_contain_text("Broken: the catalog does not work")
    expect(page.locator(".verdict")).to_contain_text("cannot reach the catalog")


def test_a_stale_index_says_why_and_what_to_do(look: Look, library: Library) -> None:
    refs = library.layout.refs
    before = refs.read_bytes()
    refs.write_bytes(before + b'{"id": "later", "title": "Later", "abstract": ""}\n')
    try:
        verdict = look("/health").locator(".verdict.is-medium")
        expect(verdict).to_contain_text("the index is stale")
        expect(verdict).to_contain_text("Refs.jsonl has changed since it was taken in.")
        expect(verdict).to_contain_text("Run 'carrel index build'.")
    finally:
        refs.write_bytes(before)


def test_documents_are_followed_with_the_reasons_for_failures(look: Look, url: str, library: Library) -> None:
    root = library.layout.root.parent
    (root / "later.md").write_text(f"# On {HOSTILE} and quartz\n\nQuartz is hard.\n", encoding="utf-8")
    (root / "empty.pdf").write_bytes(b"%PDF-1.4 not really")
    page = look("/health")
    expect(page.get_by_text("None yet.")).to_be_visible()
    jobs = [told(url, "ingest", {"documentUrl": name})["jobId"] for name in ("later.md", "empty.pdf")]
    for job in jobs:
        wait_until(lambda: told(url, f"ingest/{job}/status")["status"] in {"complete", "failed"}, 60)  # noqa: B023
    page.reload()
    rows = page.locator(".job")
    expect(rows).to_have_count(2)
    failed = told(url, f"ingest/{jobs[1]}/status")["errorMessage"]
    expect(rows.nth(0)).to_contain_text("empty.pdf")
    expect(rows.nth(0).locator(".job-state")).to_contain_text("failed")
    expect(rows.nth(0).locator(".job-reason")).to_have_text(failed)
    expect(rows.nth(1).locator(".job-state")).to_have_text("taken in")
    expect(rows.nth(1).get_by_role("link")).to_contain_text(HOSTILE)
    assert page.title() != "owned"


def test_a_document_that_waits_can_be_called_off(look: Look, tmp_path: Path) -> None:
    (tmp_path / "waits.md").write_text("# Waiting\n\nIt waits.\n", encoding="utf-8")
    with opened(tmp_path) as idle, running(idle, jobs__concurrent=0) as server:
        job = told(server.url, "ingest", {"documentUrl": "waits.md"})["jobId"]
        page = look("/health", at=server.url)
        expect(page.get_by_role("progressbar", name="waits.md: 0 %")).to_be_visible()
        page.get_by_role("button", name="Call off waits.md").click()
        expect(page.locator(".job-state")).to_have_text("called off")
        assert told(server.url, f"ingest/{job}/status")["status"] == "cancelled"


def used(url: str) -> dict[str, Any]:
    """Ask twice, rate once, search once."""
    answered = told(url, "query", {"query": QUESTION})
    told(url, "query", {"query": UNANSWERABLE})
    told(url, "search?query=lichen")
    told(url, "feedback", {"queryId": answered["queryId"], "rating": 4})
    return told(url, "stats?days=30")


def test_plots_say_the_figures_and_have_them_in_a_table(look: Look, url: str) -> None:
    usage = used(url)
    page = look("/health")
    expect(page.locator(".now").nth(1)).to_contain_text(f"{usage['queries']} queries, {usage['answers']} questions")
    today = usage["byDay"][-1]
    plot = page.get_by_role("img", name="Queries a day")
    expect(plot).to_have_attribute("aria-label", re.compile(re.escape(f"{today['name']} {today['count']}") + "$"))
    expect(plot.locator("rect")).to_have_count(30)
    tallest = plot.locator("rect").last.evaluate("bar => Number(bar.getAttribute('height'))")
    assert tallest == pytest.approx(63)
    levels = {one["name"]: one["count"] for one in usage["confidence"]}
    expect(page.get_by_role("img", name="Confidence of answers")).to_have_attribute(
        "aria-label",
        "Confidence of answers: "
        + ", ".join(f"{name} {levels.get(name, 0)}" for name in ("high", "medium", "low", "insufficient")),
    )
    expect(page.get_by_role("img", name="Ratings, 4.0 on average: 5 0, 4 1, 3 0, 2 0, 1 0")).to_be_visible()
    page.get_by_role("button", name="Table of: Latency").click()
    row = page.get_by_role("row", name="In all")
    expect(row.get_by_role("cell")).to_have_count(3)
    expect(page.locator(".plot-table tbody tr")).to_have_count(len(usage["latency"]))
    page.get_by_role("button", name="Week").click()
    expect(plot.locator("rect")).to_have_count(7)
    expect(page).to_have_url(re.compile("days=7$"))


def test_the_view_is_kept_current_while_it_is_looked_at(look: Look) -> None:
    page = look("/search")
    page.clock.install()
    page.get_by_role("link", name="Health", exact=True).click()
    page.locator(".now").first.wait_for()
    with page.expect_response("**/api/query/status"):
        page.clock.fast_forward(5000)
    page.wait_for_load_state("networkidle")
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true})")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.fast_forward(60_000)
    page.wait_for_timeout(500)
    assert asked == []


@pytest.mark.troubled
def test_who_may_only_read_is_told_quietly_what_is_not_shown(look: Look, tmp_path: Path) -> None:
    with opened(tmp_path) as locked, running(locked, require_token=True) as server:
        _, secret = locked.create_token("reader", Scope.READ)
        page = look("/health", at=server.url)
        page.get_by_role("textbox", name="Token").fill(secret)
        page.get_by_role("button", name="Go on").click()
        expect(page.locator(".verdict")).to_contain_text("Everything works")
        expect(page.get_by_text("what is taken in is shown to those who may write")).to_be_visible()
        expect(page.get_by_text("how the library is used is shown to its admin")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(page.locator(".now")).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_all_of_it(look: Look, url: str, scheme: str) -> None:
    page = look("/health", viewport=PHONE, color_scheme=scheme)
    expect(page.locator("[data-part]").first).to_be_visible()
    page.locator(".now").nth(0).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.troubled
def test_what_was_known_stays_while_the_server_is_away(look: Look) -> None:
    page = look("/health")
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("Everything works")
    page.context.set_offline(True)
    expect(page.get_by_role("alert")).to_contain_text("Carrel does not answer", timeout=10_000)
    expect(verdict).to_contain_text("Everything works")
    page.context.set_offline(False)
    expect(page.get_by_role("alert")).to_have_count(0, timeout=10_000)
