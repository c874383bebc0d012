"""Answers that were given, as files for who asked."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from carrel import Library
from carrel.errors import QueryNotFound
from carrel.http.given import Given
from carrel.types.service import Scope
from tests.http.asking import QUESTION, ask, streamed
from tests.http.conftest import Serve
from tests.http.door import bearer
from tests.saved_answers import GRANITE, answer, opened

KINDS = {"html": "text/html; charset=utf-8", "json": "application/json", "markdown": "text/markdown; charset=utf-8"}
SUFFIXES = {"html": ".html", "json": ".json", "markdown": ".md"}


def bundle(url: str, query_id: str, **asked: str) -> httpx2.Response:
    return httpx2.get(f"{url}/api/answers/{query_id}/bundle", params=asked)


@pytest.mark.parametrize("form", list(KINDS))
def test_an_answer_is_downloaded_as_a_file_that_can_be_verified(
    library: Library, served: Serve, tmp_path: Path, form: str
) -> None:
    url = served(library)
    told = ask(url).json()
    got = bundle(url, told["queryId"], format=form)
    assert (got.status_code, got.headers["content-type"]) == (200, KINDS[form])
    name = f"how-hard-is-granite-and-at-how-many-degrees-does-it-melt{SUFFIXES[form]}"
    assert got.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["content-security-policy"].endswith("sandbox")
    saved = tmp_path / name
    saved.write_bytes(got.content)
    verified = library.verify(saved)
    assert verified.ok
    assert [one.address for one in verified.answers[0].citations] == [one["address"] for one in told["citations"]] != []


def test_a_streamed_answer_is_kept_too_and_a_page_is_the_default(library: Library, served: Serve) -> None:
    url = served(library)
    done = json.loads(streamed(url)[-1].data)
    got = bundle(url, done["queryId"])
    assert got.text.startswith("<!doctype html>")
    assert QUESTION in got.text


def test_who_did_not_ask_is_told_that_there_is_no_such_answer(library: Library, served: Serve) -> None:
    url = served(library, require_token=True)
    tokens = {name: bearer(library.create_token(name, Scope.READ)[1]) for name in ("ada", "eve")}
    asked = httpx2.post(f"{url}/api/query", json={"query": QUESTION}, headers=tokens["ada"]).json()["queryId"]
    codes = {}
    for name, header in tokens.items():
        got = httpx2.get(f"{url}/api/answers/{asked}/bundle?format=json", headers=header)
        codes[name] = (got.status_code, got.json().get("error"))
    assert codes == {"ada": (200, None), "eve": (404, "QUERY_NOT_FOUND")}


def test_settings_of_the_server_are_told_to_its_user_alone(library: Library, served: Serve) -> None:
    url = served(library, serve__port=8123)
    _, secret = library.create_token("ada", Scope.READ)
    told = {}
    for name, header in {"local": {}, "ada": bearer(secret)}.items():
        asked = httpx2.post(f"{url}/api/query", json={"query": QUESTION}, headers=header).json()["queryId"]
        got = httpx2.get(f"{url}/api/answers/{asked}/bundle?format=json", headers=header)
        told[name] = got.json()["made"]["settings"]
    assert (told["local"]["serve.port"], told["ada"]) == (8123, {})


@pytest.mark.parametrize(
    ("query_id", "form", "status"), [("0" * 32, "html", 404), ("a b", "html", 400), ("0", "pdf", 400)]
)
def test_what_is_no_answer_or_no_format_is_refused(
    library: Library, served: Serve, query_id: str, form: str, status: int
) -> None:
    assert bundle(served(library), query_id, format=form).status_code == status


def test_an_answer_whose_paper_is_gone_is_not_passed_off_as_proved(library: Library, served: Serve) -> None:
    url = served(library)
    asked = ask(url).json()
    library.remove(*{one["paperId"] for one in asked["citations"]})
    got = bundle(url, asked["queryId"])
    assert (got.status_code, got.json()["error"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("question", "name"),
    [("../../etc/passwd", "etc-passwd"), ('a"; x="\r\nSet-Cookie: b', "a-x-set-cookie-b"), ("是什么？", "answer")],
)
def test_a_question_steers_no_name_of_a_file(library: Library, served: Serve, question: str, name: str) -> None:
    url = served(library)
    got = bundle(url, ask(url, question).json()["queryId"])
    assert got.headers["content-disposition"] == f'attachment; filename="{name}.html"'
    assert "set-cookie" not in got.headers


def test_the_oldest_make_room_and_an_hour_is_the_end(tmp_path: Path) -> None:
    with opened(tmp_path) as library:
        made = [answer(library, ("granite", "Granite is hard."), query_id=f"{n}") for n in range(4)]
    by_count, by_size = Given(most=2), Given(characters=3 * len(GRANITE))
    for one in made:
        by_count.add("ada", one)
        by_size.add("ada", one)
    for given in (by_count, by_size):
        assert given.find("ada", "3") is made[3]
        for user, query_id in (("ada", "0"), ("ada", "1"), ("eve", "3")):
            with pytest.raises(QueryNotFound, match="of yours from the last hour"):
                given.find(user, query_id)
    brief = Given(seconds=0.0)
    brief.add("ada", made[0])
    with pytest.raises(QueryNotFound):
        brief.find("ada", "0")


def test_one_that_is_too_large_is_not_kept_and_drives_no_other_out(tmp_path: Path) -> None:
    with opened(tmp_path) as library:
        small = answer(library, ("granite", "Granite is hard."), query_id="small")
        large = answer(library, *[("granite", "Granite is hard.")] * 9, query_id="large")
    given = Given(characters=3 * len(GRANITE))
    given.add("ada", small)
    given.add("ada", large)
    assert given.find("ada", "small") is small
    with pytest.raises(QueryNotFound):
        given.find("ada", "large")
