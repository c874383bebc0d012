"""The pages of papers and quotes on them, over HTTP: what the library says, and nothing of where its files lie."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from PIL import Image

from carrel import Library
from carrel.testing import HashedWords
from carrel.types import Box
from carrel.types.service import Scope
from tests.http.conftest import Serve
from tests.http.serving import running
from tests.printed import LINES, QUOTE, Reader, pdf, plain

NOTES = "---\nid: notes/a\ntitle: Notes on stones\n---\n\n# Stones\n\nSome stones are hard, and others are not.\n"
SECOND = ["A second page says little."]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("secret-folder")
    with Library.init(folder, embedder=HashedWords()) as made:
        (folder / "granite.pdf").write_bytes(pdf(LINES, SECOND))
        (folder / "notes.md").write_text(NOTES)
        made.add(folder)
        yield made


@pytest.fixture(scope="module")
def client(library: Library) -> Iterator[httpx2.Client]:
    with running(library, requests_per_minute=0) as served, httpx2.Client(base_url=served.url, timeout=60) as client:
        yield client


def got(client: httpx2.Client, path: str, **parameters: Any) -> Any:
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def place(library: Library, quote: str = QUOTE) -> tuple[str, int, int]:
    chunk = next(one for one in library.stores.catalog.chunks_of(["granite"]) if quote in one.text)
    start = chunk.start + chunk.text.index(quote)
    return chunk.address, start, start + len(quote)


def test_a_paper_has_pages_with_sizes_pictures_and_words(client: httpx2.Client, library: Library) -> None:
    found = got(client, "/api/pages/granite")
    assert (found["paperId"], found["total"]) == ("granite", 2)
    assert found["pages"] == [{"page": number, "width": 400.0, "height": 600.0} for number in (1, 2)]
    answer = client.get("/api/pages/granite/2/image", params={"width": 500})
    assert answer.headers["content-type"] == "image/png"
    with Image.open(io.BytesIO(answer.content)) as image:
        assert image.size == (500, 750)
    words = got(client, "/api/pages/granite/2/words")
    assert (words["page"], words["width"], words["height"]) == (2, 400.0, 600.0)
    assert " ".join(word["text"] for word in words["words"]) == SECOND[0]
    first = words["words"][0]
    assert (first["left"], first["bottom"]) == (pytest.approx(60, abs=1), pytest.approx(100, abs=4))


def test_a_picture_that_is_known_is_not_sent_again(client: httpx2.Client) -> None:
    path = "/api/pages/granite/1/image"
    first = client.get(path)
    assert first.headers["cache-control"] == "private, max-age=0, must-revalidate"
    tag = first.headers["etag"]
    for known in (tag, f'"other", W/{tag}'):
        again = client.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert client.get(path, headers={"If-None-Match": '"other"'}).content == first.content
    assert client.get(path, params={"width": 999}, headers={"If-None-Match": tag}).status_code == 200


def test_the_picture_of_a_version_is_kept_for_ever_and_of_another_is_not(client: httpx2.Client) -> None:
    version = got(client, "/api/pages/granite")["version"]
    meant = client.get("/api/pages/granite/1/image", params={"version": version})
    assert meant.headers["cache-control"] == "private, max-age=31536000, immutable"
    other = client.get("/api/pages/granite/1/image", params={"version": "0" * 32})
    assert other.headers["cache-control"] == "private, max-age=0, must-revalidate"


@pytest.mark.parametrize(
    ("path", "status", "error", "said"),
    [
        ("/api/pages/nobody", 404, "PAPER_NOT_FOUND", "'nobody'"),
        ("/api/pages/notes/a", 404, "NOT_FOUND", "it was read from Markdown"),
        ("/api/pages/notes/a/1/image", 404, "NOT_FOUND", "it was read from Markdown"),
        ("/api/pages/granite/3/image", 404, "NOT_FOUND", "its pages are 1 to 2"),
        ("/api/pages/granite/3/words", 404, "NOT_FOUND", "its pages are 1 to 2"),
        ("/api/pages/granite/0/words", 400, "VALIDATION_ERROR", "page"),
        ("/api/pages/granite/two/image", 400, "VALIDATION_ERROR", "page"),
        ("/api/pages/granite/1/image?width=199", 400, "VALIDATION_ERROR", "width"),
        ("/api/pages/granite/1/image?width=2401", 400, "VALIDATION_ERROR", "width"),
        ("/api/proof/granite", 404, "NOT_FOUND", "whole paper"),
        ("/api/proof/granite/ch1/s0/p99", 404, "NOT_FOUND", "there is no"),
        ("/api/proof/granite/ch0/s0/p0?start=7&end=7", 400, "VALIDATION_ERROR", "no quote from 7 to 7"),
        ("/api/proof/granite/ch0/s0/p0?start=-1", 400, "VALIDATION_ERROR", "start"),
    ],
)
def test_what_cannot_be_shown_is_told_in_a_sentence(
    client: httpx2.Client, path: str, status: int, error: str, said: str
) -> None:
    answer = client.get(path)
    told = answer.json()
    assert (answer.status_code, told["error"]) == (status, error)
    assert said in str(told)
    assert "secret-folder" not in answer.text


def test_a_proof_has_the_quote_on_its_page(client: httpx2.Client, library: Library) -> None:
    address, start, end = place(library)
    found = got(client, f"/api/proof/{address}", start=start, end=end)
    assert (found["quote"], found["start"], found["end"]) == (QUOTE, start, end)
    assert (found["paperId"], found["part"], found["page"], found["hasPages"]) == ("granite", "body", 1, True)
    assert (found["noPages"], found["notice"]) == (None, None)
    assert found["before"].endswith("below the ground. ")
    assert found["after"].startswith(" Nobody in the laboratory")
    boxes = [Box(**box) for box in found["boxes"]]
    assert Reader(library).spelled("granite", boxes) == plain(QUOTE)
    whole = got(client, f"/api/proof/{address}")
    assert whole["quote"] == library.stores.catalog.chunks([address])[0].text


def test_a_proof_from_a_text_without_pages_says_so(client: httpx2.Client) -> None:
    found = got(client, "/api/proof/notes/a/ch1/s0/p0")
    assert found["quote"] == "Some stones are hard, and others are not."
    assert (found["hasPages"], found["page"], found["boxes"]) == (False, None, [])
    assert found["noPages"].startswith("'notes/a' has no pages to show: it was read from Markdown")
    assert found["sectionPath"] == ["Stones"]


def test_an_uploaded_pdf_has_pages(client: httpx2.Client) -> None:
    content = pdf(["Basalt is dark and was handed over by a browser, page by page."])
    sent = client.post("/api/ingest", files={"file": ("basalt.pdf", content, "application/pdf")})
    assert sent.status_code == 202, sent.text
    deadline = time.monotonic() + 60
    while (job := client.get(f"/api/ingest/{sent.json()['jobId']}/status").json())["status"] != "complete":
        assert time.monotonic() < deadline, job
        time.sleep(0.05)
    assert got(client, "/api/pages/basalt")["total"] == 1
    assert client.get("/api/pages/basalt/1/image").content.startswith(b"\x89PNG")


def test_pages_and_proofs_need_the_scope_to_read(library: Library, served: Serve) -> None:
    address, _, _ = place(library)
    _, secret = library.create_token("reader", Scope.READ)
    url = served(library, require_token=True)
    for path in ("pages/granite", "pages/granite/1/image", "pages/granite/1/words", f"proof/{address}"):
        assert httpx2.get(f"{url}/api/{path}").status_code == 401
        allowed = httpx2.get(f"{url}/api/{path}", headers={"Authorization": f"Bearer {secret}"}, timeout=60)
        assert allowed.status_code == 200


def test_a_pdf_that_changed_or_went_is_not_shown_and_the_proof_still_has_its_words(
    client: httpx2.Client, library: Library
) -> None:
    address, start, end = place(library)
    file = library.layout.root.parent / "granite.pdf"
    original, aside = file.read_bytes(), Path(f"{file}.aside")
    try:
        file.write_bytes(pdf(["Something else stands here now."]))
        changed = client.get("/api/pages/granite/1/image")
        file.rename(aside)
        gone = client.get("/api/pages/granite")
        found = got(client, f"/api/proof/{address}", start=start, end=end)
    finally:
        file.write_bytes(original)
    assert (changed.status_code, gone.status_code) == (404, 404)
    assert "has changed since its text was read" in changed.text
    assert "is no longer where it was" in gone.text
    assert (found["quote"], found["hasPages"], found["page"]) == (QUOTE, False, 1)
    assert "secret-folder" not in changed.text + gone.text + str(found)
