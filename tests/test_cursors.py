"""Lists are leafed through without losing a place, whatever comes and goes meanwhile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import cursors
from carrel.errors import InvalidInput

NAMES = st.lists(st.text(min_size=1, max_size=3), unique=True, max_size=30)


def leafed(items: list[str], limit: int) -> list[tuple[str, ...]]:
    pages, cursor = [], ""
    while True:
        page = cursors.opened(cursor, of="x").page(items, str, limit=limit)
        pages.append(page.items)
        if page.next_cursor is None:
            return pages
        cursor = page.next_cursor


@given(NAMES, st.integers(1, 10))
def test_pages_together_are_the_list_and_none_but_the_first_is_empty(items: list[str], limit: int) -> None:
    pages = leafed(items, limit)
    assert [item for page in pages for item in page] == items
    assert all(pages[1:])
    assert all(len(page) == limit for page in pages[:-1])


@given(NAMES, st.integers(1, 10), st.lists(st.text("new", min_size=4, max_size=9), unique=True, max_size=5), st.data())
def test_what_comes_in_meanwhile_neither_repeats_nor_hides_anything(
    items: list[str], limit: int, new: list[str], data: st.DataObject
) -> None:
    first = cursors.opened("", of="x").page(items, str, limit=limit)
    later = list(items)
    for one in new:
        later.insert(data.draw(st.integers(0, len(later))), one)
    if first.next_cursor is None:
        return
    rest = cursors.opened(first.next_cursor, of="x").page(later, str, limit=0).items
    assert [item for item in rest if item in items] == items[limit:]


@given(st.lists(st.text(min_size=1, max_size=3), unique=True, min_size=2, max_size=30), st.integers(1, 10))
def test_if_the_last_one_left_the_list_goes_on_where_it_stood(items: list[str], limit: int) -> None:
    first = cursors.opened("", of="x").page(items, str, limit=limit)
    if first.next_cursor is None:
        return
    left = [item for item in items if item != first.items[-1]]
    assert list(cursors.opened(first.next_cursor, of="x").page(left, str, limit=0).items) == items[limit:]


def test_a_limit_of_zero_is_everything() -> None:
    page = cursors.opened("", of="x").page(["a", "b"], str, limit=0)
    assert (page.items, page.next_cursor) == (("a", "b"), None)


def test_a_cursor_of_another_list_is_refused() -> None:
    cursor = cursors.opened("", of="x").page(["a", "b"], str, limit=1).next_cursor
    assert cursor is not None
    with pytest.raises(InvalidInput, match="no cursor of this list"):
        cursors.opened(cursor, of="y")
    with pytest.raises(InvalidInput, match="no cursor of this list"):
        cursors.opened(cursor[:-1], of="x")


@given(st.text())
def test_whatever_is_no_cursor_is_refused(text: str) -> None:
    if text.strip():
        with pytest.raises(InvalidInput, match="no cursor of this list"):
            cursors.opened(text, of="x")
