"""Reading RIS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from carrel.references import ris
from carrel.types import Author, Published, Reference

Write = Callable[[str, str | bytes], Path]

FULL = """TY  - JOUR
ID  - yu2020
AU  - Yu, Tim
AU  - King, Martin, Jr.
TI  - On <i>graphs</i>
T2  - Journal of Results
PY  - 2020
DA  - 2020/05/21/
DO  - https://doi.org/10.1000/ABC
AB  - First line
that goes on.
N1  - Read it.
KW  - graphs
KW  - trees; woods
AN  - 123
DB  - PubMed
C2  - PMC77
L1  - papers/yu.pdf
L1  - file:///etc/passwd.pdf
UR  - https://arxiv.org/abs/2001.00001
ER  -
"""


def test_every_field_that_a_record_knows_is_read_and_a_bad_path_named(write: Write) -> None:
    found = ris.read(write("a.ris", FULL))
    assert found.references == [
        Reference(
            id="yu2020",
            title="On graphs",
            doi="10.1000/abc",
            authors=(Author("Yu", "Tim"), Author("King", "Martin, Jr.")),
            abstract="First line that goes on.",
            venue="Journal of Results",
            note="Read it.",
            published=Published(2020, 5, 21),
            pdf_path="papers/yu.pdf",
            tags=("graphs", "trees", "woods"),
            pmid="123",
            pmcid="PMC77",
            arxiv_id="2001.00001",
        )
    ]
    assert [remark.reason for remark in found.remarks] == [
        "the path '/etc/passwd.pdf' is not in the folder of its file; the entry is kept without it"
    ]


def test_an_entry_whose_end_is_missing_ends_where_the_next_begins(write: Write) -> None:
    found = ris.read(
        write("a.ris", "TY  - BOOK\r\nTI  - A\r\nT2  - Series\r\nTY  - BOOK\r\nT1  - B\r\n".encode("utf-16"))
    )
    assert [(reference.title, reference.venue) for reference in found.references] == [("A", ""), ("B", "")]


def test_empty_entries_and_stray_fields_are_named_by_their_line(write: Write) -> None:
    found = ris.read(write("a.ris", "AU  - Nobody\nTY  - JOUR\nER  - \nTY  - JOUR\nT1  - A\nER  - \n"))
    assert [reference.id for reference in found.references] == ["A"]
    assert [problem.source.rsplit(":", 1)[1] for problem in found.problems] == ["1", "2"]
