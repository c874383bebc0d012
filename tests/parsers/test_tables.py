"""Tables with spans, as pipe tables."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as some

from carrel.parsers.tables import Cell, Row, pipe_table, span

CELLS = some.builds(
    Cell,
    some.text(alphabet="ab |$\\\n", max_size=6),
    columns=some.integers(1, 4),
    rows=some.integers(1, 4),
)
ROWS = some.builds(Row, some.lists(CELLS, min_size=1, max_size=5), is_header=some.booleans())
BARE_PIPE = re.compile(r"(?<!\\)\|")


def lines(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in BARE_PIPE.split(line)[1:-1]] for line in table.split("\n")]


def test_spans_are_filled_and_rows_of_the_head_are_joined() -> None:
    head = [
        Row([Cell("Model", rows=2), Cell("Score", columns=2)], is_header=True),
        Row([Cell("dev"), Cell("test")], is_header=True),
    ]
    body = [Row([Cell("A", rows=2), Cell("1"), Cell("2")]), Row([Cell("3"), Cell("4")])]
    assert pipe_table([*head, *body]) == (
        "| Model | Score dev | Score test |\n| --- | --- | --- |\n| A | 1 | 2 |\n| A | 3 | 4 |"
    )


def test_pipes_are_escaped_and_formulas_keep_their_meaning() -> None:
    assert pipe_table([Row([Cell("a|b"), Cell("$|x|$")])]).split("\n")[0] == r"| a\|b | $\vert x\vert $ |"


@given(rows=some.lists(ROWS, max_size=8))
def test_every_row_is_as_wide_as_the_others_and_no_words_are_lost(rows: list[Row]) -> None:
    table = pipe_table(rows)
    words = "".join(cell.text for row in rows for cell in row.cells).split()
    if not table:
        assert not words
        return
    found = lines(table)
    assert len({len(line) for line in found}) == 1
    assert found[1] == ["---"] * len(found[0])
    letters = {letter for word in words for letter in word if letter in "ab"}
    assert letters <= set(table)
    assert all(len(line) >= sum(1 for _ in row.cells) for row in rows for line in found)


@given(columns=some.integers(1, 99_999), rows=some.integers(1, 99_999))
def test_a_span_cannot_ask_for_more_than_there_is_room_for(columns: int, rows: int) -> None:
    start = time.process_time()
    wide = Row([Cell("x" * 1_000, columns, rows)])
    assert len(pipe_table([wide] * 50)) < 3_000_000
    assert time.process_time() - start < 2


def test_a_span_that_is_no_number_is_one() -> None:
    assert [span(value) for value in ("3", "0", "-2", "two", "", None, "9" * 50, "²")] == [3, 1, 1, 1, 1, 1, 1, 1]
