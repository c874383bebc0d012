from __future__ import annotations

import pytest

from carrel.selecting import Criteria, select
from carrel.types import Author, Reference

PAPERS = [
    Reference(
        "a", "Graph Neural Networks", doi="10.1000/A", authors=(Author("Yu", "Timothy J."), Author("Smith", "Ada"))
    ),
    Reference("b", "Neural Parsing of Graphs", authors=(Author("Yu", "Ann"),)),
    Reference("c", "Über Bäume", authors=(Author("van der Berg", "Zoë"), Author("Müller"))),
]


@pytest.mark.parametrize(
    ("criteria", "found"),
    [
        (Criteria(authors=("Yu",)), "ab"),
        (Criteria(authors=("yu",)), "ab"),
        (Criteria(authors=("Tim Yu",)), "a"),
        (Criteria(authors=("Yu, Tim",)), "a"),
        (Criteria(authors=("T. Yu",)), "a"),
        (Criteria(authors=("Yu, B",)), ""),
        (Criteria(authors=("Y",)), ""),
        (Criteria(authors=("Yu", "Smith")), "a"),
        (Criteria(authors=("van der Berg",)), "c"),
        (Criteria(authors=("Zoe van der Berg",)), "c"),
        (Criteria(authors=("Muller",)), "c"),
        (Criteria(title="neural graph"), "ab"),
        (Criteria(title="uber baume"), "c"),
        (Criteria(doi="https://doi.org/10.1000/a"), "a"),
        (Criteria(doi="10.1000/none"), ""),
        (Criteria(doi="nonsense"), ""),
        (Criteria(authors=("Yu",), title="parsing"), "b"),
        (Criteria(), "abc"),
    ],
    ids=str,
)
def test_papers_are_selected_by_what_their_records_say(criteria: Criteria, found: str) -> None:
    assert select(criteria, PAPERS) == frozenset(found)
