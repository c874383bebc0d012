"""Ratings and statistics over HTTP."""

from __future__ import annotations

import httpx2
import pytest

from carrel import Library
from carrel.types.service import Scope
from tests.http.conftest import Serve

QUESTION = "How hard is granite, and when does it melt?"


@pytest.fixture
def url(library: Library, served: Serve) -> str:
    return served(library)


def test_an_answer_is_rated_once_and_the_rating_can_be_read(library: Library, url: str) -> None:
    asked = httpx2.post(f"{url}/api/query", json={"query": QUESTION}).json()
    said = {"queryId": asked["queryId"], "rating": 4, "comment": "Found it."}
    first = httpx2.post(f"{url}/api/feedback", json=said)
    assert (first.status_code, first.json()["success"]) == (201, True)
    second = httpx2.post(f"{url}/api/feedback", json={**said, "rating": 1})
    assert (second.status_code, second.json()["error"]) == (409, "FEEDBACK_EXISTS")
    kept = httpx2.get(f"{url}/api/feedback/{asked['queryId']}").json()
    assert (kept["feedbackId"], kept["rating"], kept["comment"]) == (first.json()["feedbackId"], 4, "Found it.")
    assert library.statistics().mean_rating == 4.0


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"rating": 0}, "rating"),
        ({"rating": 6}, "rating"),
        ({"rating": "4"}, "rating"),
        ({"rating": 3.5}, "rating"),
        ({"queryId": ""}, "queryId"),
        ({"queryId": "a/b"}, "queryId"),
        ({"comment": "x" * 2001}, "comment"),
        ({"stars": 5}, "stars"),
    ],
)
def test_what_is_no_rating_is_told_by_its_field(url: str, changed: dict[str, object], field: str) -> None:
    told = httpx2.post(f"{url}/api/feedback", json={"queryId": "0" * 32, "rating": 3, **changed})
    assert (told.status_code, told.json()["error"]) == (400, "VALIDATION_ERROR")
    assert [fault["field"] for fault in told.json()["details"]] == [field]


def test_what_was_never_asked_or_never_rated_is_not_found(library: Library, url: str) -> None:
    told = httpx2.post(f"{url}/api/feedback", json={"queryId": "0" * 32, "rating": 3})
    assert (told.status_code, told.json()["error"]) == (404, "QUERY_NOT_FOUND")
    assert httpx2.get(f"{url}/api/feedback/{'0' * 32}").json()["error"] == "QUERY_NOT_FOUND"
    asked = library.ask(QUESTION).query_id
    unrated = httpx2.get(f"{url}/api/feedback/{asked}")
    assert (unrated.status_code, unrated.json()["error"]) == (404, "NOT_FOUND")


def test_the_statistics_are_those_of_the_library(library: Library, url: str) -> None:
    httpx2.post(f"{url}/api/query", json={"query": QUESTION, "sessionId": "7f1b5d0e-9a4c-4f0f-8f5e-3d0c6a4b2e11"})
    httpx2.get(f"{url}/api/search", params={"query": "granite"})
    told, found = httpx2.get(f"{url}/api/stats", params={"days": 1}).json(), library.statistics(1)
    assert (told["queries"], told["answers"], told["sessions"], told["days"]) == (2, 1, 1, 1)
    assert told["latency"] == found.latency
    assert told["byDay"] == [{"name": share.name, "count": share.count} for share in found.by_day]
    assert (told["meanRating"], told["unansweredQuestions"]) == (None, [])


@pytest.mark.parametrize("days", ["-1", "x", "36501"])
def test_days_are_a_number_of_days(url: str, days: str) -> None:
    assert httpx2.get(f"{url}/api/stats", params={"days": days}).status_code == 400


def test_readers_rate_and_admins_count(library: Library, served: Serve) -> None:
    url = served(library, require_token=True)
    asked = library.ask(QUESTION).query_id
    codes = {}
    for scope in Scope:
        _, secret = library.create_token(scope.value, scope)
        header = {"Authorization": f"Bearer {secret}"}
        rated = httpx2.post(f"{url}/api/feedback", json={"queryId": asked, "rating": 3}, headers=header).status_code
        codes[scope.value] = (rated, httpx2.get(f"{url}/api/stats", headers=header).status_code)
    assert codes == {"read": (201, 403), "write": (409, 403), "admin": (409, 200)}
