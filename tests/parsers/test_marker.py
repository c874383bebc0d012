"""Marker's JSON: block trees, captions, outlines, pictures and records."""

from __future__ import annotations

import base64
import json
import tarfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from carrel.errors import EmptyDocument, SourceError
from carrel.parsers import Source
from carrel.parsers.marker import Marker, is_marker
from carrel.types import Author, BlockKind, Box, ExhibitKind, Image, Paper, Published

DATA = Path(__file__).parents[3] / "shared" / "data" / "fulltext" / "marker_json" / "marker_examples.tar.xz"
JPEG = b"\xff\xd8\xff picture"
LONG = "A paragraph long enough to be one, that goes on"


def block(kind: str, html: str, *, page: int = 0, number: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": f"/page/{page}/{kind}/{number}", "block_type": kind, "html": html, **more}


def group(kind: str, *children: dict[str, Any]) -> dict[str, Any]:
    return block(kind, "<content-ref src='x'></content-ref>", children=list(children))


def document(*blocks: dict[str, Any]) -> dict[str, Any]:
    page = {"id": "/page/0/Page/9", "block_type": "Page", "html": "", "children": list(blocks)}
    return {"block_type": "Document", "children": [page], "metadata": {}}


def read(content: object, path: Path | None = None) -> Paper:
    text = content if isinstance(content, str) else json.dumps(content)
    return Marker().parse(Source("paper.json", text.encode(), path))


def shown(paper: Paper) -> list[tuple[str, str]]:
    return [(item.kind.value, paper.text[item.start : item.end]) for item in paper.blocks]


def outline(*titles: tuple[int, str]) -> list[tuple[int, str]]:
    paper = read(document(*[block("SectionHeader", f"<h{level}>{title}</h{level}>") for level, title in titles]))
    return [(item.level, item.title) for item in paper.blocks if item.kind == BlockKind.HEADING]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p><p>b</p>", "a b"),
        ("<p><i>an ag</i><i>gregation</i></p>", "an aggregation"),
        ("<p>H<sub>2</sub>O, 10<sup>-5</sup>, shown<sup>12</sup>.</p>", "H2O, 10^-5, shown[12]."),
        ("<p>with <math display='inline'>x_i </math>as</p>", "with $x_i$ as"),
        ("<p>one<br/>two</p>", "one two"),
        ("no tags &amp; all", "no tags & all"),
        ("<b>" * 5_000 + "deep", "deep"),
    ],
)
def test_text_is_what_a_reader_sees(html: str, text: str) -> None:
    assert shown(read(document(block("Text", html)))) == [("text", text)]


def test_every_kind_of_block_becomes_one_and_page_furniture_none() -> None:
    paper = read(
        document(
            block("PageHeader", "<p>Journal of Cats</p>"),
            block("SectionHeader", "<h1>On Cats</h1>"),
            block("SectionHeader", "<h2>Contents</h2>"),
            block("TableOfContents", "<table><tr><td>1 Introduction</td><td>3</td></tr></table>"),
            block("SectionHeader", "<h2>Method</h2>"),
            block("Equation", "<p><math display='block'>a^2 \\tag{1}</math></p>"),
            block("Code", "<pre>if x:\n    y()</pre>"),
            block("ListGroup", "<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>"),
            block("Footnote", "<p><sup>1. </sup>A note.</p>"),
            block("PageFooter", "<p>17</p>"),
        )
    )
    assert shown(paper) == [
        ("heading", "On Cats"),
        ("heading", "Method"),
        ("formula", r"$$a^2 \tag{1}$$"),
        ("code", "if x:\n    y()"),
        ("list", "- one"),
        ("list", "  - inner"),
        ("list", "- two"),
        ("text", "1. A note."),
    ]


def test_numbers_of_headings_are_believed_before_their_sizes() -> None:
    found = outline((1, "On Cats"), (3, "Tim Yu"), (3, "Abstract"), (3, "1. Introduction"), (2, "2. Method"),
                    (4, "2.1 Data"), (3, "2.2 Model"), (2, "Details"), (1, "References"), (4, "A. Proofs"))  # fmt: skip
    assert found == [
        (1, "On Cats"), (2, "Abstract"), (2, "1. Introduction"), (2, "2. Method"), (3, "2.1 Data"), (3, "2.2 Model"),
        (4, "Details"), (2, "References"), (2, "A. Proofs"),
    ]  # fmt: skip


def test_without_numbers_sizes_are_all_there_is_and_the_title_stands_above() -> None:
    found = outline((1, "On Cats"), (1, "Abstract"), (1, "Method"), (2, "Data"), (1, "Results"))
    assert found == [(1, "On Cats"), (2, "Abstract"), (2, "Method"), (3, "Data"), (2, "Results")]


def test_captions_before_or_after_belong_to_what_they_label_and_are_used_once() -> None:
    table = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    paper = read(
        document(
            block("Caption", "<p>Table 1: First.</p>"),
            block("Table", table),
            block("Caption", "<p>Table 2: Second.</p>"),
            block("Table", table),
            group("FigureGroup", block("Figure", ""), block("Caption", "<p>(a) left</p>")),
            block("ListItem", "<li>Figure 1. A cat.</li>"),
            block("Picture", ""),
        )
    )
    assert [(exhibit.kind, exhibit.caption) for exhibit in paper.exhibits] == [
        (ExhibitKind.TABLE, "Table 1: First."),
        (ExhibitKind.TABLE, "Table 2: Second."),
        (ExhibitKind.FIGURE, "Figure 1. A cat. (a) left"),
    ]
    first = paper.exhibits[0]
    assert paper.text[first.start : first.end] == "Table 1: First.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert [exhibit.label for exhibit in paper.exhibits] == ["Table 1", "Table 2", "Figure 1"]


def test_pictures_are_kept_when_something_says_what_they_show() -> None:
    paper = read(
        document(
            block("Text", "<p>Words.</p>"),
            block("Picture", "<p><img src='logo.png'></p>"),
            block("Text", "<p>More.</p>"),
            block("Figure", "<p><img src='cat.png' alt='A cat on a mat'></p>"),
        )
    )
    assert shown(paper) == [("text", "Words."), ("text", "More."), ("figure", "A cat on a mat")]
    assert [(exhibit.description, exhibit.caption) for exhibit in paper.exhibits] == [("A cat on a mat", "")]


def test_an_algorithm_is_its_header_and_its_steps() -> None:
    paper = read(
        document(
            block("SectionHeader", "<h5>Algorithm 1 Feeding</h5>"),
            block("Text", "<p>1: open the tin</p>"),
            block("Code", "<pre>2: serve</pre>"),
            block("Text", "<p>It always works.</p>"),
        )
    )
    assert shown(paper) == [
        ("caption", "Algorithm 1 Feeding"), ("code", "1: open the tin\n2: serve"), ("text", "It always works."),
    ]  # fmt: skip
    assert [(exhibit.kind, exhibit.label) for exhibit in paper.exhibits] == [(ExhibitKind.ALGORITHM, "Algorithm 1")]


def test_a_paragraph_that_a_page_breaks_is_whole_again_and_keeps_both_places() -> None:
    paper = read(
        document(
            block("Text", f"<p class='has-continuation'>{LONG}</p>", bbox=[1, 2, 3, 4]),
            block("Footnote", "<p>A note.</p>"),
            block("Text", "<p>over the page.</p>", page=1, bbox=[5, 6, 7, 8]),
            block("Text", "<p>where x is a formula</p>", page=1),
        )
    )
    assert shown(paper)[0] == ("text", f"{LONG} over the page.")
    assert [place.box for place in paper.places] == [Box(1, 1, 2, 3, 4), Box(2, 5, 6, 7, 8)]


def test_the_bibliography_is_entries_and_the_broken_one_is_joined() -> None:
    paper = read(
        document(
            block("SectionHeader", "<h1>References</h1>"),
            group("ListGroup", block("ListItem", "<li>[1] J. Smith and A. Doe. On cats and</li>")),
            block("Text", "<p>dogs. In Pets, 2010.</p>"),
            block("ListItem", "<li>[2] Jane Roe. On birds. Birds, 2011.</li>"),
        )
    )
    assert [(cited.title, cited.year) for cited in paper.cited] == [("On cats and dogs", 2010), ("On birds", 2011)]
    assert shown(paper)[1] == ("reference", "[1] J. Smith and A. Doe. On cats and dogs. In Pets, 2010.")


def test_pictures_are_files_beside_the_paper_or_come_inside_it(tmp_path: Path) -> None:
    data = base64.b64encode(JPEG).decode()
    figure = block("Figure", "", page=2, number=3, images={"/page/2/Figure/3": data})
    content = document(figure, block("Caption", "<p>Figure 1: A cat.</p>"))
    alone = read(content)
    assert alone.exhibits[0].image == "_page_2_Figure_3.jpeg"
    assert alone.images == (Image("_page_2_Figure_3.jpeg", JPEG),)
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "_page_2_Figure_3.jpeg").write_bytes(JPEG)
    beside = read(content, tmp_path / "paper.json")
    assert (beside.exhibits[0].image, beside.images) == ("images/_page_2_Figure_3.jpeg", ())


def test_a_picture_cannot_be_asked_for_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"x")
    folder = tmp_path / "paper"
    folder.mkdir()
    figure = block("Figure", "<img src='../secret.png' alt='a cat'>", images={"../secret.png": "not base64!"})
    assert read(document(figure), folder / "paper.json").exhibits[0].image != "../secret.png"


def test_the_record_beside_the_file_is_believed_if_it_is_this_papers(tmp_path: Path) -> None:
    record = {
        "item_key": "paper", "title": "The True Title", "authors": ["Tim Yu", "Roe, Jane", 7], "date": "2021-01-11",
        "doi": "https://doi.org/10.1000/X", "publication_title": "Cats",
    }  # fmt: skip
    content = document(block("SectionHeader", "<h1>Tlie Tme Titte</h1>"), block("Text", "<p>x</p>"))
    (tmp_path / "meta.json").write_text(json.dumps(record))
    reference = read(content, tmp_path / "paper.json").reference
    assert (reference.title, reference.doi, reference.venue) == ("The True Title", "10.1000/x", "Cats")
    assert reference.authors == (Author("Yu", "Tim"), Author("Roe", "Jane"))
    assert reference.published == Published(2021, 1, 11)
    (tmp_path / "meta.json").write_text(json.dumps({**record, "item_key": "another"}))
    assert read(content, tmp_path / "paper.json").reference.title == "Tlie Tme Titte"
    (tmp_path / "meta.json").write_text("[" * 100_000)
    assert read(content, tmp_path / "paper.json").reference.title == "Tlie Tme Titte"


def test_marker_files_are_told_by_their_beginning() -> None:
    whole = json.dumps(document(block("Text", "<p>x</p>")))
    assert is_marker(whole[:200])
    assert not is_marker('[{"type": "article-journal", "title": "children", "DOI": "10.1000/x"}]')
    assert not is_marker('"block_type": "Text"')
    assert not is_marker("")


def test_json_that_is_not_markers_is_refused_by_name() -> None:
    with pytest.raises(SourceError, match=r"'paper\.json' is JSON, but not Marker's"):
        read({"type": "article"})
    with pytest.raises(SourceError, match=r"'paper\.json' is not JSON"):
        read('{"children": [')
    with pytest.raises(EmptyDocument, match=r"'paper\.json' is empty"):
        read(document(block("PageFooter", "<p>1</p>")))


NESTED: dict[str, Any] = block("Text", "<p>x</p>")
for _level in range(300):
    NESTED = {"block_type": "Group", "children": [NESTED]}
HOSTILE: dict[str, object] = {
    "deep": "[" * 100_000,
    "deep objects": '{"children":' * 50_000,
    "nested": document(NESTED),
    "types": {
        "block_type": 7,
        "children": [1, None, [], {"block_type": [], "html": {}, "bbox": "x", "children": {"a": 1}}],
    },
    "numbers": '{"children": [{"block_type": "Text", "html": "x", "page": ' + "9" * 5_000 + "}]}",
    "boxes": '{"children": [{"block_type": "Text", "html": "x", "bbox": [NaN, Infinity, 1e999, -1]}]}',
    "surrogate": '{"children": [{"block_type": "Text", "html": "x \\ud800 \\u0000"}]}',
    "cycle": document(block("SectionHeader", "<h2>x</h2>", section_hierarchy={"1": "/page/0/SectionHeader/1"})),
    "captions": document(*[block("Caption", "x")] * 5_000, *[block("Figure", "")] * 5_000),
    "pairs": document(*[block("Figure", ""), block("Caption", "Figure 1: x")] * 5_000),
    "numbered": document(block("ListGroup", f"<ol>{'<li>x' * 50_000}</ol>")),
    "blocks": document(*[block("Text", f"<p>{LONG} x</p>")] * 20_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_read_or_refused_in_little_time(name: str) -> None:
    start = time.process_time()
    try:
        paper = read(HOSTILE[name])
    except SourceError as error:
        assert "'paper.json'" in error.message  # noqa: PT017
    else:
        assert "x" in paper.text
        assert_sound(paper)
    assert time.process_time() - start < 8


def assert_sound(paper: Paper) -> None:
    assert all(0 <= item.start < item.end <= len(paper.text) for item in paper.blocks)
    assert all(before.end <= after.start for before, after in pairwise(paper.blocks))
    assert all(before.end <= after.start for before, after in pairwise(paper.exhibits))
    paper.text.encode()


KINDS = some.sampled_from(
    [
        "Text",
        "SectionHeader",
        "Figure",
        "Picture",
        "Table",
        "Caption",
        "Code",
        "ListItem",
        "Equation",
        "Footnote",
        "Odd",
    ]
)
HTML = some.sampled_from(
    ["<p>words</p>", "<h2>1. Title</h2>", "<h3>References</h3>", "<p>Figure 1: x</p>", "<p>Table 2. y</p>", "", "<",
     "<li>i</li>", "<table><tr><td rowspan=2>a</td><td>b</td></tr></table>", "<img alt='seen'>", "<math>x</math>",
     "Algorithm 1 a", "\ud800"]
)  # fmt: skip
BLOCKS = some.builds(block, KINDS, HTML, bbox=some.lists(some.floats(), max_size=5) | some.none())


@given(blocks=some.lists(BLOCKS | some.builds(group, some.just("FigureGroup"), BLOCKS, BLOCKS), max_size=12))
def test_any_tree_of_blocks_is_sound_or_empty(blocks: list[dict[str, Any]]) -> None:
    try:
        paper = read(document(*blocks))
    except EmptyDocument:
        return
    assert_sound(paper)
    captioned = [exhibit.caption for exhibit in paper.exhibits if exhibit.caption]
    given_captions = [item for item in paper.blocks if item.kind == BlockKind.CAPTION]
    assert len(captioned) <= len(given_captions)


JSON = some.recursive(
    some.none()
    | some.booleans()
    | some.integers()
    | some.text(max_size=5)
    | some.sampled_from(["Text", "Page", "<p>x</p>"]),
    lambda inner: (
        some.lists(inner, max_size=4)
        | some.dictionaries(
            some.sampled_from(["block_type", "html", "children", "id", "bbox", "images", "page"]), inner
        )
    ),
    max_leaves=20,
)


@given(value=JSON)
def test_any_json_is_a_paper_or_a_named_refusal(value: object) -> None:
    try:
        assert_sound(read(value))
    except SourceError as error:
        assert "'paper.json'" in error.message  # noqa: PT017


@pytest.mark.parametrize(
    ("name", "figures", "tables", "entries", "chapters"),
    [("switch_trans", 16, 12, 61, 18), ("multicolcnn", 4, 4, 28, 8)],
)
def test_real_papers_keep_every_figure_table_and_entry(
    name: str, figures: int, tables: int, entries: int, chapters: int
) -> None:
    if not DATA.exists():
        pytest.skip("the papers are not here: shared/data/fulltext/marker_json beside the repository")
    with tarfile.open(DATA) as archive:
        found = next(member for member in archive if member.name.endswith(f"json/{name}.json"))
        content = archive.extractfile(found)
        assert content is not None
        paper = Marker().parse(Source(f"{name}.json", content.read()))
    assert_sound(paper)
    assert Counter(exhibit.kind for exhibit in paper.exhibits) == {
        ExhibitKind.FIGURE: figures,
        ExhibitKind.TABLE: tables,
    }
    numbers = [exhibit.label.split()[-1] for exhibit in paper.exhibits if exhibit.label.startswith("Figure")]
    assert numbers == [str(number + 1) for number in range(figures)]
    assert len(paper.cited) == entries
    assert [block.level for block in paper.blocks if block.kind == BlockKind.HEADING].count(2) == chapters
    assert len(paper.places) >= len(paper.blocks) - 5
