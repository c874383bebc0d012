"""The view Graph: concepts as a drawing, and the way from every line of it to the sentences that state it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from carrel import Library
from tests.http.serving import running, wait_until
from tests.web.browsing import PHONE
from tests.web.conftest import Look
from tests.web.drawings import (
    disc,
    discs,
    distance,
    drawn,
    line,
    middle,
    names_drawn,
    overlapping,
    panel,
    pull,
    spots,
    told,
    towards,
    view,
)

HOSTILE = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>"
FIRST = ("adaptive", "sparse", "greedy", "spectral", "nested", "robust", "lazy", "convex", "causal", "layered")
SECOND = (
    "sampling",
    "hashing of long keys",
    "tree",
    "estimator",
    "projection",
    "matching in bipartite networks",
    "kernel",
    "index",
    "gradient",
    "cover",
)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A library of 200 concepts, each of which is joined to an earlier one; among them names that mean no good."""
    plain = [f"{one} {other}" for one in FIRST for other in SECOND]
    names = [*plain, *(f"{name} variant" for name in plain)][:196]
    names += [HOSTILE, "شجرة المقاطع", "线段树与树状数组的比较", "w" * 120]
    with Library.init(tmp_path_factory.mktemp("crowd")) as library:
        concepts = [{"id": f"c{number}", "name": name} for number, name in enumerate(names)]
        (library.layout.root / "concepts.jsonl").write_text(
            "".join(json.dumps(one) + "\n" for one in concepts), encoding="utf-8"
        )
        kinds = ("uses", "part-of", "related-to", "prerequisite", "example-of")
        edges = [_edge(number, number // 3, kinds[number % 5]) for number in range(1, 200)]
        (library.layout.root / "edges.jsonl").write_text(
            "".join(json.dumps(one) + "\n" for one in edges[1:]), encoding="utf-8"
        )
        library.add_edge("concept:c1", "concept:c0", "uses", "It is said so.")
        library.add_concept("alone", "lonely concept")
        with running(library) as server:
            yield server.url


def _edge(source: int, target: int, kind: str) -> dict[str, str]:
    ends = {"source_id": f"concept:c{source}", "target_id": f"concept:c{target}"}
    return {**ends, "relationship_type": kind, "summary": f"{source} says so.", "created_at": "2026-01-02T03:04:05Z"}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Library.init(tmp_path_factory.mktemp("empty")) as library, running(library) as server:
        yield server.url


def test_without_a_name_it_is_the_map_of_the_library(look: Look, url: str) -> None:
    answer = told(url, "/api/graph", limit=60)
    page = look("/graph")
    expect(discs(page)).to_have_count(len(answer["nodes"]))
    assert drawn(page) == {node["name"] for node in answer["nodes"]}
    pairs = {frozenset((edge["subject"], edge["object"])) for edge in answer["edges"]}
    expect(page.locator(".graph-edge")).to_have_count(len(pairs))
    expect(panel(page).get_by_role("heading", level=1)).to_have_text("Map of the library")
    expect(panel(page)).to_contain_text(f"of {answer['total']:,}")


def test_a_name_is_the_centre_and_the_tone_tells_how_far_the_others_are(look: Look, url: str) -> None:
    answer = told(url, "/api/graph", name="SciBERT", hops=2, limit=60)
    page = look(view(name="scibert"))
    expect(discs(page)).to_have_count(len(answer["nodes"]))
    for node in answer["nodes"]:
        expect(disc(page, node["name"])).to_have_class(re.compile(rf"\bhop-{node['hops']}\b"))
    expect(panel(page).get_by_role("heading", level=1)).to_have_text("SciBERT")
    page.get_by_role("button", name="1 step").click()
    expect(discs(page)).to_have_count(len(told(url, "/api/graph", name="SciBERT", hops=1)["nodes"]))


def test_a_chosen_concept_is_told_with_its_definition_papers_and_ways_on(look: Look, url: str) -> None:
    name = "Bidirectional Encoder Representations from Transformers"
    concept = told(url, "/api/graph", name=name)["concept"]
    page = look("/graph")
    disc(page, name).click()
    shown = panel(page)
    expect(shown.get_by_role("heading", level=1)).to_have_text(name)
    expect(shown.locator(".graph-definition blockquote")).to_have_text(concept["definition"])
    proof = shown.locator(".graph-definition").get_by_role("link")
    expect(proof).to_have_attribute("href", f"/proof/{quote(concept['definedAt'])}")
    expect(shown).to_contain_text(concept["aliases"][0])
    expect(shown.get_by_role("link", name=concept["speakers"][0]["title"]).first).to_be_visible()
    asking, seeking = (shown.get_by_role("link", name=words) for words in ("Ask about it", "Search for it"))
    expect(asking).to_have_attribute("href", f"/ask?{urlencode({'q': f'What is {name}?'})}")
    expect(seeking).to_have_attribute("href", f"/search?{urlencode({'q': name})}")
    page.go_back()
    expect(shown.get_by_role("heading", level=1)).to_have_text("Map of the library")


def test_expanding_adds_what_is_next_to_it_and_hardly_moves_what_is_there(look: Look, url: str) -> None:
    page = look(view(name="SPECTER", hops=1))
    before = spots(page)
    more = {node["name"] for node in told(url, "/api/graph", name="pretrained language models")["nodes"]}
    assert more - set(before)
    disc(page, "pretrained language models").dblclick()
    expect(discs(page)).to_have_count(len(more | set(before)))
    after = spots(page)
    assert max(distance(before[name], after[name]) for name in before) < 20
    assert min(distance(one, other) for one, other in combinations(after.values(), 2)) > 15
    page.reload()
    again = spots(page)
    assert set(again) == set(after)
    assert max(distance(after[name], again[name]) for name in after) < 1
    page.go_back()
    expect(discs(page)).to_have_count(len(before))


def test_the_button_expands_too(look: Look, url: str) -> None:
    page = look(view(name="SPECTER", hops=1, selected="pretrained language models"))
    before = drawn(page)
    more = {node["name"] for node in told(url, "/api/graph", name="pretrained language models")["nodes"]} - before
    panel(page).get_by_role("button", name=f"Expand: {len(more)} more").click()
    expect(discs(page)).to_have_count(len(before | more))
    expect(panel(page).get_by_role("button", name="Expand")).to_have_count(0)


def test_a_line_leads_to_the_sentences_that_state_it_and_they_to_the_proof(look: Look, url: str) -> None:
    edges = told(url, "/api/graph", name="Citeseer", hops=1)["edges"]
    edge = next(one for one in edges if (one["subject"], one["object"]) == ("Citeseer", "service"))
    page = look(view(name="Citeseer", hops=1))
    expect(line(page, "Citeseer is an example of service")).to_have_count(1)
    middle(page, "Citeseer", "service")
    quotes = panel(page).locator("blockquote")
    expect(quotes).to_have_text([evidence["text"] for evidence in edge["evidence"]])
    link = panel(page).locator("figcaption").first.get_by_role("link")
    expect(link).to_contain_text(edge["evidence"][0]["title"])
    link.click()
    page.wait_for_url("**/proof/**")
    address = urlsplit(page.url)
    proof = told(url, f"/api{address.path}", **dict(parse_qsl(address.query)))
    assert proof["quote"] == edge["evidence"][0]["text"]


def test_what_is_said_in_both_directions_is_one_line_with_two_heads(look: Look) -> None:
    page = look(view(name="SciBERT", hops=1))
    both = line(page, "SciBERT is an example of pretrained language models")
    expect(both).to_have_count(1)
    expect(both.locator("title")).to_contain_text("pretrained language models is an example of SciBERT")
    drawn_line = both.locator(".graph-edge-line")
    for end in ("start", "end"):
        expect(drawn_line).to_have_attribute(f"marker-{end}", "url(#head-EXAMPLE_OF)")


def test_a_relation_that_is_not_drawn_is_told_all_the_same(look: Look, url: str) -> None:
    edges = told(url, "/api/graph", name="Citeseer", hops=1)["edges"]
    sentence = next(one for one in edges if one["object"] == "service")["evidence"][0]["text"]
    page = look(view(edge=["service", "Citeseer"], limit=30, name="SPECTER"))
    expect(panel(page).locator("blockquote").first).to_have_text(sentence)


def test_the_legend_hides_and_shows_a_predicate(look: Look) -> None:
    page = look(view(name="SciBERT"))
    examples = page.locator(".graph-edge[data-predicate=EXAMPLE_OF]")
    expect(examples.first).to_be_attached()
    others = page.locator(".graph-edge:not([data-predicate=EXAMPLE_OF])").count()
    page.get_by_role("checkbox", name="is an example of").uncheck()
    expect(page.locator(".graph-edge")).to_have_count(others)
    page.reload()
    expect(page.get_by_role("checkbox", name="is an example of")).not_to_be_checked()
    expect(page.locator(".graph-edge")).to_have_count(others)
    page.get_by_role("checkbox", name="is an example of").check()
    expect(examples.first).to_be_attached()


def test_the_study_path_is_told_in_order_and_numbered_in_the_drawing(look: Look, url: str) -> None:
    study = told(url, "/api/path", name="SPECTER")
    assert len(study["steps"]) > 2
    page = look(view(name="SPECTER", hops=1))
    panel(page).get_by_role("button", name="Study path").click()
    expect(panel(page).locator(".graph-step-name")).to_have_text([step["name"] for step in study["steps"]])
    for step in study["steps"]:
        expect(disc(page, step["name"]).locator(".graph-node-step")).to_have_text(str(step["step"]))
    first = panel(page).get_by_role("listitem").filter(has_text=study["steps"][0]["because"][0]["said"]).first
    first.locator("summary").first.click()
    expect(first.locator("blockquote").first).to_have_text(study["steps"][0]["because"][0]["evidence"][0]["text"])
    read = study["steps"][0]["read"]
    expect(first.locator(".graph-step-read a")).to_have_attribute("href", f"/proof/{quote(read['address'])}")
    page.reload()
    expect(page.locator(".graph-node-step")).to_have_count(len(study["steps"]))


def test_concepts_are_found_as_one_writes_with_the_keyboard_alone(look: Look, url: str) -> None:
    found = [one["name"] for one in told(url, "/api/concepts", query="scib", limit=8)["concepts"]]
    page = look("/graph")
    expect(discs(page).first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("scib")
    options = page.get_by_role("listbox", name="Concepts").get_by_role("option")
    expect(options).to_have_count(len(found))
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(options.first).to_contain_text(found[0])
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/graph?{urlencode({'name': found[0]})}")
    expect(panel(page).get_by_role("heading", level=1)).to_have_text(found[0])


def test_the_drawing_is_used_with_the_keyboard_alone(look: Look) -> None:
    page = look(view(name="SPECTER", hops=1))
    stood = spots(page)
    drawing = page.get_by_role("application", name="Map of concepts")
    drawing.focus()
    key = towards(stood["SPECTER"], stood["pretrained language models"])
    page.keyboard.press(key)
    page.keyboard.press(key)
    expect(drawing.get_by_role("status")).to_contain_text("pretrained language models")
    page.keyboard.press("Enter")
    expect(panel(page).get_by_role("heading", level=1)).to_have_text("pretrained language models")
    page.keyboard.press("Enter")
    expect(discs(page)).not_to_have_count(len(stood))
    scale = float(page.locator(".graph-drawing-svg").get_attribute("data-scale") or 0)
    page.keyboard.press("+")
    expect(page.locator(".graph-drawing-svg")).to_have_attribute("data-scale", str(scale * 1.3))
    page.keyboard.press("0")
    expect(page.locator(".graph-drawing-svg")).to_have_attribute("data-scale", str(scale))
    page.keyboard.press("Escape")
    expect(panel(page).get_by_role("heading", level=1)).to_have_text("SPECTER")


def test_the_same_is_there_as_a_list(look: Look, url: str) -> None:
    answer = told(url, "/api/graph", name="SciBERT", hops=2, limit=60)
    page = look(view(name="SciBERT"))
    listing = page.get_by_role("list", name="Concepts and relations")
    expect(listing.locator(".graph-listed")).to_have_count(len(answer["nodes"]))
    page.get_by_role("button", name="As a list").click()
    expect(page.locator(".graph-drawing")).to_have_count(0)
    expect(listing.locator(".graph-listed > .graph-listed-name button")).to_have_count(len(answer["nodes"]))
    expect(listing.locator(".graph-listed ul li")).to_have_count(2 * len(answer["edges"]))
    edge = next(one for one in answer["edges"] if one["predicate"] == "COMPARED_TO")
    row = listing.locator(".graph-listed").filter(has=page.get_by_role("button", name=edge["subject"], exact=True))
    row.get_by_role("listitem").filter(has_text=f"is compared to {edge['object']}").first.get_by_role("button").click()
    expect(panel(page).locator("blockquote").first).to_have_text(edge["evidence"][0]["text"])


def test_two_hundred_concepts_stay_readable(look: Look, crowd: str) -> None:
    page = look(view(limit=200), at=crowd)
    expect(discs(page)).to_have_count(200)
    whole = names_drawn(page)
    assert len(whole) >= 50
    assert overlapping(whole) == 0
    drawing = page.locator(".graph-drawing").bounding_box()
    assert drawing is not None
    assert all(box["left"] >= drawing["x"] and box["right"] <= drawing["x"] + drawing["width"] for box in whole)
    for _ in range(3):
        page.get_by_role("button", name="Closer").click()
    wait_until(lambda: len(names_drawn(page)) > len(whole))
    assert overlapping(names_drawn(page)) == 0
    once, again = spots(page), spots(look(view(limit=200), at=crowd))
    assert max(distance(once[name], again[name]) for name in once) < 1


def test_names_that_mean_no_good_are_text(look: Look, crowd: str) -> None:
    page = look(view(name=HOSTILE), at=crowd)
    expect(panel(page).get_by_role("heading", level=1)).to_have_text(HOSTILE)
    expect(page.locator("main img, main script")).to_have_count(0)
    page.get_by_role("button", name="As a list").click()
    expect(page.get_by_role("button", name=HOSTILE, exact=True).first).to_be_visible()
    page.goto(view(edge=[HOSTILE, HOSTILE]))
    expect(panel(page)).to_contain_text("No sentence says")


def test_a_concept_without_relations_is_drawn_alone(look: Look, crowd: str) -> None:
    page = look(view(name="lonely concept"), at=crowd)
    expect(discs(page)).to_have_count(1)
    expect(page.locator(".graph-name")).to_have_text("lonely concept")
    expect(panel(page)).to_contain_text("No sentence says how it stands to another")
    panel(page).get_by_role("button", name="Study path").click()
    expect(panel(page)).to_contain_text("Nothing has to come before it")


def test_pointing_at_a_concept_dims_what_is_not_next_to_it(look: Look, url: str) -> None:
    pairs = [{edge["subject"], edge["object"]} for edge in told(url, "/api/graph", limit=60)["edges"]]
    near = set().union(*(pair for pair in pairs if "SciBERT" in pair))
    page = look("/graph")
    disc(page, "SciBERT").hover()
    clear = page.locator(".graph-node.is-near title")
    expect(clear).to_have_count(len(near))
    assert set(clear.all_text_contents()) == near
    expect(disc(page, "digital libraries")).to_have_css("opacity", "0.16")
    expect(disc(page, "SciBERT")).to_have_css("opacity", "1")


def test_a_concept_is_dragged_and_the_ground_is_moved_and_zoomed(look: Look) -> None:
    page = look(view(name="SPECTER", hops=2))
    before = spots(page)
    pull(page, disc(page, "SPECTER"), 60, 40)
    wait_until(lambda: distance(before["SPECTER"], spots(page)["SPECTER"]) > 20)
    after = spots(page)
    assert all(distance(before[name], after[name]) < 1 for name in before if name != "SPECTER")
    box = disc(page, "SPECTER").bounding_box()
    page.locator(".graph-drawing").hover(position={"x": 30, "y": 500})
    page.mouse.down()
    page.mouse.move(600, 450)
    page.mouse.up()
    assert box is not None
    wait_until(lambda: disc(page, "SPECTER").bounding_box() not in (None, box))
    scale = page.locator(".graph-drawing-svg").get_attribute("data-scale")
    page.mouse.wheel(0, -300)
    expect(page.locator(".graph-drawing-svg")).not_to_have_attribute("data-scale", str(scale))


def test_on_a_phone_the_panel_is_a_sheet_below_the_drawing_and_fingers_do(look: Look) -> None:
    page = look(view(name="SciBERT"), viewport=PHONE, has_touch=True, is_mobile=True)
    expect(discs(page).first).to_be_visible()
    assert overlapping(names_drawn(page)) == 0
    drawing, sheet = page.locator(".graph-drawing").bounding_box(), panel(page).bounding_box()
    assert drawing is not None
    assert sheet is not None
    assert sheet["y"] > drawing["y"] + 200
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    disc(page, "SPECTER embeddings").tap()
    expect(panel(page).get_by_role("heading", level=1)).to_have_text("SPECTER embeddings")
    page.get_by_role("button", name="More").click()
    wait_until(lambda: (panel(page).bounding_box() or sheet)["height"] > sheet["height"])
    page.get_by_role("button", name="Less").click()
    page.get_by_text("Relations", exact=True).first.click()
    for box in page.get_by_role("checkbox").locator("xpath=..").all():
        size = box.bounding_box()
        assert size is not None
        assert size["height"] >= 36


def test_two_fingers_zoom(look: Look) -> None:
    page = look(view(name="SciBERT"), viewport=PHONE, has_touch=True, is_mobile=True)
    expect(discs(page).first).to_be_visible()
    scale = float(page.locator(".graph-drawing-svg").get_attribute("data-scale") or 0)
    hand = page.context.new_cdp_session(page)
    for kind, apart in (("touchStart", 40), ("touchMove", 60), ("touchMove", 80), ("touchMove", 100)):
        fingers = [{"x": 190 - apart, "y": 300, "id": 0}, {"x": 190 + apart, "y": 300, "id": 1}]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page.locator(".graph-drawing-svg")).not_to_have_attribute("data-scale", str(scale))
    wait_until(lambda: float(page.locator(".graph-drawing-svg").get_attribute("data-scale") or 0) > 1.5 * scale)


def test_in_the_dark_names_are_light_on_a_dark_ground(look: Look) -> None:
    page = look(view(name="SciBERT"), color_scheme="dark")
    expect(page.locator(".graph-name").first).to_have_css("fill", "rgb(232, 230, 224)")
    expect(page.locator(".graph-drawing")).to_have_css("background-color", "rgb(20, 23, 27)")
    page.get_by_role("button", name="Theme").click()
    expect(page.locator(".graph-name").first).to_have_css("fill", "rgb(29, 33, 38)")


@pytest.mark.troubled
def test_an_unknown_concept_leads_to_those_that_may_be_meant(look: Look) -> None:
    page = look(view(name="SciBERD"))
    expect(page.get_by_role("heading", name="No concept is called SciBERD")).to_be_visible()
    page.get_by_role("link", name="SciBERT", exact=True).click()
    expect(panel(page).get_by_role("heading", level=1)).to_have_text("SciBERT")


@pytest.mark.troubled
def test_a_library_without_concepts_says_where_they_come_from(look: Look, empty: str) -> None:
    page = look("/graph", at=empty)
    expect(page.get_by_role("heading", name="There are no concepts yet")).to_be_visible()
    expect(page.get_by_role("link", name="Add papers")).to_have_attribute("href", "/library")


@pytest.mark.troubled
def test_a_server_that_fails_is_asked_again(look: Look) -> None:
    page = look("/health")
    page.route("**/api/graph*", lambda route: route.abort())
    page.goto("/graph")
    expect(page.get_by_role("alert").filter(has_text="Carrel does not answer").first).to_be_visible()
    page.unroute("**/api/graph*")
    expect(discs(page).first).to_be_visible()
