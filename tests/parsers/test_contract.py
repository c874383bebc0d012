"""What every parser promises."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from carrel import hidden
from carrel.errors import EmptyDocument, SourceError
from carrel.parsers import Parser, Source
from carrel.parsers.markdown import Markdown
from carrel.parsers.marker import Marker
from carrel.parsers.pdf import Pdf
from carrel.parsers.text import PlainText
from carrel.parsers.xml import Xml
from carrel.types import BlockKind, Paper

TEXT = "A Title\n\nFirst paragraph\nof two lines.\n\n   Second, indented a little.\n\n- an item\n- another\n"
PIECES = (
    "# Heading\n", "Setext\n===\n", "words and words. ", "\n", "\n\n", "- item\n", "  - nested\n", "1. one\n",
    "> quoted\n", "> ```\n> code\n", "```python\n", "```\n", "~~~\n", "    code\n", "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "$$\nx^2\n$$\n", "$$", "\\[\ny\n\\]\n", "\\begin{align}\nz\n\\end{align}\n", "<div>\n", "</div>\n",
    "<!-- hidden -->\n", "<table><tr><td>1</td></tr></table>\n", "---\n", "***\n", "\t", "\r\n", "\r", "\u2028",
    "\x0c", "\x0b", "漢字。", "🙂", "[link]: http://x\n", "![image](x.png)\n",
    "title: x\n", "\\", "`", "*", "_", "&amp;", "\x00",
)  # fmt: skip


@pytest.fixture(scope="module", params=[Markdown, PlainText])
def parser(request: pytest.FixtureRequest) -> Parser:
    made: Parser = request.param()
    return made


@pytest.fixture(scope="module", params=[Markdown, Marker, Pdf, PlainText, Xml])
def any_parser(request: pytest.FixtureRequest) -> Parser:
    """Those of formats that are no text, too."""
    made: Parser = request.param()
    return made


def source(parser: Parser, content: str | bytes, stem: str = "paper") -> Source:
    name = f"{stem}{min(parser.suffixes)}"
    return Source(name, content.encode() if isinstance(content, str) else content)


def parse(parser: Parser, content: str | bytes, stem: str = "paper") -> Paper:
    return parser.parse(source(parser, content, stem))


def pieces(paper: Paper) -> list[str]:
    return [paper.text[block.start : block.end] for block in paper.blocks]


def assert_in_order(paper: Paper) -> None:
    assert all(0 <= block.start < block.end <= len(paper.text) for block in paper.blocks)
    assert all(before.end <= after.start for before, after in pairwise(paper.blocks))
    assert all(piece.strip() for piece in pieces(paper))


def test_it_is_a_parser_with_a_name_and_suffixes(any_parser: Parser) -> None:
    assert isinstance(any_parser, Parser)
    assert any_parser.name
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in any_parser.suffixes)
    assert any_parser.suffixes


def test_the_text_is_the_files_own_and_blocks_are_slices_of_it_in_order(parser: Parser) -> None:
    paper = parse(parser, TEXT)
    assert paper.text == TEXT
    assert paper.format == parser.name
    assert_in_order(paper)
    assert "".join("".join(pieces(paper)).split()) == "".join(TEXT.split())
    assert BlockKind.TEXT in {block.kind for block in paper.blocks}


@given(content=some.lists(some.sampled_from(PIECES), min_size=1, max_size=25).map("".join))
def test_blocks_of_any_text_are_in_order_and_do_not_overlap(parser: Parser, content: str) -> None:
    try:
        paper = parse(parser, content)
    except SourceError as error:
        assert "'paper." in error.message  # noqa: PT017
    else:
        assert_in_order(paper)
        whole = content.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
        seen = hidden.without_unseen_characters(whole).text
        assert paper.text == (hidden.without_hidden_markup(seen).text if parser.name == "markdown" else seen)


@given(content=some.binary(max_size=300))
def test_any_bytes_are_a_paper_or_a_named_refusal(any_parser: Parser, content: bytes) -> None:
    try:
        paper = parse(any_parser, content)
    except SourceError as error:
        assert "'paper." in error.message  # noqa: PT017
        assert error.hint  # noqa: PT017
    else:
        assert_in_order(paper)


@pytest.mark.parametrize("content", [b"", b" \n\t\r\n"])
def test_a_file_of_nothing_is_refused_by_name(any_parser: Parser, content: bytes) -> None:
    with pytest.raises(EmptyDocument, match=r"'paper\.\w+' is empty"):
        parse(any_parser, content)


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\xff\xfe\n\0"])
def test_an_empty_text_is_refused_by_name(parser: Parser, content: bytes) -> None:
    with pytest.raises(EmptyDocument, match=r"'paper\.\w+' is empty"):
        parse(parser, content)


@pytest.mark.parametrize(
    "content", [b"%PDF-1.7\n\x00\x01\x02\xff\xfe", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"PK\x03\x04\x14\0\0"]
)
def test_a_file_that_is_no_text_is_refused_by_name_with_what_to_do(parser: Parser, content: bytes) -> None:
    with pytest.raises(SourceError, match=r"'paper\.\w+' is not text") as caught:
        parse(parser, content * 20)
    assert "true format" in caught.value.hint


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_common_encodings_are_read(parser: Parser, encoding: str) -> None:
    assert parse(parser, "Größe – “naïve”".encode(encoding)).text == "Größe – “naïve”"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_are_one_character_whatever_they_were(parser: Parser, end: str) -> None:
    paper = parse(parser, TEXT.replace("\n", end))
    assert paper == parse(parser, TEXT)


@pytest.mark.parametrize(("stem", "title"), [("my paper", "my paper"), ("a.b", "a.b"), ("漢字", "漢字")])
def test_a_file_without_a_title_is_called_by_its_name(parser: Parser, stem: str, title: str) -> None:
    assert parse(parser, "just a sentence, no title.", stem).reference.title == title


def test_a_file_named_by_blanks_has_a_title_too(parser: Parser) -> None:
    assert parse(parser, "just a sentence, no title.", " ").reference.title.strip()


def test_the_same_file_gives_the_same_paper(parser: Parser) -> None:
    assert parse(parser, TEXT) == parse(parser, TEXT)


@pytest.mark.parametrize(
    "content",
    ["a\n" + " " * 100_000 + "\nb", "a" * 200_000, "a\n" * 20_000, "> " * 2_000 + "a", "[" * 5_000, "`" * 20_000 + "a"],
    ids=["blanks", "one word", "lines", "quotations", "brackets", "ticks"],
)
def test_hostile_text_takes_no_longer_than_it_is_long(parser: Parser, content: str) -> None:
    start = time.process_time()
    assert_in_order(parse(parser, content))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "front",
    [
        "date: 2020-13-45",
        "date: 0000-00-00",
        "x: !!timestamp abc",
        "x: !!python/object/apply:os.system [ls]",
        "year: " + "9" * 5_000,
        "doi: 0x" + "f" * 5_000,
        "x: " + "[" * 5_000,
        "a: &a [x, x]\nb: &b [*a, *a]\nauthors: *b",
        "title: [a, {b: c}]\nauthors: {a: b}\ntags: {a: b}\nid: [1]",
        "? [a]\n: b",
        "x: @y %z",
        "- a list",
    ],
    ids=lambda text: text[:20],
)
def test_front_matter_that_makes_no_sense_is_harmless(front: str) -> None:
    paper = parse(Markdown(), f"---\n{front}\n---\n\n# Title\n\nThe text.\n")
    assert paper.reference.title == "Title"
    assert pieces(paper)[-1] == "The text."


def test_front_matter_is_taken_as_it_is_written() -> None:
    front = "id: 2020_05\ntitle: 12:30\ndoi: 10.1000\nyear: 2020\nvenue: null\ntags: [1_0, yes]\nabstract: ~"
    reference = parse(Markdown(), f"---\n{front}\n---\nThe text.\n").reference
    assert (reference.id, reference.title, reference.published.year) == ("2020_05", "12:30", 2020)
    assert (reference.tags, reference.venue, reference.abstract) == (("1_0", "yes"), "", "")
