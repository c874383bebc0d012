"""Documents over HTTP: handed over, followed, called off, taken out again."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from carrel import Library
from tests.http.serving import running
from tests.jobs.documents import BASALT, GRANITE
from tests.saved_answers import opened

_PATIENCE = 60.0


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARREL_INGEST__ISOLATE", "false")
        with opened(tmp_path_factory.mktemp("ingest")) as made:
            yield made


@pytest.fixture(scope="module")
def client(library: Library) -> Iterator[httpx2.Client]:
    with running(library, upload_megabytes=1) as server, httpx2.Client(base_url=server.url, timeout=30) as asking:
        yield asking


def sent(client: httpx2.Client, text: str, name: str = "granite.md", **fields: str) -> httpx2.Response:
    return client.post("/api/ingest", files={"file": (name, text.encode(), "text/markdown")}, data=fields)


def ended(client: httpx2.Client, job_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        answer = client.get(f"/api/ingest/{job_id}/status")
        assert answer.status_code == 200
        said: dict[str, Any] = answer.json()
        if said["status"] in {"complete", "failed", "cancelled"}:
            return said
        time.sleep(0.05)
    raise AssertionError("the job did not end")


def test_an_upload_is_accepted_followed_found_and_deleted(client: httpx2.Client) -> None:
    answer = sent(client, GRANITE, metadata=json.dumps({"tags": ["rocks"]}))
    assert answer.status_code == 202
    said = answer.json()
    assert (said["status"], said["estimatedChunks"]) == ("queued", 1)
    job = ended(client, said["jobId"])
    assert (job["status"], job["progress"], job["documentId"], job["totalChunks"]) == (
        "complete",
        100,
        said["documentId"],
        1,
    )
    assert "errorMessage" not in job
    listed = client.get("/api/ingest", params={"status": "active"}).json()["documents"]
    (document,) = [one for one in listed if one["documentId"] == said["documentId"]]
    assert (document["title"], document["status"], document["job"]["jobId"]) == ("On granite", "active", said["jobId"])
    again = sent(client, GRANITE, name="other.md")
    assert (again.status_code, again.json()["error"]) == (409, "DOCUMENT_EXISTS")
    forced = sent(client, GRANITE, force="true")
    assert (forced.status_code, forced.json()["documentId"]) == (202, said["documentId"])
    assert ended(client, forced.json()["jobId"])["status"] == "complete"
    gone = client.delete(f"/api/ingest/{said['documentId']}")
    assert (gone.status_code, gone.json()) == (200, {"success": True, "documentId": said["documentId"]})
    archived = client.get("/api/ingest", params={"status": "archived"}).json()["documents"]
    assert [one["documentId"] for one in archived] == [said["documentId"]]


def test_a_path_is_taken_in_and_one_elsewhere_refused(client: httpx2.Client, library: Library) -> None:
    (library.layout.root.parent / "basalt.md").write_text(BASALT)
    accepted = client.post("/api/ingest", json={"documentUrl": "basalt.md", "title": "Dark rocks"})
    assert accepted.status_code == 202
    assert ended(client, accepted.json()["jobId"])["status"] == "complete"
    assert [row.reference.title for row in library.list() if row.reference.title == "Dark rocks"] == ["Dark rocks"]
    for source in ("../../etc/passwd", "/etc/passwd", ".carrel/config.toml", "nowhere.md", "http://127.0.0.1/x.pdf"):
        refused = client.post("/api/ingest", json={"documentUrl": source})
        assert (refused.status_code, refused.json()["error"]) == (400, "INVALID_SOURCE")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "VALIDATION_ERROR"),
        ({"documentUrl": ""}, "VALIDATION_ERROR"),
        ({"documentUrl": "basalt.md", "surprise": 1}, "VALIDATION_ERROR"),
        ({"documentUrl": "basalt.md", "title": "x" * 256}, "VALIDATION_ERROR"),
        ({"documentUrl": "basalt.md", "format": "docx"}, "VALIDATION_ERROR"),
        ({"documentUrl": "basalt.md", "metadata": {"tags": "rocks"}}, "VALIDATION_ERROR"),
        ({"documentUrl": "a\u0000b"}, "INVALID_SOURCE"),
        ([], "VALIDATION_ERROR"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(client: httpx2.Client, body: Any, error: str) -> None:
    answer = client.post("/api/ingest", json=body)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{", "application/json"),
        (b"\xff\xfe", "application/json"),
        (b"", "application/json"),
        (b"no form", "multipart/form-data"),
        (b"no form", "multipart/form-data; boundary=x"),
        (
            b'--x\r\nContent-Disposition: form-data; name="title"\r\n\r\ny\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
    ],
)
def test_a_body_that_cannot_be_read_is_the_clients_fault(client: httpx2.Client, content: bytes, kind: str) -> None:
    answer = client.post("/api/ingest", content=content, headers={"Content-Type": kind})
    assert answer.status_code == 400
    assert answer.json().keys() >= {"error", "message"}


def test_a_file_that_is_too_large_or_unreadable_is_refused(client: httpx2.Client, library: Library) -> None:
    large = sent(client, "x" * 1_100_000)
    assert (large.status_code, large.json()["error"]) == (413, "TOO_LARGE")
    odd = client.post("/api/ingest", files={"file": ("virus.exe", b"MZ", "application/octet-stream")})
    assert (odd.status_code, odd.json()["error"]) == (400, "UNSUPPORTED_FORMAT")
    assert not list(library.layout.uploads.glob(".incoming-*"))


def test_ids_that_are_none_and_ids_of_nothing(client: httpx2.Client) -> None:
    nobody = uuid4()
    answers = {
        client.get("/api/ingest/17/status").json()["error"],
        client.post("/api/ingest/17/cancel").json()["error"],
    }
    assert answers == {"INVALID_JOB_ID"}
    assert client.get(f"/api/ingest/{nobody}/status").json()["error"] == "JOB_NOT_FOUND"
    assert client.post(f"/api/ingest/{nobody}/cancel").status_code == 404
    assert client.delete("/api/ingest/17").json()["error"] == "VALIDATION_ERROR"
    missing = client.delete(f"/api/ingest/{nobody}")
    assert (missing.status_code, missing.json()["message"]) == (404, "Document not found")


def test_a_job_can_be_called_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_INGEST__ISOLATE", "false")
    with (
        opened(tmp_path) as library,
        running(library, jobs__concurrent=0) as server,
        httpx2.Client(base_url=server.url, timeout=30) as client,
    ):
        job_id = sent(client, GRANITE).json()["jobId"]
        assert client.get(f"/api/ingest/{job_id}/status").json()["status"] == "queued"
        assert client.post(f"/api/ingest/{job_id}/cancel").json()["status"] == "cancelled"
        (document,) = client.get("/api/ingest").json()["documents"]
        assert (document["status"], document["errorMessage"]) == ("failed", "cancelled")


def test_pages_of_documents_follow_each_other(client: httpx2.Client) -> None:
    seen: list[str] = []
    cursor = ""
    while True:
        page = client.get("/api/ingest", params={"limit": 1, "cursor": cursor}).json()
        seen += [one["documentId"] for one in page["documents"]]
        cursor = page.get("nextCursor", "")
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == len(client.get("/api/ingest").json()["documents"])
