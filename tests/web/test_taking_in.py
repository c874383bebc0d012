"""Papers come in by drag and drop: sent, followed to their end, refused with the reason, called off, tried again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from carrel import Library
from carrel.testing import HashedWords
from tests.http.serving import running
from tests.jobs.documents import BASALT, GRANITE, long_text
from tests.web.browsing import PHONE
from tests.web.conftest import Look
from tests.web.test_accessible import grave

DROP = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, text] of files) transfer.items.add(new File([text], name));
  return transfer;
}"""
STEPS = ("queued", "chunking", "embedding", "extracting")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """One that is empty, reads in this process, and embeds at no cost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARREL_INGEST__ISOLATE", "false")
        with Library.init(tmp_path_factory.mktemp("new"), embedder=HashedWords()) as made:
            yield made


def drag(page: Page, kind: str, *files: tuple[str, str]) -> None:
    transfer = page.evaluate_handle(DROP, [list(file) for file in files])
    page.dispatch_event("main", kind, {"dataTransfer": transfer})


def drop(page: Page, *files: tuple[str, str]) -> None:
    drag(page, "drop", *files)


def opened(look: Look, **options: Any) -> Page:
    page = look("/library", **options)
    expect(page.get_by_role("heading", level=1, name="Library")).to_be_visible()
    return page


def entry(page: Page, name: str) -> Any:
    return page.get_by_role("region", name="Documents being taken in").get_by_role("listitem").filter(has_text=name)


def file_in(route: Route) -> str:
    """The name of the file that is being sent."""
    name = re.search(rb'filename="(.*?)"', route.request.post_data_buffer or b"")
    assert name, "no file is being sent"
    return name[1].decode()


def test_an_empty_library_says_how_to_begin_and_takes_what_is_dropped(look: Look, url: str) -> None:
    page = opened(look)
    expect(page.get_by_text("Nothing here yet")).to_be_visible()
    expect(page.get_by_text("carrel add PATH")).to_be_visible()
    drag(page, "dragenter", ("granite.md", GRANITE))
    expect(page.get_by_text("Let go to add them to the library")).to_be_visible()
    drop(page, ("granite.md", GRANITE))
    expect(page.get_by_text("Let go to add them to the library")).to_have_count(0)
    expect(entry(page, "On granite")).to_contain_text("In the library", timeout=30_000)
    expect(page.locator(".library-row[data-index]")).to_have_count(1)
    expect(page.locator(".holding")).to_have_text("1 paper")
    entry(page, "On granite").get_by_role("link", name="On granite").click()
    expect(page.get_by_role("heading", level=1, name="On granite")).to_be_visible()
    assert httpx2.get(f"{url}/api/papers").json()["papers"][0]["title"] == "On granite"


@pytest.mark.troubled
def test_files_are_chosen_too_and_one_that_is_known_is_read_again_on_demand(look: Look) -> None:
    page = opened(look)
    payload: list[FilePayload] = [
        {"name": "basalt.md", "mimeType": "text/markdown", "buffer": BASALT.encode()},
        {"name": "copy.md", "mimeType": "text/markdown", "buffer": GRANITE.encode()},
    ]
    page.locator("input[type=file]").first.set_input_files(payload)
    expect(entry(page, "On basalt")).to_contain_text("In the library", timeout=30_000)
    known = entry(page, "copy.md")
    expect(known.locator(".tray-words")).to_have_text(re.compile("already|exists|known"))
    known.get_by_role("button", name="Read it again").click()
    expect(entry(page, "On granite")).to_contain_text("In the library", timeout=30_000)
    expect(page.locator(".library-row[data-index]")).to_have_count(2)


def test_what_cannot_be_read_is_refused_before_it_is_sent_and_says_why(look: Look) -> None:
    page = opened(look)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    drop(page, ("notes.docx", "x"), ("refs.bib", "@article{x}"), ("nothing.md", ""))
    expect(entry(page, "notes.docx")).to_contain_text("Nothing reads .docx documents")
    expect(entry(page, "notes.docx")).to_contain_text("PDF, Markdown")
    expect(entry(page, "refs.bib")).to_contain_text("Lists of references are read by 'carrel add'")
    expect(entry(page, "nothing.md")).to_contain_text("The file is empty")
    assert sent == []
    assert grave(page) == []
    page.get_by_role("button", name="Clear the list").click()
    expect(page.get_by_role("region", name="Documents being taken in")).to_have_count(0)


def test_a_file_that_fails_says_why_in_the_servers_words_and_can_be_tried_again(look: Look, url: str) -> None:
    page = opened(look)
    drop(page, ("broken.pdf", "%PDF-1.4 and then nothing of the kind"))
    failed = entry(page, "broken.pdf")
    expect(failed.get_by_role("button", name="Try again")).to_be_visible(timeout=30_000)
    documents = httpx2.get(f"{url}/api/ingest", params={"status": "failed"}).json()["documents"]
    assert documents[0]["job"]["errorMessage"]
    expect(failed.locator(".tray-words")).to_have_text(documents[0]["job"]["errorMessage"])
    failed.get_by_role("button", name="Try again").click()
    expect(failed.get_by_role("button", name="Try again")).to_be_visible(timeout=30_000)
    again = httpx2.get(f"{url}/api/ingest", params={"status": "failed"}).json()["documents"]
    assert again[0]["job"]["jobId"] != documents[0]["job"]["jobId"]


def test_progress_is_followed_in_other_views_and_after_a_reload(look: Look, url: str) -> None:
    page = opened(look)
    held = {"step": 1, "progress": 40}

    def slowly(route: Route) -> None:
        answer = route.fetch()
        job = answer.json()
        if held["step"] < len(STEPS):
            job |= {"status": STEPS[held["step"]], "currentStep": "embed", "progress": held["progress"]}
        route.fulfill(response=answer, body=json.dumps(job))

    page.context.route("**/api/ingest/*/status", slowly)
    drop(page, ("treatise.md", long_text(3, "slate")))
    expect(entry(page, "treatise.md")).to_contain_text("Embedding")
    bar = entry(page, "treatise.md").get_by_role("progressbar")
    expect(bar).to_have_attribute("aria-valuenow", "49")
    held["progress"] = 60
    expect(bar).to_have_attribute("aria-valuenow", "66")
    page.get_by_role("link", name="Health", exact=True).click()
    tray = page.get_by_role("region", name="Documents being taken in")
    expect(tray.get_by_role("button", expanded=False)).to_contain_text("Taking in 1 of 1")
    page.reload()
    expect(tray).to_contain_text("Taking in 1 of 1")
    tray.get_by_role("button", expanded=False).click()
    expect(entry(page, "treatise.md")).to_contain_text("Embedding")
    held["step"] = len(STEPS)
    expect(entry(page, "A treatise on slate")).to_contain_text("In the library", timeout=30_000)
    assert "A treatise on slate" in [one["title"] for one in httpx2.get(f"{url}/api/papers").json()["papers"]]


def test_a_job_is_called_off_while_it_waits(look: Look, library: Library, url: str) -> None:
    page = opened(look)
    expect(page.locator(".library-row[data-index]").first).to_be_visible()
    held: dict[str, Route] = {}  # two that are sent at once may leave the browser in either order

    def hold(route: Route) -> None:
        held[file_in(route)] = route

    page.route("**/api/ingest", hold)
    drop(page, ("one.md", "# One\n\nThe first of them."), ("two.md", "# Two\n\nThe second."), ("three.md", "# 3\n\nx"))
    for _ in range(500):
        if len(held) < 2:
            page.wait_for_timeout(20)
    expect(entry(page, "three.md")).to_contain_text("Waits to be sent")
    entry(page, "three.md").get_by_role("button", name="Call off three.md").click()
    expect(entry(page, "three.md")).to_contain_text("Called off")
    entry(page, "one.md").get_by_role("button", name="Call off one.md").click()
    expect(entry(page, "one.md")).to_contain_text("Called off")
    assert held.keys() == {"one.md", "two.md"}
    before = len(library.list())
    held["two.md"].continue_()
    expect(entry(page, "Two")).to_contain_text("In the library", timeout=30_000)
    assert len(library.list()) == before + 1
    assert not {"One", "3"} & {one["title"] for one in httpx2.get(f"{url}/api/papers").json()["papers"]}


def test_a_running_job_is_called_off_at_the_server(look: Look) -> None:
    page = opened(look)
    called: list[str] = []

    def status(route: Route) -> None:
        over = "cancelled" if called else "embedding"
        job = {"jobId": "j", "documentId": "d", "status": over, "currentStep": "embed", "progress": 50}
        route.fulfill(json=job)

    def cancel(route: Route) -> None:
        called.append(route.request.url)
        route.fulfill(json={})

    page.route("**/api/ingest/*/status", status)
    page.route("**/api/ingest/*/cancel", cancel)
    drop(page, ("slow.md", "# Slow\n\nIt takes its time."))
    expect(entry(page, "slow.md")).to_contain_text("Embedding")
    entry(page, "slow.md").get_by_role("button", name="Call off slow.md").click()
    expect(entry(page, "slow.md")).to_contain_text("Called off")
    assert len(called) == 1


def test_a_folder_is_gone_through_and_what_is_not_of_ours_is_named(look: Look, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "gneiss.md").write_text("# On gneiss\n\nGneiss has bands.", encoding="utf-8")
    (folder / "photo.jpg").write_bytes(b"x")
    (folder / ".hidden.md").write_text("# Hidden\n\nx", encoding="utf-8")
    page = opened(look)
    page.locator("input[webkitdirectory]").set_input_files(folder)
    expect(entry(page, "On gneiss")).to_contain_text("In the library", timeout=30_000)
    expect(entry(page, "of other kinds left out")).to_contain_text(".jpg")
    expect(page.get_by_text("Hidden", exact=True)).to_have_count(0)


@pytest.mark.troubled
def test_a_server_that_is_away_is_waited_for(look: Look) -> None:
    page = opened(look)
    page.route("**/api/ingest", lambda route: route.abort())
    drop(page, ("chalk.md", "# On chalk\n\nChalk is soft and white."))
    expect(entry(page, "chalk.md")).to_contain_text("Carrel does not answer")
    page.unroute("**/api/ingest")
    entry(page, "chalk.md").get_by_role("button", name="Try again").click()
    expect(entry(page, "On chalk")).to_contain_text("In the library", timeout=30_000)


@pytest.mark.troubled
def test_a_file_that_is_too_large_is_told_so(look: Look, tmp_path_factory: pytest.TempPathFactory) -> None:
    with (
        Library.init(tmp_path_factory.mktemp("small"), embedder=HashedWords()) as own,
        running(own, upload_megabytes=1) as server,
    ):
        page = opened(look, at=server.url)
        drop(page, ("huge.md", "# Huge\n\n" + "x" * 1_500_000))
        expect(entry(page, "huge.md")).to_contain_text("has more than 1100000 bytes")


def test_hostile_names_are_text_and_on_a_phone_the_tray_stays_in_its_place(look: Look) -> None:
    page = opened(look, viewport=PHONE)
    name = "<img src=x onerror=alert(1)>" + "long" * 40 + ".docx"
    drop(page, (name, "x"))
    expect(entry(page, name)).to_contain_text("Nothing reads .docx documents")
    box = page.get_by_role("region", name="Documents being taken in").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
