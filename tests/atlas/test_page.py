"""The page of a map: one file, nothing from elsewhere, and papers' words are words."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from carrel.atlas import neighbourhoods, page
from carrel.atlas.drawing import draw
from carrel.errors import InvalidInput, ReadOnlyLibrary, StoreUnavailable
from carrel.types import Concept
from tests.atlas.graphs import Written, memory
from tests.web import browsing

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "a' onmouseover='alert(1)",
    '"><svg onload=alert(1)>',
    "]]>&lt;b&gt;\u2028alert(1)\u2029",
    "\u202ereversed\u202c name",
    "שלום עולם",
    "emoji 👩‍💻 \u0000 \x1b[31m",
    "x" * 9000,
)


class Elements(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.comments: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def attributes(self, name: str) -> Iterator[str]:
        return (str(attributes[name]) for _, attributes in self.elements if name in attributes)


def hostile() -> Written:
    written = memory()
    for number, name in enumerate(HOSTILE):
        defined = Concept(name, (f"{name} alias",), f"{name} is {name}", name, f"p{number}/ch1/s1/p1")
        written.paper(f"p{number}", f"{name} | uses | Centre", title=name, concepts=[defined])
    return written


def around(written: Written, name: str = "Centre") -> neighbourhoods.Neighbourhood:
    return neighbourhoods.around(name, written.graph, written.catalog, hops=2, limit=60)


def test_a_page_has_one_script_and_one_style_and_allows_no_other() -> None:
    text = page.html(around(hostile()))
    found = Elements(text)
    names = [name for name, _ in found.elements]
    assert (names.count("script"), names.count("style")) == (1, 1)
    assert not {"img", "iframe", "object", "embed", "link", "base", "form", "image", "use"} & set(names)
    assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
    assert "style" not in {name for _, attributes in found.elements for name in attributes}
    (policy,) = [one["content"] for _, one in found.elements if one.get("http-equiv") == "Content-Security-Policy"]
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        body = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in str(policy)
    assert str(policy).startswith("default-src 'none';")
    assert "unsafe" not in str(policy)


def test_a_page_loads_nothing_and_links_only_within_itself() -> None:
    found = Elements(page.html(around(hostile())))
    ids = set(found.attributes("id"))
    links = list(found.attributes("href"))
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    assert not list(found.attributes("src"))
    for asset in ("page.css", "page.js"):
        source = (Path(page.__file__).parent / asset).read_text(encoding="utf-8")
        assert not re.search(r"https?:|//\w|url\(|@import|\bimport\b|fetch|innerHTML|eval|document\.write", source)


def test_hostile_names_are_read_as_they_are_written_and_make_no_element() -> None:
    text = page.html(around(hostile()))
    found = Elements(text)
    plain = Elements(page.html(around(_tame())))
    assert [name for name, _ in found.elements] == [name for name, _ in plain.elements]
    assert found.comments == []
    shown = "".join(found.texts)
    for name in HOSTILE[:6]:
        assert name in shown
    assert sum(name == "bdi" for name, _ in found.elements) > len(HOSTILE)


def _tame() -> Written:
    written = memory()
    for number in range(len(HOSTILE)):
        name = f"Name {number}"
        defined = Concept(name, (f"{name} alias",), f"{name} is {name}", name, f"p{number}/ch1/s1/p1")
        written.paper(f"p{number}", f"{name} | uses | Centre", title=name, concepts=[defined])
    return written


def test_a_page_tells_definition_relations_sentences_and_papers() -> None:
    written = memory()
    defined = Concept("Segment tree", ("interval tree",), "A segment tree is a tree.", "", "a/ch1/s1/p1")
    written.paper("a", "Segment tree | uses | Array", title="On trees", concepts=[defined])
    shown = " ".join("".join(Elements(page.html(around(written, "Array"))).texts).split())
    for told in (
        "also interval tree", "A segment tree is a tree.", "is used by", "Segment tree uses Array.",
        "On trees (2020) · Part 1 · page 1 · a/ch1/s1/p1", "2 concepts, 1 relations within 2 steps",
    ):  # fmt: skip
        assert told in shown


def test_the_same_graph_makes_the_same_bytes() -> None:
    one, other = (page.html(around(hostile())) for _ in range(2))
    assert one == other


def test_no_concept_stands_over_another_on_a_map_of_two_hundred() -> None:
    sizes = [(60.0 + 7 * (number * 37 % 23), 24.0 + number % 3 * 6) for number in range(200)]
    pairs = [(number, number * number % max(1, number)) for number in range(1, 200)]
    pairs += [(0, number) for number in range(1, 80)]
    drawing = draw(sizes, pairs)
    for one in range(200):
        (x, y), (width, height) = drawing.centres[one], sizes[one]
        assert 0 <= x - width / 2 <= x + width / 2 <= drawing.width
        assert 0 <= y - height / 2 <= y + height / 2 <= drawing.height
        for other in range(one):
            apart_x = abs(x - drawing.centres[other][0]) - (width + sizes[other][0]) / 2
            apart_y = abs(y - drawing.centres[other][1]) - (height + sizes[other][1]) / 2
            assert max(apart_x, apart_y) >= 0
    assert draw(sizes, pairs) == drawing


@pytest.mark.parametrize("count", [1, 2])
def test_the_smallest_maps_are_drawn(count: int) -> None:
    drawing = draw([(80.0, 24.0)] * count, [(0, count - 1)])
    assert len(drawing.centres) == count
    assert drawing.width >= 80


def test_its_own_page_is_replaced_and_anything_else_only_by_force(tmp_path: Path) -> None:
    shown, path = around(hostile()), tmp_path / "map.html"
    page.write(path, shown)
    before = path.read_bytes()
    page.write(path, shown)
    assert path.read_bytes() == before
    path.write_text("<p>my own page</p>")
    with pytest.raises(InvalidInput, match=r"map\.html' is there already and is no map of concepts") as caught:
        page.write(path, shown)
    assert "--force" in caught.value.hint
    assert path.read_text() == "<p>my own page</p>"
    page.write(path, shown, force=True)
    assert path.read_bytes() == before
    with pytest.raises(InvalidInput, match="is there already"):
        page.write(tmp_path, shown, force=True)
    with pytest.raises((StoreUnavailable, ReadOnlyLibrary), match="cannot write"):
        page.write(tmp_path / "nowhere" / "map.html", shown)


def test_in_a_browser_nothing_of_a_hostile_page_runs(tmp_path: Path) -> None:
    chromium = browsing.executable()
    if chromium is None:
        pytest.skip(browsing.MISSING)
    target = tmp_path / "map.html"
    page.write(target, around(hostile()))
    asked = [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [*asked, "--virtual-time-budget=2000", "--dump-dom", target.as_uri()],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    found = Elements(done.stdout)
    assert "img" not in {name for name, _ in found.elements}
    # Our own script ran: it shows the search box.
    (search,) = [attributes for _, attributes in found.elements if attributes.get("id") == "search"]
    assert "hidden" not in search
