from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel import chunking
from carrel.chunking import Limits
from carrel.parsers import Source
from carrel.parsers.markdown import Markdown
from carrel.types import ATOMIC, Author, BlockKind, Chunk, Paper, Published, Reference


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
    chunk = chunking.abstract_chunk(Reference("p", "A title"), language="en", tokens=0)
    assert (chunk.address, chunk.text, chunk.title) == ("p/abstract", "", "A title")
    assert not chunking.is_embeddable(chunk)


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
