"""What an address names, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import Library
from carrel.errors import IndexNotFound, InvalidInput, NotFound, PaperNotFound
from carrel.reading import Chapter, ChunkView, FigureView, PaperView, Section, naming
from carrel.reading.papers import Sort, Wanted
from carrel.reading.previews import first_sentence, preview
from carrel.references import jsonl
from carrel.testing import HashedWords
from carrel.types import ExhibitKind, Filter, Image, Published
from tests.full_papers import full_library, paper, put, reference

HOSTILE = ("10.1000/x", "o'neil/2021", "smith/ch1", "smith/fig1", "smith", "a/abstract")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        yield made


@pytest.fixture
def trees(library: Library) -> Library:
    put(library, paper(reference()))
    return library


def _spied(monkeypatch: pytest.MonkeyPatch, target: object, method: str) -> list[tuple[Any, ...]]:
    """What a method is asked from now on."""
    asked: list[tuple[Any, ...]] = []
    real = getattr(target, method)

    def spy(*arguments: Any) -> Any:
        asked.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(target, method, spy)
    return asked


# Papers


def test_a_paper_shows_its_outline_with_counts_and_first_sentences(trees: Library) -> None:
    view = trees.show("trees")
    assert isinstance(view, PaperView)
    assert [(one.number, one.title, one.chunk_count, len(one.figures)) for one in view.chapters] == [
        (0, "", 1, 0),
        (1, "Introduction", 1, 0),
        (2, "Methods", 3, 2),
        (3, "Results", 1, 1),
    ]
    shown = view.as_dict()
    assert (shown["chunk_count"], shown["figure_count"], shown["tags"]) == (6, 3, ["graphs", "read"])
    assert shown["bibliography"] == {"cited": 3, "in_library": 0}
    assert shown["chapters"][2]["sections"][1] == {
        "section": 1,
        "section_title": "Complexity",
        "address": "trees/ch2/s1",
        "chunk_count": 1,
        "figure_count": 1,
        "summary": "Both take logarithmic time, as Table 1 shows.",
    }


def test_a_paper_without_a_text_has_no_outline_and_says_why_it_has_no_chapter(library: Library, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "a", "title": "Only a record", "abstract": "Short."}\n')
    library.add(tmp_path / "in.jsonl")
    view = library.show("a")
    assert isinstance(view, PaperView)
    assert (view.chapters, view.cited, view.summary.chunk_count, view.summary.figure_count) == ((), 0, 1, 0)
    with pytest.raises(NotFound, match="which has no text of that paper") as caught:
        library.show("a/ch1")
    assert "carrel add" in caught.value.hint
    with pytest.raises(NotFound):
        library.text("a/ch1")


def test_showing_a_paper_by_its_id_does_not_read_the_others(trees: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _spied(monkeypatch, trees.stores.catalog, "papers")
    for address in ("trees", "trees/ch2", "trees/ch2/s0", "trees/ch2/s0/p0", "trees/fig1"):
        trees.show(address)
    with pytest.raises(NotFound):
        trees.show("trees/abstract")
    assert asked
    assert () not in asked


# Names


@pytest.mark.parametrize("name", ["trees", "Segment trees in practice", "segment-TREES in Practice!", "trees in prac"])
def test_a_paper_is_called_by_its_id_its_title_or_a_part_of_it(trees: Library, name: str) -> None:
    for address, kind in ((name, PaperView), (f"{name}/ch2", Chapter), (f"{name}/fig1", FigureView)):
        assert isinstance(trees.show(address), kind)
    assert trees.text(f"{name}/ch2/s0/p0") == trees.text("trees")


def test_a_title_of_several_papers_is_answered_with_those_meant(library: Library) -> None:
    full_library(library, "a", "b")
    with pytest.raises(PaperNotFound) as caught:
        library.show("segment trees")
    assert caught.value.message == (
        "'segment trees' is in the titles of 2 papers: a ('Segment trees of a'), b ('Segment trees of b')"
    )
    put(library, paper(reference("c", "Segment trees")))
    view = library.show("segment trees")
    assert isinstance(view, PaperView)
    assert view.reference.id == "c"


def test_an_unknown_name_is_answered_with_what_is_spelled_nearly_so(trees: Library) -> None:
    with pytest.raises(PaperNotFound, match=r"^Paper 'treas' not found in database; the nearest are trees \('Segment"):
        trees.show("treas")
    with pytest.raises(PaperNotFound, match=r"^Paper 're' not found in database; the nearest are trees \('Segment"):
        trees.show("re")
    with pytest.raises(PaperNotFound, match=r"^Paper 'zebra' not found in database$"):
        trees.show("zebra")


@pytest.mark.parametrize(
    "address",
    ["", " ", "/", "🦓", "tr", "trees/ch٢", "trees/ch99", "trees/ch1/s9", "trees/ch1/s0/p9", "trees/fig0", "trees/fig4",
     "trees/ch" + "9" * 5000, "trees/ch-1", "trees/abstract", "x" * 100_000, "\ud800", "\x00", "trees/ch1/s0/p0/fig1"],
)  # fmt: skip
def test_an_address_that_names_nothing_is_one_short_sentence(trees: Library, address: str) -> None:
    for ask in (trees.show, trees.text):
        with pytest.raises(NotFound) as caught:
            ask(address)
        assert 0 < len(caught.value.message) < 300
        assert caught.value.hint


def test_what_is_there_instead_is_said(trees: Library) -> None:
    for address, said in (
        ("trees/ch99", "the chapters of its paper are 0 to 3"),
        ("trees/ch2/s7", "the sections of its chapter are 0 to 1"),
        ("trees/fig9", "its paper has 3 figures"),
    ):
        with pytest.raises(NotFound, match=f"^there is no {address!r} in the library: {said}$"):
            trees.show(address)
    with pytest.raises(NotFound, match=r"^there is no 'trees/abstract' in the library$"):
        trees.show("trees/abstract")


@pytest.mark.parametrize("paper_id", HOSTILE)
def test_ids_with_slashes_that_look_like_addresses_are_ids(library: Library, paper_id: str) -> None:
    full_library(library, *HOSTILE)
    view = library.show(paper_id)
    assert isinstance(view, PaperView)
    assert view.reference.id == paper_id
    for rest, kind in (("ch2", Chapter), ("ch2/s1", Section), ("ch2/s0/p1", ChunkView), ("fig2", FigureView)):
        shown = library.show(f"{paper_id}/{rest}")
        assert isinstance(shown, kind)
        assert shown.as_dict()["paper_id"] == paper_id
        assert shown.as_dict()["address"] == f"{paper_id}/{rest}"


@given(st.text(max_size=40), st.sampled_from(["abstract", "note", "ch1", "ch2/s3", "ch0/s0/p7", "fig12"]))
def test_what_follows_the_last_slashes_is_the_place(paper_id: str, rest: str) -> None:
    found = naming.parse(f"{paper_id}/{rest}")
    assert found is None if not paper_id else found is not None
    if found:
        assert (found.paper, found.rest) == (paper_id, rest)


def test_leading_zeros_are_no_other_place() -> None:
    found = naming.parse("x/ch01/s002/p0")
    assert found is not None
    assert (found.rest, found.chapter, found.section, found.chunk) == ("ch1/s2/p0", 1, 2, 0)


# Chapters, sections and chunks


def test_a_chapter_shows_its_sections_with_their_chunks_and_figures(trees: Library) -> None:
    shown = trees.show("trees/ch2").as_dict()
    assert (shown["kind"], shown["chapter_title"], shown["total"]) == ("chapter", "Methods", 3)
    assert shown["figures"] == ["trees/fig1", "trees/fig2"]
    assert [[chunk["address"] for chunk in section["chunks"]] for section in shown["sections"]] == [
        ["trees/ch2/s0/p0", "trees/ch2/s0/p1"],
        ["trees/ch2/s1/p0"],
    ]


def test_a_section_shows_its_titles_and_chunks(trees: Library) -> None:
    shown = trees.show("trees/ch2/s1").as_dict()
    assert (shown["kind"], shown["chapter_title"], shown["section_title"]) == ("section", "Methods", "Complexity")
    assert (shown["total"], shown["figures"]) == (1, ["trees/fig2"])
    assert shown["chunks"] == [
        {
            "address": "trees/ch2/s1/p0",
            "text": "Both take logarithmic time, as Table 1 shows.",
            "page_start": 3,
            "page_end": 3,
            "token_count": 8,
            "figures": ["trees/fig2"],
        }
    ]


def test_a_chunk_shows_its_neighbours_in_its_section_its_position_figures_and_boxes(trees: Library) -> None:
    view = trees.show("trees/ch2/s0/p0")
    assert isinstance(view, ChunkView)
    shown = view.as_dict()
    assert (view.previous, shown["next"]["address"]) == (None, "trees/ch2/s0/p1")
    assert shown["next"]["preview"] == " ".join(["Updates walk from the leaf upwards to the root."] * 3)
    assert shown["position"] == {
        "chunk_in_section": 0,
        "total_chunks_in_section": 2,
        "total_sections_in_chapter": 2,
        "total_chapters_in_paper": 4,
        "is_first_in_section": True,
        "is_last_in_section": False,
    }
    assert [(one["address"], one["caption"], one["page"]) for one in shown["figures"]] == [
        ("trees/fig1", "Figure 1: A segment tree over eight leaves.", 2)
    ]
    assert [(box["page"], box["top"]) for box in shown["boxes"]] == [(2, 10)]
    assert trees.text("trees")[shown["start"] : shown["end"]] == shown["text"]
    last = trees.show("trees/ch2/s0/p1").as_dict()
    assert (last["previous"]["address"], last["next"], last["position"]["is_last_in_section"]) == (
        "trees/ch2/s0/p0", None, True,
    )  # fmt: skip


def test_neighbours_of_many_chunks_are_one_question_and_the_same_as_shown(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_library(library, "a", "b/ch2", "c")
    chunks = library.stores.catalog.chunks_of(["a", "b/ch2", "c"])
    shown = {chunk.address: library.show(chunk.address) for chunk in chunks}
    expected = {address: view.around for address, view in shown.items() if isinstance(view, ChunkView)}
    asked = _spied(monkeypatch, library.stores.catalog, "chunks")
    around = library.around(chunks)
    assert {address: one for address, one in around.items() if address in expected} == expected
    assert around["a/fig1"].as_dict() == {"previous": None, "next": None}
    assert len(asked) == 1


def test_a_preview_ends_where_a_sentence_does() -> None:
    short = "One sentence. And another."
    assert preview(short) == short
    long = " ".join(f"This is sentence number {number} of a long text." for number in range(20))
    assert preview(long) == " ".join(f"This is sentence number {number} of a long text." for number in range(3))
    endless = "word " * 400
    assert preview(endless).endswith("word …")
    assert first_sentence("# A heading\n\nThe first. The second.") == "The first."


@given(st.text(alphabet=st.sampled_from("ab .!?\n。漢🙂"), max_size=1200))
def test_previews_are_one_line_of_at_most_three_hundred_characters_from_the_beginning(text: str) -> None:
    for shown in (preview(text), first_sentence(text)):
        assert len(shown) <= 300
        assert "\n" not in shown
    line = " ".join(text.split())
    assert line.startswith(preview(text).removesuffix(" …"))
    assert len(preview(text)) >= min(120, len(line)) or preview(text).endswith(" …")


# Figures


def test_a_figure_shows_what_it_is_where_it_stands_and_who_speaks_of_it(trees: Library) -> None:
    shown = trees.show("trees/fig1").as_dict()
    assert (shown["kind"], shown["figure_kind"], shown["label"], shown["page"]) == ("figure", "figure", "Figure 1", 2)
    assert shown["caption"] == "Figure 1: A segment tree over eight leaves."
    assert (shown["description"], shown["image"], shown["box"]["top"]) == ("A drawing of a tree", None, 30)
    assert [one["address"] for one in shown["referenced_by"]] == ["trees/ch1/s0/p0", "trees/ch2/s0/p0"]
    assert shown["referenced_by"][0]["preview"] == "They are drawn in Fig. 1."
    table = trees.show("trees/fig2").as_dict()
    assert (table["figure_kind"], table["page"], table["box"]) == ("table", 3, None)
    assert "| 8 | 0.1 |" in table["text"]


def test_figures_are_found_by_kind_however_rare_and_scored_from_0_to_1(library: Library) -> None:
    full_library(library, *(f"p{number}" for number in range(30)))
    for kind in (None, *ExhibitKind):
        for mode in ("hybrid", "vector", "keyword"):
            found = library.figures("segment trees leaf", kind=kind, mode=mode, limit=12)
            assert len(found.figures) == 12
            kinds = {one.view.figure.exhibit.kind for one in found.figures}
            assert kinds == {kind} if kind else kinds <= set(ExhibitKind)
            scores = [one.passage.score for one in found.figures]
            assert scores == sorted(scores, reverse=True)
            assert all(0 <= score <= 1 for score in scores)
            assert all(one.similarity is None or 0 <= one.similarity <= 1 for one in found.figures)
    inside = library.figures("leaf", kind=ExhibitKind.ALGORITHM, where=Filter(paper_ids=frozenset({"p7"})))
    assert [one.view.figure.chunk.address for one in inside.figures] == ["p7/fig3"]
    nothing = library.figures("leaf", kind=ExhibitKind.TABLE, where=Filter(year_min=2050))
    assert (nothing.figures, nothing.as_dict()["total"]) == ((), 0)


def test_figures_of_a_library_without_an_index_are_an_error_and_not_an_empty_result(library: Library) -> None:
    for kind in (None, ExhibitKind.TABLE):
        with pytest.raises(IndexNotFound):
            library.figures("anything", kind=kind)


def test_a_picture_is_found_beside_its_papers_file_and_nowhere_else(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "library" / "papers"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "tree.png").write_bytes(b"png")
    (tmp_path / "library" / "secret.png").write_bytes(b"secret")
    (folder / "notes.txt").write_text("no picture")
    (folder / "link.png").symlink_to(tmp_path / "library" / "secret.png")
    for image, is_there in (
        ("images/tree.png", True),
        ("../secret.png", False),
        (str(tmp_path / "library" / "secret.png"), False),
        ("link.png", False),
        ("notes.txt", False),
        ("gone.png", False),
        ("https://example.org/x.png", False),
        ("\x00.png", False),
        ("a" * 5000 + ".png", False),
    ):
        put(library, paper(reference(), image=image), source="papers/trees.md")
        shown = library.show("trees/fig1").as_dict()["image"]
        assert shown == (str((folder / "images" / "tree.png").resolve()) if is_there else None), image


def test_pictures_that_came_inside_a_file_are_kept_whole_and_replaced_whole(library: Library, tmp_path: Path) -> None:
    hostile = "../../evil/…\x00 .png"
    library.pictures.keep("o'neil/../x", [Image("a.PNG", b"1"), Image(hostile, b"2"), Image("run.sh", b"3")])
    kept = sorted(path.relative_to(library.layout.images) for path in library.layout.images.rglob("*.png"))
    assert len(kept) == 2
    assert all(len(path.parts) == 2 for path in kept)
    found = library.pictures.find("o'neil/../x", hostile, ())
    assert found is not None
    assert found.read_bytes() == b"2"
    assert library.pictures.find("o'neil/../x", "run.sh", ()) is None
    assert library.pictures.find("another", "a.PNG", ()) is None
    library.pictures.keep("o'neil/../x", [Image("b" * 300 + ".jpeg", b"4")])
    assert library.pictures.find("o'neil/../x", "a.PNG", ()) is None
    long = library.pictures.find("o'neil/../x", "b" * 300 + ".jpeg", ())
    assert long is not None
    assert (long.suffix, long.read_bytes()) == (".jpeg", b"4")
    library.pictures.keep("o'neil/../x", [])
    assert not list(library.layout.images.iterdir())


def test_an_interruption_while_pictures_are_kept_leaves_the_old_ones(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.pictures.keep("a", [Image("old.png", b"old")])

    def stop(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", stop)
        with pytest.raises(KeyboardInterrupt):
            library.pictures.keep("a", [Image("new.png", b"new")])
    assert library.pictures.find("a", "old.png", ()) is not None
    assert [path.name for path in library.layout.images.iterdir()] == ["a"]


def test_a_figure_shows_the_picture_that_the_library_kept(library: Library) -> None:
    put(library, paper(reference(), image="_page_2_Figure_1.jpeg"))
    library.pictures.keep("trees", [Image("_page_2_Figure_1.jpeg", b"jpeg")])
    shown = library.show("trees/fig1").as_dict()["image"]
    assert Path(shown).read_bytes() == b"jpeg"


# Lists


@pytest.fixture
def several(library: Library, tmp_path: Path) -> Library:
    records = [
        reference("b", "Beta", published=Published(2019), venue="Nature", tags=("x",)),
        reference("d", "delta", published=Published(2021), venue="Nature Methods", tags=("x", "y")),
        reference("a", "Álpha", published=Published(), venue="ACL", tags=("y",)),
    ]
    (tmp_path / "in.jsonl").write_text("".join(f"{jsonl.dump(one)}\n" for one in records), encoding="utf-8")
    library.add(tmp_path / "in.jsonl")
    put(library, paper(reference("c", "Gamma", authors=(), published=Published(2020), venue="", tags=())))
    return library


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (Wanted(), "abcd"),
        (Wanted(sort=Sort.YEAR), "dcba"),
        (Wanted(sort=Sort.TITLE), "abdc"),
        (Wanted(sort=Sort.ADDED), "cadb"),
        (Wanted(names=("d", "Álpha")), "ad"),
        (Wanted(where=Filter(year_min=2020)), "cd"),
        (Wanted(where=Filter(year_max=2020)), "bc"),
        (Wanted(where=Filter(venue="nature")), "bd"),
        (Wanted(where=Filter(tags=frozenset({"x", "nothing"}))), "bd"),
        (Wanted(authors=("muller",)), "abd"),
        (Wanted(authors=("nobody", "TIM Y")), "abd"),
        (Wanted(authors=("Yu, T",)), "abd"),
        (Wanted(authors=("my",)), ""),
        (Wanted(names=("a", "b"), where=Filter(year_min=2000), authors=("yu",)), "b"),
    ],
)
def test_a_list_has_what_is_wanted_in_the_order_wanted(several: Library, wanted: Wanted, ids: str) -> None:
    assert "".join(one.row.reference.id for one in several.papers(wanted).papers) == ids


def test_a_limited_list_says_how_many_there_are_and_counts_chunks_and_figures(several: Library) -> None:
    listing = several.papers(Wanted(sort=Sort.YEAR, limit=2))
    assert listing.total == 4
    assert [(one.row.reference.id, one.chunk_count, one.figure_count) for one in listing.papers] == [
        ("d", 2, 0),
        ("c", 6, 3),
    ]
    with pytest.raises(InvalidInput, match="limit must not be negative, got -1"):
        several.papers(Wanted(limit=-1))
    with pytest.raises(PaperNotFound):
        several.papers(Wanted(names=("nobody",)))


def test_tags_are_counted_of_all_papers_or_of_some(several: Library) -> None:
    assert several.tags() == {"x": 2, "y": 2}
    assert several.tags("d", "Beta", "d") == {"x": 2, "y": 1}
    assert several.tags("c") == {}
