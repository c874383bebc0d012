"""The first page of a PDF: what it says of the paper is in the reference, and not in the way of the text."""

from __future__ import annotations

import pytest
from reportlab.pdfgen.canvas import Canvas

from carrel.types import BlockKind
from tests.parsers.test_pdf import PROSE, assert_sound, blocks, put, read

TITLE = "On the Reading of First Pages"
NAMES = "Ada Lovelace 1 , Charles Babbage 1,2, and Grace Hopper 2"
IMPRINT = (
    "DOI: 10.21105/jose.00099",
    "Software",
    "• Review",
    "• Repository",
    "Submitted: 03 April 2020\nPublished: 23 May 2024",
    "License",
    "Authors of papers retain\ncopyright and release the\nwork under a free license.",
)


def first_page(canvas: Canvas, under: tuple[str, ...] = (), beside: tuple[str, ...] = ()) -> None:
    """A title, what stands under it, a section whose last sentence goes on overleaf, and a column beside it."""
    put(canvas, 200, 80, TITLE, size=18)
    top = 110.0
    for text in under:
        top = put(canvas, 200, top, text) + 8
    put(canvas, 200, top + 12, "Summary", size=13, font="Times-Bold")
    put(canvas, 200, top + 34, "\n".join([PROSE] * 6) + "\nA sentence that goes on and")
    top = 200.0
    for text in beside:
        top = put(canvas, 30, top, text, size=8) + 14


def second_page(canvas: Canvas) -> None:
    put(canvas, 200, 80, "ends here overleaf.\n" + PROSE)


def test_an_imprint_beside_the_text_is_in_the_reference_and_not_in_the_text() -> None:
    paper = read(lambda canvas: first_page(canvas, beside=IMPRINT), second_page)
    assert "A sentence that goes on and ends here overleaf." in paper.text
    assert (paper.reference.doi, paper.reference.published.year) == ("10.21105/jose.00099", 2024)
    assert [block.kind for block in paper.blocks][:3] == [BlockKind.HEADING, BlockKind.HEADING, BlockKind.TEXT]
    assert not [text for text in blocks(paper) if "jose" in text or "Repository" in text or "copyright" in text]
    assert_sound(paper)


def test_what_else_stands_beside_the_text_of_the_first_page_is_read_before_it() -> None:
    box = ("Key points", "Machines can read\nmargins when they are\ntold where they are", "Received 3 May 2021")
    paper = read(lambda canvas: first_page(canvas, beside=box), second_page)
    assert blocks(paper)[:4] == [
        TITLE,
        "Key points",
        "Machines can read margins when they are told where they are",
        "Summary",
    ]
    assert "A sentence that goes on and ends here overleaf." in paper.text
    assert "Received" not in paper.text


def test_names_addresses_and_mail_under_the_title_are_no_text() -> None:
    under = (
        NAMES,
        "1 Department of Engines, University of London 2 Harvard University, USA",
        "ada@engines.org, {charles,grace}@engines.org",
    )
    paper = read(lambda canvas: first_page(canvas, under))
    assert [str(author) for author in paper.reference.authors] == ["Ada Lovelace", "Charles Babbage", "Grace Hopper"]
    assert blocks(paper)[:2] == [TITLE, "Summary"]
    assert not [word for word in ("Lovelace", "Harvard", "engines.org") if word in paper.text]


@pytest.mark.parametrize(
    "said",
    [
        "Keywords: university, research, first pages",
        "This was written at the University of London in one night.",
        "With a note on research in the school of reading",
    ],
)
def test_what_is_said_among_the_names_stays_text(said: str) -> None:
    paper = read(lambda canvas: first_page(canvas, (NAMES, said)))
    assert blocks(paper)[:3] == [TITLE, said, "Summary"]


def test_an_address_is_text_where_no_names_were_found_before_it() -> None:
    address = "Department of Engines, University of London"
    paper = read(lambda canvas: first_page(canvas, (address,)))
    assert (paper.reference.authors, blocks(paper)[1]) == ((), address)


def test_words_without_capitals_are_no_names() -> None:
    paper = read(lambda canvas: first_page(canvas, ("Separation of duties and implementation of roles",)))
    assert paper.reference.authors == ()
    assert blocks(paper)[1] == "Separation of duties and implementation of roles"


def test_what_looks_like_a_name_stays_text_where_neither_an_address_nor_the_text_of_a_paper_follows() -> None:
    def draw(canvas: Canvas) -> None:
        put(canvas, 60, 80, "A Brochure about Better Nights", size=18)
        put(canvas, 60, 120, "Personal Sleep")
        put(canvas, 60, 160, "How to Begin", size=13, font="Times-Bold")
        put(canvas, 60, 182, PROSE)

    assert blocks(read(draw))[:3] == ["A Brochure about Better Nights", "Personal Sleep", "How to Begin"]


def test_a_page_of_nothing_but_names_keeps_them() -> None:
    def draw(canvas: Canvas) -> None:
        put(canvas, 60, 80, TITLE, size=18)
        put(canvas, 60, 120, NAMES)

    paper = read(draw)
    assert len(paper.reference.authors) == 3
    assert blocks(paper) == [TITLE, NAMES]
