from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel import chunking
from carrel.chunking import Limits, abstracts
from carrel.parsers import Source
from carrel.parsers.markdown import Markdown
from carrel.types import (
    ATOMIC,
    Author,
    Block,
    BlockKind,
    Box,
    Chunk,
    ChunkKind,
    Exhibit,
    ExhibitKind,
    Paper,
    Place,
    Published,
    Reference,
)


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def split(markdown: str, limits: Limits) -> tuple[Paper, tuple[Chunk, ...]]:
    paper = Markdown().parse(Source("p.md", markdown.encode()))
    paper = Paper(
        Reference("p", "T", authors=(Author("Yu", "Tim"),), published=Published(2020), tags=("x",)),
        paper.text,
        paper.blocks,
        "markdown",
        topic="graphs",
        language="en",
    )
    return paper, chunking.split(paper, count_tokens=words, limits=limits)


SMALL = Limits(least=5, target=10, most=20)


def test_a_chunk_is_the_blocks_of_one_section_with_its_place_and_facts() -> None:
    _, chunks = split(
        f"# T\n\n{'one ' * 8}\n\n## A\n\n{'two ' * 8}\n\n### A1\n\n{'three ' * 8}\n\n## B\n\n{'four ' * 8}", SMALL
    )
    assert [(chunk.address, chunk.section_path) for chunk in chunks] == [
        ("p/ch0/s0/p0", ()),
        ("p/ch1/s0/p0", ("A",)),
        ("p/ch1/s1/p0", ("A", "A1")),
        ("p/ch2/s0/p0", ("B",)),
    ]
    assert chunks[2].heading == "T — A — A1"
    assert {(c.title, c.authors, c.year, c.tags, c.topic, c.language) for c in chunks} == {
        ("T", ("Tim Yu",), 2020, ("x",), "graphs", "en")
    }
    assert [chunk.position for chunk in chunks] == [0, 1, 2, 3]


def test_several_top_headings_are_chapters_and_a_single_one_is_the_title() -> None:
    _, several = split(f"# A\n\n{'a ' * 8}\n\n# B\n\n{'b ' * 8}", SMALL)
    assert [chunk.address for chunk in several] == ["p/ch1/s0/p0", "p/ch2/s0/p0"]
    _, single = split(f"# A\n\n{'a ' * 8}", SMALL)
    assert [chunk.address for chunk in single] == ["p/ch1/s0/p0"]


def test_blocks_are_gathered_until_the_target_and_never_beyond_the_limit() -> None:
    _, chunks = split("\n\n".join("word " * 6 for _ in range(6)), SMALL)
    assert [chunk.token_count for chunk in chunks] == [12, 12, 12]


def test_prose_that_is_too_long_is_split_at_sentences() -> None:
    _, chunks = split(" ".join(f"Sentence number {i} has six words." for i in range(10)), SMALL)
    assert all(chunk.text.endswith(".") and chunk.token_count <= SMALL.most for chunk in chunks)
    assert len(chunks) == 4


def test_a_sentence_that_is_too_long_is_split_at_words_and_nothing_is_lost() -> None:
    paper, chunks = split("word " * 100, SMALL)
    assert sum(chunk.token_count for chunk in chunks) == 100
    assert "".join(chunk.text for chunk in chunks).replace(" ", "") == paper.text.replace(" ", "").strip()


def test_a_piece_that_is_too_small_joins_its_section_first_then_its_chapter() -> None:
    _, chunks = split(
        f"# T\n\n## A\n\n{'a ' * 12}\n\n{'b ' * 12}\n\ntiny\n\n## B\n\nalso tiny\n\n### C\n\n{'c ' * 9}", SMALL
    )
    assert [(chunk.address, chunk.token_count) for chunk in chunks] == [
        ("p/ch1/s0/p0", 12),
        ("p/ch1/s0/p1", 13),
        ("p/ch2/s1/p0", 11),
    ]


def test_a_chunk_of_several_sections_knows_where_each_begins() -> None:
    paper, chunks = split(
        f"# T\n\n## A\n\n{'a ' * 12}\n\n## B\n\nshort\n\nshort again\n\n### C\n\n{'c ' * 9}\n\n## D\n\n{'d ' * 9}",
        SMALL,
    )
    whole, joined, last = chunks
    assert (whole.sections, last.sections) == ((), ())
    assert joined.section_path == ("B", "C")
    assert [(paper.text[start:].split()[0], path) for start, path in joined.sections] == [
        ("short", ("B",)),
        ("c", ("B", "C")),
    ]
    again, long = paper.text.index("again"), paper.text.index("c c")
    assert (joined.section_at(joined.start), joined.section_at(again), joined.section_at(long)) == (
        ("B",), ("B",), ("B", "C"),
    )  # fmt: skip
    assert (whole.section_at(whole.start), last.section_at(last.end - 1)) == (("A",), ("D",))


def test_the_only_chunk_of_a_short_document_may_be_small() -> None:
    _, chunks = split("tiny", SMALL)
    assert [chunk.text for chunk in chunks] == ["tiny"]


def test_code_formulas_and_tables_come_out_as_they_went_in() -> None:
    code = "```c\nfor (;;) { /* $& $$ */ }\n\n\nreturn 0; " + "x " * 60 + "\n```"
    formula = "$$\nE = mc^2 \\\\\n" + "y " * 60 + "\n$$"
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {i} | z |" for i in range(40))
    _, chunks = split(f"# T\n\nIntro words here.\n\n{code}\n\nBetween them.\n\n{formula}\n\n{table}\n", SMALL)
    for atom, flag in ((code, "has_code"), (formula, "has_formula"), (table, "has_table")):
        holders = [chunk for chunk in chunks if atom in chunk.text]
        assert len(holders) == 1
        assert getattr(holders[0], flag)


@pytest.mark.parametrize("heading", ["References", "7 References", "BIBLIOGRAPHY", "参考文献"])
def test_a_bibliography_is_not_searched_as_prose(heading: str) -> None:
    _, chunks = split(f"# T\n\n## A\n\n{'a ' * 8}\n\n## {heading}\n\nSmith 2020. A title.\n\n## C\n\n{'c ' * 8}", SMALL)
    assert not any("Smith" in chunk.text for chunk in chunks)
    assert len(chunks) == 2


def test_a_reference_is_one_chunk_even_without_an_abstract() -> None:
    (chunk,) = abstracts.reference_chunks(Reference("p", "A title"), language="en", count_tokens=words)
    assert (chunk.address, chunk.text, chunk.title) == ("p/abstract", "", "A title")
    assert not chunking.is_embeddable(chunk)


@pytest.mark.parametrize("abstract", ["", "What the authors say."])
def test_a_note_is_a_chunk_of_its_own_after_the_abstract(abstract: str) -> None:
    reference = Reference("p", "A title", abstract=abstract, note=" Mine. ", tags=("to read", "ris:incomplete", "x"))
    _, note = abstracts.reference_chunks(reference, language="en", count_tokens=words)
    text = abstracts.reference_text(reference)
    assert (note.address, note.text, note.text) == ("p/note", "Mine.\nto read, x", text[note.start : note.end])
    assert text.startswith(abstract)
    assert (note.token_count, note.embedded_text) == (4, note.text)


paragraph = st.lists(st.sampled_from(["word", "Word.", "longer", "a", "e.g.", "End!"]), min_size=1, max_size=50).map(
    " ".join
)
block = st.one_of(
    paragraph,
    paragraph.map(lambda text: f"# {text[:30]}"),
    paragraph.map(lambda text: f"## {text[:30]}"),
    paragraph.map(lambda text: f"### {text[:30]}"),
    paragraph.map(lambda text: f"```\n{text}\n```"),
    paragraph.map(lambda text: f"- {text}\n- {text}"),
    paragraph.map(lambda text: f"$$\n{text}\n$$"),
)


@settings(deadline=None, max_examples=150)
@given(st.lists(block, min_size=1, max_size=12))
def test_no_text_is_lost_doubled_or_moved_and_offsets_are_true(blocks: list[str]) -> None:
    paper, chunks = split("\n\n".join(blocks), SMALL)
    assert all(chunk.text == paper.text[chunk.start : chunk.end] for chunk in chunks)
    assert all(one.end <= other.start for one, other in pairwise(chunks))
    assert len({chunk.address for chunk in chunks}) == len(chunks)
    covered = {offset for chunk in chunks for offset in range(chunk.start, chunk.end)}
    for part in paper.blocks:
        if part.kind == BlockKind.HEADING:
            continue
        inside = [offset for offset in range(part.start, part.end) if not paper.text[offset].isspace()]
        assert covered.issuperset(inside)
        if part.kind in ATOMIC:
            assert sum(chunk.start <= part.start and part.end <= chunk.end for chunk in chunks) == 1


@st.composite
def papers(draw: st.DrawFn) -> Paper:
    """Any sequence of blocks, some of them in exhibits, with a place for every line."""
    pieces, blocks, exhibits, places = list[str](), list[Block](), list[Exhibit](), list[Place]()
    length = 0
    for number in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(list(BlockKind)))
        words = draw(st.integers(1, 30))
        text = " ".join(f"w{number}." for _ in range(words))
        if draw(st.booleans()):
            text = f"{text} See Fig. {draw(st.integers(1, 3))}."
        block = Block(kind, length, length + len(text), level=draw(st.integers(1, 3)), title=f"H{number}")
        blocks.append(block)
        places.append(Place(block.start, block.end, Box(number // 3 + 1, 0, number, 100, number + 1)))
        if kind in (BlockKind.FIGURE, BlockKind.CAPTION) or (kind == BlockKind.TABLE and draw(st.booleans())):
            label = f"Figure {len(exhibits) + 1}"
            exhibits.append(Exhibit(ExhibitKind.FIGURE, block.start, block.end, label=label))
        pieces.append(text)
        length = block.end + 2
    return Paper(
        Reference("p", "T"), "\n\n".join(pieces), tuple(blocks), "x", places=tuple(places), exhibits=tuple(exhibits)
    )


@settings(max_examples=200)
@given(papers())
def test_nothing_is_lost_or_said_twice_whatever_the_blocks_and_exhibits(paper: Paper) -> None:
    chunks = chunking.split(paper, count_tokens=words, limits=SMALL)
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.text == paper.text[chunk.start : chunk.end] for chunk in chunks)
    assert len({chunk.address for chunk in chunks}) == len(chunks)
    passages = [chunk for chunk in chunks if chunk.kind == ChunkKind.PASSAGE]
    exhibits = [chunk for chunk in chunks if chunk.kind == ChunkKind.EXHIBIT]
    assert [(one.start, one.end) for one in exhibits] == [(one.start, one.end) for one in paper.exhibits]
    assert all(before.end <= after.start for before, after in pairwise(passages))
    for block in paper.blocks:
        holding = [chunk for chunk in chunks if chunk.start < block.end and block.start < chunk.end]
        if block.kind == BlockKind.REFERENCE:
            assert holding == []
        elif block.kind != BlockKind.HEADING:
            covered = set().union(*(range(chunk.start, chunk.end) for chunk in holding))
            missing = "".join(paper.text[at] for at in range(block.start, block.end) if at not in covered)
            assert missing.strip() == ""
            # Only a figure's caption may be read twice: in its own chunk, and in the one that was joined across it.
            inside = any(one.start <= block.start < one.end for one in paper.exhibits)
            atomic = block.kind in ATOMIC and not inside
            assert len(holding) <= 2 if inside else not atomic or len(holding) == 1
    for chunk in chunks:
        assert chunk.page_start is not None
        labels = {f"Fig. {number}." for number in range(1, 4) if f"p/fig{number}" in chunk.exhibits}
        assert all(label in chunk.text for label in labels)
        whole = chunk.has_code or chunk.has_table or chunk.has_formula or chunk.kind == ChunkKind.EXHIBIT
        assert chunk.token_count <= SMALL.hard or whole


def test_a_piece_of_code_too_large_for_a_chunk_is_kept_whole_and_flagged() -> None:
    code = "```\n" + "x = 1\n" * 900 + "```"
    _, (chunk,) = split(f"# T\n\n{code}", Limits())
    assert (chunk.text, chunk.token_count, chunk.is_oversized) == (code, 2702, True)
    assert Limits().hard == 2000


def test_a_passage_knows_the_figures_it_speaks_of_and_its_pages() -> None:
    text = "As Figs. 1 and 2 show, and Table 7 does not.\n\nFigure 1: One.\n\nFig. 2. Two, unlike Figure 1."
    first, second = text.index("Figure 1:"), text.index("Fig. 2.")
    blocks = (
        Block(BlockKind.TEXT, 0, first - 2),
        Block(BlockKind.CAPTION, first, second - 2),
        Block(BlockKind.CAPTION, second, len(text)),
    )
    exhibits = tuple(
        Exhibit(ExhibitKind.FIGURE, block.start, block.end, label)
        for block, label in zip(blocks[1:], ("Figure 1", "Figure 2"), strict=True)
    )
    places = tuple(Place(block.start, block.end, Box(page, 0, 0, 9, 9)) for page, block in enumerate(blocks, 4))
    paper = Paper(Reference("p", "T"), text, blocks, "x", places=places, exhibits=exhibits)
    chunks = chunking.split(paper, count_tokens=words, limits=SMALL)
    assert [(one.address, one.exhibits, one.page_start) for one in chunks] == [
        ("p/ch0/s0/p0", ("p/fig1", "p/fig2"), 4),
        ("p/fig1", (), 5),
        ("p/fig2", ("p/fig1",), 6),
    ]
