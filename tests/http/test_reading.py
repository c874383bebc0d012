"""What can be read of a library over HTTP is what the library itself says, less what stays at home."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from carrel import Library
from carrel.http import concepts, papers, passages
from carrel.types import Filter, Mode, Passage
from tests.http.reading import ROCKS, SEDIMENT, SVG, shelf
from tests.http.serving import running

QUERIES = (
    "bed",
    "how old is a lower bed",
    "granite rock colour",
    "year:2003 rock",
    "rcok beds",
    "nothing of this kind",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelf(tmp_path_factory.mktemp("shelf")) as made:
        yield made


@pytest.fixture(scope="module")
def client(library: Library) -> Iterator[httpx2.Client]:
    with running(library, requests_per_minute=0) as served, httpx2.Client(base_url=served.url) as client:
        yield client


def got(client: httpx2.Client, path: str, **parameters: Any) -> Any:
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: httpx2.Client, path: str, **parameters: Any) -> tuple[int, str]:
    answer = client.get(path, params=parameters)
    return answer.status_code, answer.json()["error"]


def told(passage: Passage) -> tuple[Any, ...]:
    """All that a ranking is judged by."""
    arms = {name: (arm.rank, arm.score) for name, arm in passage.fused.arms.items()}
    return passage.rank, passage.chunk.address, passage.score, passage.probability, passage.fused.score, arms


def heard(result: dict[str, Any]) -> tuple[Any, ...]:
    arms = {name: (arm["rank"], arm["score"]) for name, arm in result["arms"].items()}
    return result["rank"], result["address"], result["score"], result["probability"], result["fusionScore"], arms


@pytest.mark.parametrize("mode", list(Mode))
def test_order_and_scores_are_those_of_the_library_to_the_last_digit(
    client: httpx2.Client, library: Library, mode: Mode
) -> None:
    for query in QUERIES:
        found = got(client, "/api/search", query=query, mode=mode.value, limit=50, explain=True)
        result = library.search(query, mode=mode, limit=50)
        assert [heard(one) for one in found["results"]] == [told(one) for one in result.passages]
        assert (found["strategy"], found["matched"]) == (result.strategy.value, result.matched)


@pytest.mark.parametrize(
    ("wire", "options"),
    [
        ({"byPaper": True}, {"by_paper": True}),
        ({"diversity": 0.7}, {"diversity": 0.7}),
        ({"yearMin": 2002, "yearMax": 2004}, {"where": Filter(year_min=2002, year_max=2004)}),
        ({"tag": ["g", "water"]}, {"where": Filter(tags=frozenset({"g", "water"}))}),
        ({"paper": "On sediment", "chapter": 1}, {"where": Filter(frozenset({"slash/sediment"}), chapter=1)}),
        ({"venue": "rocks"}, {"where": Filter(venue="rocks")}),
        ({"topic": "none"}, {"where": Filter(topic="none")}),
    ],
)
def test_options_mean_what_they_mean_to_the_library(
    client: httpx2.Client, library: Library, wire: dict[str, Any], options: dict[str, Any]
) -> None:
    found = got(client, "/api/search", query="rock beds", limit=20, explain=True, **wire)
    result = library.search("rock beds", limit=20, **options)
    assert [heard(one) for one in found["results"]] == [told(one) for one in result.passages]
    assert found["byPaper"] == result.by_paper


def test_criteria_of_the_record_choose_papers(client: httpx2.Client) -> None:
    found = got(client, "/api/search", query="rock", title="granite", author="Stone, Ada")
    assert {one["paperId"] for one in found["results"]} == {"granite"}
    assert got(client, "/api/search", query="rock", author="Nobody")["results"] == []


def test_pages_by_cursor_are_the_whole_ranking(client: httpx2.Client, library: Library) -> None:
    shown, cursor = [], ""
    while True:
        page = got(client, "/api/search", query="bed", limit=3, cursor=cursor)
        shown += [one["address"] for one in page["results"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert len(shown) == len(set(shown)) > 6
    assert set(shown) == {one.chunk.address for one in library.search("bed", limit=100).passages}


def test_neighbours_and_explanations_come_when_they_are_asked_for(client: httpx2.Client) -> None:
    plain = got(client, "/api/search", query="how a bed grows in still water", limit=1)["results"][0]
    assert (plain["previous"], plain["next"], plain["signals"], plain["fusionScore"]) == (None, None, None, None)
    asked = got(client, "/api/search", query="how a bed grows in still water", limit=1, context=True, explain=True)
    found = asked["results"][0]
    assert found["address"] == "slash/sediment/ch1/s1/p1"
    assert found["previous"]["address"] == "slash/sediment/ch1/s1/p0"
    assert found["previous"]["preview"].startswith("Sediment is what water leaves behind.")
    assert found["signals"]["coverage"] > 0


def test_papers_by_meaning_are_those_of_the_library(client: httpx2.Client, library: Library) -> None:
    semantic = got(client, "/api/semantic", query="granite rock", threshold=0, limit=5)
    expected = library.semantic("granite rock", threshold=0, limit=5)
    assert [(one["id"], one["similarity"]) for one in semantic["results"]] == [
        (one.reference.id, one.similarity) for one in expected.papers
    ]
    similar = got(client, "/api/similar/granite", limit=3)
    assert similar == got(client, "/api/similar", paper="granite", limit=3)
    assert [one["id"] for one in similar["similar"]] == [
        one.reference.id for one in library.similar("granite", limit=3).papers
    ]


def test_papers_are_listed_page_by_page_in_any_order(client: httpx2.Client) -> None:
    for sort in ("id", "year", "title", "added"):
        whole = [one["id"] for one in got(client, "/api/papers", sort=sort, limit=100)["papers"]]
        first = got(client, "/api/papers", sort=sort, limit=5)
        second = got(client, "/api/papers", sort=sort, limit=5, cursor=first["nextCursor"])
        assert [one["id"] for one in (*first["papers"], *second["papers"])] == whole
        assert (first["total"], second["nextCursor"]) == (8, None)
    assert refused(client, "/api/papers", sort="year", cursor=first["nextCursor"]) == (400, "VALIDATION_ERROR")
    assert [one["id"] for one in got(client, "/api/papers", yearMin=2005, author="rock")["papers"]] == [
        "chalk",
        "flint",
    ]


def test_a_paper_is_shown_by_id_or_title_with_its_outline(client: httpx2.Client) -> None:
    paper = got(client, "/api/papers/slash/sediment")
    assert paper == got(client, f"/api/papers/{quote('slash/sediment', safe='')}")
    assert paper == got(client, "/api/papers/On sediment")
    assert [chapter["chapterTitle"] for chapter in paper["chapters"]] == ["Beds", "Ends"]
    assert paper["chapters"][0]["sections"][0]["address"] == "slash/sediment/ch1/s1"
    assert (paper["figureCount"], paper["documentIds"], paper["flags"]) == (2, [], [])


def test_every_place_in_a_paper_has_its_view(client: httpx2.Client) -> None:
    chunk = got(client, "/api/chunks/slash/sediment/ch1/s1/p1")
    assert (chunk["kind"], chunk["previous"]["address"]) == ("chunk", "slash/sediment/ch1/s1/p0")
    assert SEDIMENT[chunk["start"] : chunk["end"]] == chunk["text"]
    assert chunk["figures"][0]["address"] == "slash/sediment/fig1"
    section = got(client, "/api/chunks/slash/sediment/ch1/s1")
    assert (section["kind"], section["chunks"][1]["text"]) == ("section", chunk["text"])
    assert got(client, "/api/chunks/slash/sediment/ch2")["kind"] == "chapter"
    assert refused(client, "/api/chunks/slash/sediment") == (404, "NOT_FOUND")
    assert refused(client, "/api/chunks/slash/sediment/ch9") == (404, "NOT_FOUND")
    assert refused(client, "/api/papers/slash/sediment/ch1") == (404, "PAPER_NOT_FOUND")


def test_a_picture_comes_with_orders_that_nothing_in_it_is_run(client: httpx2.Client) -> None:
    figure = got(client, "/api/chunks/slash/sediment/fig1")
    picture = client.get(figure["imageUrl"])
    assert (picture.status_code, picture.text) == (200, SVG)
    assert picture.headers["content-type"] == "image/svg+xml"
    assert "sandbox" in picture.headers["content-security-policy"]
    assert got(client, "/api/chunks/slash/sediment/fig2")["imageUrl"] is None
    assert refused(client, "/api/figures/slash/sediment/fig2/image") == (404, "NOT_FOUND")
    assert refused(client, "/api/figures/slash/sediment/ch1/image") == (404, "NOT_FOUND")


def test_figures_are_found_by_kind_and_page_by_page(client: httpx2.Client) -> None:
    first = got(client, "/api/figures", query="bed", limit=1)
    second = got(client, "/api/figures", query="bed", limit=1, cursor=first["nextCursor"])
    assert {one["address"] for one in (*first["results"], *second["results"])} == {
        "slash/sediment/fig1",
        "slash/sediment/fig2",
    }
    tables = got(client, "/api/figures", query="bed", kind="table")
    assert [one["address"] for one in tables["results"]] == ["slash/sediment/fig2"]


def test_the_stored_text_comes_in_pieces_of_any_size(client: httpx2.Client) -> None:
    whole = got(client, "/api/text/slash/sediment")
    assert (whole["text"], whole["length"]) == (SEDIMENT, len(SEDIMENT))
    piece = got(client, "/api/text/slash/sediment", start=10, limit=5)
    assert (piece["text"], piece["start"], piece["end"]) == (SEDIMENT[10:15], 10, 15)
    beyond = got(client, "/api/text/slash/sediment", start=10**6)
    assert (beyond["text"], beyond["start"], beyond["end"]) == ("", len(SEDIMENT), len(SEDIMENT))


def test_tags_and_concepts_are_paged(client: httpx2.Client, library: Library) -> None:
    assert leafed(client, "/api/tags", "tags", "tag") == list(library.tags())
    assert leafed(client, "/api/concepts", "concepts", "key") == [row.key for row in library.concepts(limit=0).rows]
    named = leafed(client, "/api/concepts", "concepts", "key", query="bed")
    assert named == [row.key for row in library.concepts("bed", limit=0).rows]
    assert got(client, "/api/tags", paper="granite")["tags"] == [
        {"tag": "g", "papers": 1},
        {"tag": "rock", "papers": 1},
    ]


def leafed(client: httpx2.Client, path: str, field: str, key: str, **asked: Any) -> list[str]:
    shown: list[str] = []
    cursor = ""
    while cursor is not None:
        page = got(client, path, limit=2, cursor=cursor, **asked)
        shown += [one[key] for one in page[field]]
        cursor = page["nextCursor"]
    assert len(shown) == page["total"]
    return shown


def test_the_graph_is_shown_around_a_concept_and_as_a_map(client: httpx2.Client, library: Library) -> None:
    around = got(client, "/api/graph", name="bed", hops=2)
    assert (around["centre"], around["concept"]["definition"]) == (
        "bed",
        "A bed is a layer of sediment, and it may be as thin as a sheet of paper.",
    )
    assert [node["key"] for node in around["nodes"]] == [node.row.key for node in library.graph("bed", hops=2).nodes]
    whole = got(client, "/api/graph")
    assert (whole["centre"], whole["concept"], whole["total"]) == (None, None, library.concepts().total)
    assert refused(client, "/api/graph", name="phlogiston") == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/api/search", {}),
        ("/api/search", {"query": ""}),
        ("/api/search", {"query": " \x01"}),
        ("/api/search", {"query": "x" * 2001}),
        ("/api/search", {"query": "x", "limit": 0}),
        ("/api/search", {"query": "x", "limit": 101}),
        ("/api/search", {"query": "x", "mode": "magic"}),
        ("/api/search", {"query": "x", "diversity": "nan"}),
        ("/api/search", {"query": "x", "section": 1}),
        ("/api/search", {"query": "x", "chapter": 1}),
        ("/api/search", {"query": "x", "cursor": "forged"}),
        ("/api/search", {"query": "x", "unheard": "of"}),
        ("/api/search", {"query": "x", "venue": "a\x00b"}),
        ("/api/search", {"query": "x", "yearMin": 10**30}),
        ("/api/search", {"query": "x", "tag": ["t"] * 51}),
        ("/api/semantic", {"query": "x", "threshold": 1.5}),
        ("/api/papers", {"limit": 101}),
        ("/api/papers", {"cursor": "forged"}),
        ("/api/papers/a%00b", {}),
        ("/api/text/granite", {"start": -1}),
        ("/api/graph", {"hops": 4}),
        ("/api/graph", {"name": "a\x00b"}),
        ("/api/concepts", {"cursor": "forged"}),
        ("/api/similar", {}),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_field(
    client: httpx2.Client, path: str, parameters: dict[str, Any]
) -> None:
    answer = client.get(path, params=parameters)
    assert (answer.status_code, answer.json()["error"]) == (400, "VALIDATION_ERROR"), answer.text
    assert answer.json()["message"]


def test_what_is_not_there_is_named(client: httpx2.Client) -> None:
    assert refused(client, "/api/search", query="x", paper="nobody") == (404, "PAPER_NOT_FOUND")
    assert refused(client, "/api/similar/nobody") == (404, "PAPER_NOT_FOUND")
    assert refused(client, "/api/similar/slash/sediment") == (422, "NO_USABLE_ABSTRACT")
    assert refused(client, "/api/papers/nobody") == (404, "PAPER_NOT_FOUND")


def test_no_path_of_the_readers_disk_leaves_the_house(client: httpx2.Client, library: Library) -> None:
    home = str(library.layout.root.parent)
    paths = [
        "/api/papers?limit=100",
        "/api/papers/granite",
        "/api/papers/slash/sediment",
        "/api/chunks/slash/sediment/fig1",
        "/api/chunks/granite/abstract",
        "/api/figures?query=bed",
        "/api/search?query=granite&limit=100&explain=true&context=true",
        "/api/health",
    ]
    for path in paths:
        text = client.get(path).text
        assert home not in text
        assert "secret.pdf" not in text
        assert "sediment.md" not in text


def snake(value: Any) -> set[str]:
    return set(value.as_dict())


def test_nothing_that_the_library_tells_is_lost_on_the_wire_but_paths(library: Library) -> None:
    found = library.search("bed", by_paper=True)
    assert snake(found) <= set(passages.Found.model_fields)
    assert set(found.passages[0].paper_as_dict()) <= set(passages.Result.model_fields)
    assert snake(library.papers().papers[0]) - set(papers.PaperSummary.model_fields) == {"record", "sources"}
    paper = library.show("slash/sediment")
    assert snake(paper) - set(papers.PaperDetail.model_fields) == {"record", "sources", "kind"}
    assert snake(library.show("slash/sediment/ch1/s1/p0")) - set(papers.ChunkDetail.model_fields) == {"note"}
    assert snake(library.show("slash/sediment/ch1/s1")) <= set(papers.SectionDetail.model_fields)
    assert snake(library.show("slash/sediment/ch1")) <= set(papers.ChapterDetail.model_fields)
    assert snake(library.show("slash/sediment/fig1")) - set(papers.FigureDetail.model_fields) == {"image"}
    assert snake(library.figures("bed").figures[0]) - set(papers.FigureFound.model_fields) == {"image"}
    assert snake(library.figures("bed")) <= set(papers.Figures.model_fields)
    assert snake(library.concepts()) <= set(concepts.Concepts.model_fields)
    assert snake(library.concept("bed")) <= set(concepts.ConceptDetail.model_fields)
    assert snake(library.graph("bed")) <= set(concepts.Graph.model_fields)
    assert snake(library.semantic("bed", threshold=0)) <= set(papers.Semantic.model_fields)
    assert snake(library.similar("granite")) <= set(papers.Similar.model_fields)


def test_a_paper_that_is_taken_out_is_gone_everywhere(tmp_path: Path) -> None:
    with shelf(tmp_path) as library, running(library) as served, httpx2.Client(base_url=served.url) as client:
        removed = client.delete("/api/papers/granite")
        assert (removed.status_code, removed.json()) == (200, {"success": True, "paperId": "granite"})
        again = client.delete("/api/papers/granite")
        assert (again.status_code, again.json()["error"]) == (404, "PAPER_NOT_FOUND")
        assert refused(client, "/api/papers/granite") == (404, "PAPER_NOT_FOUND")
        found = got(client, "/api/search", query="granite", limit=100)
        assert "granite" not in {one["paperId"] for one in found["results"]}
        kept = [json.loads(line)["id"] for line in library.layout.refs.read_text(encoding="utf-8").splitlines()]
        assert kept == [name for name in ROCKS if name != "granite"]
