"""What papers cite, who cites them, and how to cite them, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from carrel import Library
from carrel.testing import HashedWords
from carrel.types import Author, Cited
from tests.full_papers import paper, put, reference
from tests.http.asking import got
from tests.http.serving import running, visited
from tests.saved_answers import put_records, record

MANY = tuple(Cited(f"[{n}] Work {n}.", f"The work that has number {n}") for n in range(7))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """`great` is cited by three papers and cites seven works, `slash/a` among them."""
    with Library.init(tmp_path_factory.mktemp("citing"), embedder=HashedWords()) as made:
        known = Cited("[8] A.", "Other trees entirely", "", 2001)
        great = reference("great", "A great work on graphs", doi="10.1000/great")
        others = [reference("slash/a", "Other trees entirely"), reference("b", "Trees of others"), reference()]
        put(made, paper(great, cited=(*MANY, known)), *map(paper, others))
        yield made


@pytest.fixture(scope="module")
def client(library: Library) -> Iterator[httpx2.Client]:
    with visited(library) as client:
        yield client


def test_both_directions_are_told_with_what_the_library_has(client: httpx2.Client) -> None:
    told = got(client, "/api/citations/great")
    assert (told["paperId"], told["title"]) == ("great", "A great work on graphs")
    assert (told["cited"], told["inLibrary"], told["citing"]) == (8, 1, 3)
    assert told["cites"][7] == {
        "position": 7,
        "text": "[8] A.",
        "title": "Other trees entirely",
        "year": 2001,
        "doi": "",
        "paperId": "slash/a",
    }
    assert told["cites"][0]["paperId"] is None
    assert [one["paperId"] for one in told["citedBy"]] == ["b", "slash/a", "trees"]
    assert told["citedBy"][0] == {
        "paperId": "b",
        "title": "Trees of others",
        "authors": ["Tim Yu", "Ana Müller"],
        "authorCount": 2,
        "year": 2021,
        "entry": "Smith. A great work on graphs. 2019.",
    }
    assert (told["nextCursor"], told["nextCiting"]) == (None, None)


def test_a_paper_is_named_by_its_title_too_and_may_have_slashes(client: httpx2.Client) -> None:
    assert got(client, "/api/citations/segment trees in practice")["paperId"] == "trees"
    assert got(client, "/api/citations/slash/a")["cited"] == 3
    unknown = client.get("/api/citations/nobody")
    assert (unknown.status_code, unknown.json()["error"]) == (404, "PAPER_NOT_FOUND")


def test_each_list_goes_on_by_a_cursor_of_its_own(client: httpx2.Client) -> None:
    positions, ids, cursor, citing = [], [], "", ""
    for _ in range(3):
        page = got(client, "/api/citations/great", limit=3, cursor=cursor)
        positions += [one["position"] for one in page["cites"]]
        cursor = page["nextCursor"] or ""
    assert (positions, cursor) == (list(range(8)), "")
    for _ in range(3):
        page = got(client, "/api/citations/great", limit=1, citing=citing)
        ids += [one["paperId"] for one in page["citedBy"]]
        citing = page["nextCiting"] or ""
    assert (ids, citing) == (["b", "slash/a", "trees"], "")
    other = client.get(
        "/api/citations/b", params={"cursor": got(client, "/api/citations/great", limit=3)["nextCursor"]}
    )
    assert other.status_code == 400


def test_references_are_exported_in_the_order_asked(client: httpx2.Client) -> None:
    told = client.get("/api/export", params={"paper": ["trees", "A great work on graphs", "trees"]})
    assert told.headers["content-type"] == "text/plain; charset=utf-8"
    assert [line for line in told.text.splitlines() if line.startswith("@")] == ["@article{trees,", "@article{great,"]
    items = json.loads(client.get("/api/export", params={"paper": ["slash/a"], "style": "csl"}).text)
    assert [(one["id"], one["title"], one["author"][1]) for one in items] == [
        ("slash/a", "Other trees entirely", {"family": "Müller", "given": "Ana"})
    ]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 400),
        ({"paper": ""}, 400),
        ({"paper": "trees", "style": "apa"}, 400),
        ({"paper": ["trees"] * 201}, 400),
        ({"paper": ["trees", "nobody"]}, 404),
    ],
)
def test_what_cannot_be_exported_is_refused(client: httpx2.Client, asked: dict[str, Any], status: int) -> None:
    assert client.get("/api/export", params=asked).status_code == status


@pytest.mark.parametrize("style", ["bibtex", "csl"])
def test_an_export_says_nothing_of_the_reader_nor_of_his_disk(library: Library, style: str) -> None:
    with Library.init(library.layout.root.parent / style, embedder=HashedWords()) as own:
        put_records(own, record("granite", "Granite is hard, says an abstract of some length.", tags=["mine"]))
        with running(own) as served:
            told = httpx2.get(f"{served.url}/api/export", params={"paper": "granite", "style": style}).text
    assert "On granite" in told
    for private in ("secret", "mine", "abstract"):
        assert private not in told


def test_a_thousand_authors_are_counted_and_the_first_of_them_named(tmp_path_factory: pytest.TempPathFactory) -> None:
    with Library.init(tmp_path_factory.mktemp("crowd"), embedder=HashedWords()) as library:
        crowd = tuple(Author("Collaborator", f"Number {n}") for n in range(3000))
        put(library, paper(reference(authors=crowd)), paper(reference("great", "A great work on graphs")))
        with running(library) as served:
            (told,) = httpx2.get(f"{served.url}/api/citations/great").json()["citedBy"]
    assert told["authorCount"] == 3000
    assert told["authors"] == [f"Number {n} Collaborator" for n in range(len(told["authors"]))]
    assert 10 < len(told["authors"]) < 100
