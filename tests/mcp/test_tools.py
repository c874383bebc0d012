"""What each tool gives an agent."""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from carrel import Library, registry
from carrel.mcp import budget, tools, wishes
from carrel.mcp.server import Desk
from carrel.testing import HashedWords
from mcp import Client, MCPError
from tests.mcp.agents import call, refusal, result, structured, text, with_agent
from tests.mcp.conftest import PICTURE, SENTENCES, TAGS
from tests.saved_answers import BASALT, GRANITE


def test_an_answer_cites_quotes_that_stand_in_their_sources(quarry: Library) -> None:
    found = result(quarry, "ask", question="Does basalt float on water?", papers=["basalt"])
    assert found["answer"].endswith("[1]")
    assert not found["has_insufficient_evidence"]
    for citation in found["citations"]:
        assert citation["paper_id"] == "basalt"
        assert quarry.text(citation["address"])[citation["start"] : citation["end"]] == citation["quote"]
    assert found["citations"][0]["quote"] in BASALT
    assert found["citations"][0]["authors"] == "Ada Stone, Bo Rock"


def test_a_citation_of_a_retracted_paper_says_so_and_so_does_a_passage(quarry: Library) -> None:
    cited = result(quarry, "ask", question="Does basalt float on water?", papers=["basalt"])["citations"][0]
    assert "retract" in cited["notices"][0].lower()
    [passage] = result(quarry, "search", query="basalt forms from lava", papers=["basalt"])["results"]
    assert passage["notice"] == "RETRACTED"
    assert result(quarry, "list_papers", papers=["basalt"])["papers"][0]["notice"] == "RETRACTED"


def test_a_question_that_the_papers_do_not_answer_is_told_so_with_near_misses(small: Library) -> None:
    small.settings = small.settings.model_copy(
        update={"answer": small.settings.answer.model_copy(update={"threshold": 1.0})}
    )
    found = result(small, "ask", question="Who won the chess tournament in Zurich?")
    assert found["has_insufficient_evidence"] is True
    assert found["citations"] == []
    assert found["confidence"] == "insufficient"


def test_a_search_finds_what_the_library_finds_in_the_same_order_with_the_same_scores(quarry: Library) -> None:
    expected = quarry.search("granite melts", limit=5).passages
    found = result(quarry, "search", query="granite melts", limit=5)["results"]
    assert [one["address"] for one in found] == [one.chunk.address for one in expected]
    assert [one["score"] for one in found] == [round(one.score, 4) for one in expected]
    assert found[0]["text"] == GRANITE


def test_searches_go_on_by_their_cursor_without_repeating_anything(quarry: Library) -> None:
    seen: list[str] = []
    cursor = ""
    for _ in range(4):
        page = result(quarry, "search", query="grey rock", limit=10, cursor=cursor)
        seen += [one["address"] for one in page["results"]]
        cursor = page["next_cursor"]
    assert len(seen) == len(set(seen)) == 40


def test_filters_restrict_by_paper_title_tag_year_and_author(quarry: Library) -> None:
    assert {one["paper_id"] for one in result(quarry, "search", query="rock", papers=["On basalt"])["results"]} == {
        "basalt"
    }
    assert {one["paper_id"] for one in result(quarry, "search", query="rock", tags=["hard"])["results"]} == {"granite"}
    assert result(quarry, "search", query="rock", year_from=2021)["results"] == []
    assert result(quarry, "search", query="rock", authors=["Nobody"])["results"] == []
    assert result(quarry, "search", query="rock", authors=["Stone"], limit=3)["results"] != []


def test_lists_may_come_as_text_as_some_agents_write_them(quarry: Library) -> None:
    for tags in ('["hard"]', "hard", ["hard"]):
        assert [one["paper_id"] for one in result(quarry, "search", query="rock", tags=tags)["results"]] == ["granite"]


def test_a_figure_is_found_by_its_caption_and_shown_with_its_picture(quarry: Library) -> None:
    found = result(quarry, "search_figures", query="how slate is split along its cleavage")["results"][0]
    assert found["kind"] == "figure"
    assert "How slate is split" in found["caption"]
    shown = call(quarry, "show", address=found["address"])
    assert shown.content[1].type == "image"
    assert base64.b64decode(shown.content[1].data) == PICTURE


def test_a_paper_is_shown_with_its_outline_and_its_sections_read_to_the_end_page_by_page(quarry: Library) -> None:
    paper = result(quarry, "show", address="The slate quarry")
    headings = {one["title"]: one["address"] for one in paper["outline"]}
    address = next(address for title, address in headings.items() if "Layers" in title)
    texts, pages = "", 0
    cursor: str | None = ""
    while cursor is not None:
        page = result(quarry, "show", address=address, cursor=cursor)
        texts += "".join(one["text"] for one in page["texts"])
        cursor, pages = page.get("next_cursor"), pages + 1
        assert budget.tokens(page) <= quarry.settings.mcp.result_tokens
    assert pages > 1
    assert all(texts.count(sentence) == 1 for sentence in SENTENCES)
    assert texts.index(SENTENCES[0]) < texts.index(SENTENCES[200]) < texts.index(SENTENCES[-1])


def test_a_passage_is_shown_with_its_neighbours(quarry: Library) -> None:
    passages = [one.chunk.address for one in quarry.search("slate layer", limit=50).passages]
    middle = next(one for one in passages if result(quarry, "show", address=one).get("before"))
    shown = result(quarry, "show", address=middle)
    assert result(quarry, "show", address=shown["before"])["after"] == middle


def test_all_papers_are_listed_page_by_page_within_the_budget(quarry: Library) -> None:
    ids: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = result(quarry, "list_papers", limit=200, cursor=cursor)
        assert budget.tokens(page) <= quarry.settings.mcp.result_tokens
        assert page["total"] == len(TAGS) + 4
        ids += [one["id"] for one in page["papers"]]
        cursor = page.get("next_cursor")
    assert ids == [row.reference.id for row in quarry.list()]


def test_all_tags_are_listed_page_by_page_within_the_budget(quarry: Library) -> None:
    names: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = result(quarry, "list_tags", cursor=cursor)
        assert budget.tokens(page) <= quarry.settings.mcp.result_tokens
        names += [one["name"] for one in page["tags"]]
        cursor = page.get("next_cursor")
    assert names == list(quarry.tags())


def test_concepts_are_listed_and_one_that_is_named_whole_tells_where_it_is_spoken_of(quarry: Library) -> None:
    found = result(quarry, "concepts", limit=5)
    assert len(found["concepts"]) == 5
    assert found["total"] == quarry.concepts(limit=1).total
    name = found["concepts"][0]["name"]
    named = result(quarry, "concepts", query=name)
    assert name in [one["name"] for one in named["concepts"]]
    assert named["passages"]


def test_papers_like_another_come_nearest_first(quarry: Library) -> None:
    found = result(quarry, "similar", paper="On granite", limit=3)["papers"]
    assert [one["id"] for one in found] == [one.reference.id for one in quarry.similar("granite", limit=3).papers]
    assert all(one["similarity"] >= other["similarity"] for one, other in pairwise(found))


def test_results_are_the_same_as_text_and_as_structure(quarry: Library) -> None:
    done = call(quarry, "list_tags")
    assert json.loads(text(done)) == done.structured_content


@pytest.mark.parametrize(
    ("tool", "wrong", "told"),
    [
        ("search", {}, "query: field required"),
        ("search", {"query": "x", "limit": 0}, "limit: input should be greater than or equal to 1"),
        ("search", {"query": "x", "mode": "magic"}, "mode: input should be"),
        ("search", {"query": "x", "qurey": "y"}, "Its arguments are papers, tags"),
        ("search", {"query": " "}, "Search query cannot be empty. Give a few words or a question."),
        ("search", {"query": "x" * 100_000}, "Query exceeds maximum length"),
        ("search", {"query": "x", "cursor": "nonsense"}, "this is not a cursor"),
        ("search", {"query": "x", "papers": ["nowhere"]}, "The tool `list_papers` shows what there is."),
        ("search", {"query": "x", "year_from": 10**30}, "year_min must have at most 18 digits"),
        ("show", {"address": "granite/ch9"}, "no text of that paper but its record"),
        ("show", {"address": "granite", "cursor": "abc"}, "this is no cursor of this list"),
        ("similar", {"paper": "nowhere"}, "Paper 'nowhere' not found in database"),
        ("ask", {"question": ""}, "Search query cannot be empty"),
        ("ask", {"question": "x", "top_k": 21}, "top_k: input should be less than or equal to 20"),
    ],
)
def test_what_cannot_be_done_is_told_with_the_next_step(
    quarry: Library, tool: str, wrong: dict[str, object], told: str
) -> None:
    assert told in refusal(quarry, tool, **wrong)


def test_what_nobody_foresaw_is_told_to_the_log_alone(small: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(small, "tags", broken)
    told = refusal(small, "list_tags")
    assert told.startswith("something went wrong; the log has it under ")
    assert "secret" not in told


def test_an_index_that_is_behind_is_told(small: Library) -> None:
    small.layout.refs.write_text("", encoding="utf-8")
    assert "the index is behind the papers" in result(small, "search", query="granite")["notes"][0]


def test_the_whole_list_of_tools_takes_fewer_than_3000_tokens() -> None:
    listed = [
        verb.listed().model_dump(mode="json", by_alias=True, exclude_none=True)
        for verb in tools.offered(allow_add=True).values()
    ]
    spelt = json.dumps({"tools": listed}, separators=(",", ":"))
    [count] = registry.make("embedders", "granite").count_tokens([spelt])
    assert 1000 < count < 3000
    assert [tool["name"] for tool in listed] == [
        "search", "search_figures", "ask", "show", "similar", "list_papers", "list_tags", "concepts", "add",
    ]  # fmt: skip
    assert all(tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object" for tool in listed)


def test_every_tool_and_argument_is_in_the_docs() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = {row.split("|")[1].strip(" `"): row for row in docs.splitlines() if row.startswith("| `")}
    filters = set(wishes.Narrow.model_fields)
    assert all(f"`{name}`" in docs for name in filters)
    for name, verb in tools.offered(allow_add=True).items():
        told = set(re.findall(r"`(\w+)`", rows[name].split("|")[3])) | (filters if "filters" in rows[name] else set())
        assert told == set(verb.wish.model_fields), name


def test_calls_at_one_time_are_all_answered_and_open_the_library_once(small: Library) -> None:
    opened: list[Library] = []

    def opening() -> Library:
        opened.append(small)
        return small

    async def talk(client: Client) -> list[int]:
        found: list[int] = []

        async def once() -> None:
            found.append(len(structured(await client.call_tool("search", {"query": "granite"}))["results"]))

        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(once)
        return found

    assert with_agent(Desk(opening).server(), talk) == [2] * 20
    assert len(opened) == 1


def test_an_empty_library_says_that_it_has_nothing(tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=HashedWords()) as empty:
        assert refusal(empty, "search", query="granite") == "Semantic index not found. Run 'carrel index build' first"
        assert result(empty, "list_papers") == {"papers": [], "total": 0}
        assert result(empty, "list_tags") == {"tags": [], "total": 0}
        assert result(empty, "concepts") == {"concepts": [], "total": 0}


def test_only_reading_tools_are_offered_unless_adding_is_allowed(small: Library) -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(MCPError, match="there is no tool 'add'"), flatten_subgroups=True):
        call(small, "add", path="notes.md")


def test_a_file_of_the_library_s_folder_is_taken_in(small: Library) -> None:
    (small.layout.root.parent / "notes.md").write_text("# Schist\n\nSchist glitters with mica.\n", encoding="utf-8")
    added = result(small, "add", allow_add=True, path="notes.md", tags=["found"])
    assert (added["new"], added["papers"]) == (1, ["notes"])
    assert result(small, "search", query="glitters", tags=["found"])["results"][0]["paper_id"] == "notes"
    assert '"action": "add"' in (small.layout.home / "audit.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../outside.md", ".carrel/refs.jsonl", "zotero:", "https://example.org/x.pdf", "link.md"]
)
def test_nothing_outside_of_the_allowed_folders_is_taken_in(small: Library, path: str) -> None:
    folder = small.layout.root.parent
    (folder.parent / "outside.md").write_text("# Secret\n\nA secret of somebody else.\n", encoding="utf-8")
    (folder / "link.md").symlink_to(folder.parent / "outside.md")
    told = refusal(small, "add", allow_add=True, path=path)
    assert "secret of somebody" not in told
    assert {row.reference.id for row in small.list()} == {"granite", "basalt"}


def test_papers_are_resources_with_their_outline_and_their_text(quarry: Library) -> None:
    async def talk(client: Client) -> list[Any]:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        record = await client.read_resource("paper://granite")
        stored = await client.read_resource("paper://granite/text")
        return [first, second, record.contents[0], stored.contents[0]]

    first, second, shown, stored = with_agent(Desk(lambda: quarry).server(), talk)
    assert len(first.resources) == 100
    assert {one.uri for one in first.resources}.isdisjoint(one.uri for one in second.resources)
    assert json.loads(shown.text)["abstract"] == GRANITE
    assert stored.text == quarry.text("granite")
