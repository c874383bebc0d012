"""Lists for a table: any part of them, in either direction, filtered as one types; and how the library stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from carrel import Library
from carrel.errors import StoreUnavailable
from carrel.testing import HashedWords
from carrel.types.service import Scope
from tests.http.asking import got
from tests.http.conftest import Serve
from tests.http.door import bearer
from tests.http.reading import ROCKS, shelf, written_into
from tests.http.serving import running, visited
from tests.saved_answers import put_records, record

AUTHORS = (
    {"first": "Zoë", "last": "Ångström"},
    {"first": "王", "last": "伟"},
    {"first": "Ann-Marie", "last": "O'Neil"},
)
TITLES = ("Über Graphs", "deep-learning of trees", "Deep seas", "ÉTUDES", "<b>bold</b>", "100% of 2020", "—")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.init(tmp_path_factory.mktemp("table"), embedder=HashedWords()) as made:
        records = [
            record(
                f"p{number}/x",
                f"An abstract of paper number {number}, long enough to be one.",
                title=title,
                authors=[AUTHORS[number % 3]],
                published={"year": 2000 + number} if number else {"year": 0},
                venue=("ACL", "ACL", "NeurIPS", "Nature", "")[number % 5],
            )
            for number, title in enumerate(TITLES)
        ]
        put_records(made, *records)
        yield made


@pytest.fixture(scope="module")
def client(library: Library) -> Iterator[httpx2.Client]:
    with visited(library) as client:
        yield client


def listed(client: httpx2.Client, **asked: Any) -> str:
    return "".join(one["id"][1] for one in got(client, "/api/papers", **asked)["papers"])


@pytest.mark.parametrize(
    ("sort", "order", "ids"),
    [
        ("id", None, "0123456"),
        ("id", "desc", "6543210"),
        ("year", None, "6543210"),
        ("year", "asc", "1234560"),
        ("title", "asc", "6542130"),
        ("title", "desc", "0312456"),
        ("added", "asc", "0123456"),
        ("added", None, "6543210"),
    ],
)
def test_a_table_is_sorted_either_way_and_what_has_no_year_is_last(
    client: httpx2.Client, sort: str, order: str | None, ids: str
) -> None:
    asked = {"sort": sort} | ({"order": order} if order else {})
    assert listed(client, **asked) == ids
    parts = [listed(client, **asked, offset=offset, limit=2) for offset in range(0, 8, 2)]
    assert "".join(parts) == ids


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", "0123456"),
        ("  ", "0123456"),
        ("uber", "0"),
        ("ÜBER graph", "0"),
        ("deep learning", "1"),
        ("deep-learning", "1"),
        ("tree DEEP", "1"),
        ("etudes", "3"),
        ("angstrom", "036"),
        ("Ångström zoe", "036"),
        ("伟", "14"),
        ("o'neil", "25"),
        ("marie 2020", "5"),
        ("p4", "4"),
        ("p4/x", "4"),
        ("bold</b>", "4"),
        ("%", ""),
        ("!!", ""),
        ("deep nothing", ""),
        ("stone", ""),
    ],
)
def test_a_filter_finds_words_of_title_authors_and_id_however_they_are_typed(
    client: httpx2.Client, query: str, ids: str
) -> None:
    told = got(client, "/api/papers", query=query)
    assert ("".join(one["id"][1] for one in told["papers"]), told["total"]) == (ids, len(ids))


def test_an_offset_leads_on_by_cursor_and_beyond_the_end_there_is_nothing(client: httpx2.Client) -> None:
    page = got(client, "/api/papers", offset=3, limit=2)
    assert (page["total"], [one["id"] for one in page["papers"]]) == (7, ["p3/x", "p4/x"])
    following = got(client, "/api/papers", limit=2, cursor=page["nextCursor"])
    assert [one["id"] for one in following["papers"]] == ["p5/x", "p6/x"]
    beyond = got(client, "/api/papers", offset=1_000_000)
    assert (beyond["papers"], beyond["total"], beyond["nextCursor"]) == ([], 7, None)


@pytest.mark.parametrize(
    "asked",
    [
        {"offset": -1},
        {"offset": 1_000_001},
        {"offset": "x"},
        {"order": "down"},
        {"sort": "venue"},
        {"query": "x" * 501},
        {"query": "a\x00b"},
    ],
)
def test_what_cannot_be_listed_is_refused(client: httpx2.Client, asked: dict[str, Any]) -> None:
    assert client.get("/api/papers", params=asked).status_code == 400


def test_a_cursor_and_an_offset_are_not_taken_together(client: httpx2.Client) -> None:
    cursor = got(client, "/api/papers", limit=2)["nextCursor"]
    told = client.get("/api/papers", params={"limit": 2, "cursor": cursor, "offset": 2})
    assert (told.status_code, told.json()["message"]) == (400, "offset and cursor each say where to begin")


def test_venues_are_counted_the_most_used_first(client: httpx2.Client) -> None:
    told = got(client, "/api/venues")
    assert told == {
        "venues": [
            {"venue": "ACL", "papers": 4},
            {"venue": "Nature", "papers": 1},
            {"venue": "NeurIPS", "papers": 1},
        ],
        "total": 3,
    }
    assert got(client, "/api/venues", query="ne", limit=1) == {
        "venues": [{"venue": "NeurIPS", "papers": 1}],
        "total": 1,
    }
    assert client.get("/api/venues", params={"limit": 101}).status_code == 400


def test_what_another_process_changes_is_in_the_next_list(tmp_path: Path) -> None:
    with shelf(tmp_path) as library, visited(library) as client:
        assert got(client, "/api/papers", query="granite")["total"] == 1
        with Library.open(tmp_path, embedder=HashedWords()) as other:
            records = [json.loads(line) for line in other.layout.refs.read_text().splitlines()]
            renamed = [one | {"title": "Granit"} if one["id"] == "granite" else one for one in records[:-1]]
            put_records(other, *renamed, record("tuff", "Tuff is made of ash, and nobody builds with it any more."))
        assert got(client, "/api/papers", query="granit")["papers"][0]["title"] == "Granit"
        assert got(client, "/api/papers", query="tuff")["total"] == 1
        assert got(client, "/api/papers", query=ROCKS[-1])["total"] == 0
        assert {"tag": ROCKS[-1][0], "papers": 1} not in got(client, "/api/tags")["tags"]


def test_the_path_is_the_librarys_own(tmp_path: Path) -> None:
    with shelf(tmp_path) as library, visited(library) as client:
        written = written_into(library)
        written.paper("trees", "Lazy propagation | needs | Segment tree", "Segment tree | needs | Recursion")
        told = got(client, "/api/path", name="lazy propagation")
        assert (told["concept"], told["setAside"]) == ("Lazy propagation", [])
        assert [(one["step"], one["name"]) for one in told["steps"]] == [
            (1, "Recursion"),
            (2, "Segment tree"),
            (3, "Lazy propagation"),
        ]
        (reason,) = told["steps"][0]["because"]
        assert (reason["said"], reason["predicate"]) == ("Recursion is needed for Segment tree", "PREREQUISITE")
        assert reason["evidence"][0]["text"] == "Segment tree needs Recursion."
        assert (told["steps"][1]["read"]["paperId"], told["steps"][2]["because"]) == ("trees", [])
        assert len(got(client, "/api/path", name="lazy propagation", limit=1)["steps"]) == 2
        assert client.get("/api/path", params={"name": "phlogiston"}).status_code == 404
        assert client.get("/api/path").status_code == 400


def test_the_status_says_how_much_there_is_and_why_the_index_is_stale(tmp_path: Path) -> None:
    with shelf(tmp_path) as library, visited(library) as client:
        told = got(client, "/api/status")
        assert (told["healthy"], told["state"], told["reasons"], told["hint"]) == (True, "ready", [], "")
        assert (told["papers"], told["figures"]) == (8, 2)
        assert told["chunks"] + told["figures"] == len(library.stores.catalog.addresses())
        assert told["concepts"] == library.concepts().total
        assert told["models"] == {"embedder": "hashed-words-64-128", "reranker": "fused", "generator": "extractive"}
        assert told["stores"] == {"catalog": "sqlite", "vectors": "flat", "keywords": "tantivy", "graph": "sqlite"}
        assert told["library"] == tmp_path.name
        with library.layout.refs.open("a") as refs:
            refs.write(json.dumps(record("tuff", "Tuff is made of ash, and nobody builds with it any more.")) + "\n")
        library.stores.catalog.reopen(["granite"])
        told = got(client, "/api/status")
        assert (told["healthy"], told["state"], told["hint"]) == (False, "stale", "Run 'carrel index build'.")
        assert told["reasons"] == ["1 paper is not indexed yet", "refs.jsonl has changed since it was taken in"]
        assert str(tmp_path) not in str(told)


def test_a_graph_that_is_down_hides_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def down() -> None:
        raise StoreUnavailable("no graph")

    with shelf(tmp_path) as library, running(library) as served:
        monkeypatch.setattr(library.stores.graph, "size", down)
        told = httpx2.get(f"{served.url}/api/status").json()
        assert (told["concepts"], told["papers"]) == (None, 8)


def test_readers_may_ask_all_of_these(library: Library, served: Serve) -> None:
    url = served(library, require_token=True)
    _, secret = library.create_token("reader", Scope.READ)
    paths = ("papers?offset=1", "venues", "status", "path?name=x", "export?paper=p1/x", "citations/p1/x")
    for path in (*paths, f"answers/{'0' * 32}/bundle"):
        assert httpx2.get(f"{url}/api/{path}").status_code == 401, path
        assert httpx2.get(f"{url}/api/{path}", headers=bearer(secret)).status_code in {200, 404}, path


def test_a_retracted_paper_is_called_so_in_the_list_and_alone(tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=HashedWords()) as made:
        put_records(made, record("fallen", "An abstract that was taken back later.", tags=["retracted"]))
        with visited(made) as client:
            listed = got(client, "/api/papers")["papers"][0]
            assert listed["notice"] == got(client, "/api/papers/fallen")["notice"] == "RETRACTED"
