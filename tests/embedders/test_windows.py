"""Cutting, batching and averaging, with numbers small enough to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from carrel.encoders.windows import embed_in_windows, equal_batches, split

if TYPE_CHECKING:
    from carrel.encoders.windows import Tokens
    from carrel.types import Matrix


def tokens(count: int) -> Tokens:
    return np.arange(count, dtype=np.int64)


def cut(count: int, size: int = 10, overlap: int = 2) -> list[list[int]]:
    return [window.tolist() for window in split(tokens(count), size=size, overlap=overlap)]


@pytest.mark.parametrize("count", [0, 1, 2, 9, 10])
def test_a_text_that_fits_is_one_window(count: int) -> None:
    assert cut(count) == [list(range(count))]


def test_a_text_one_token_too_long_becomes_two_windows_of_like_length_that_overlap() -> None:
    assert cut(11) == [[0, 1, 2, 3, 4, 5, 6], [5, 6, 7, 8, 9, 10]]


@pytest.mark.parametrize("count", [18, 19, 26, 27, 100, 1001])
def test_every_token_is_in_a_window_and_neighbours_share_exactly_the_overlap(count: int) -> None:
    windows = cut(count)
    assert windows[0] + [token for window in windows[1:] for token in window[2:]] == list(range(count))


@pytest.mark.parametrize("count", [18, 19, 26, 27, 100, 1001])
def test_windows_are_no_longer_than_asked_and_differ_by_one_token_at_most(count: int) -> None:
    lengths = [len(window) for window in cut(count)]
    assert max(lengths) <= 10
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize(("count", "windows"), [(10, 1), (11, 2), (18, 2), (19, 3), (26, 3), (27, 4)])
def test_there_are_as_few_windows_as_cover_the_text(count: int, windows: int) -> None:
    assert len(cut(count)) == windows


def test_only_equally_long_texts_share_a_batch_and_the_longest_come_first() -> None:
    assert list(equal_batches([3, 5, 3, 4, 3, 5], batch_tokens=100)) == [[1, 5], [3], [0, 2, 4]]


def test_a_batch_holds_no_more_tokens_than_asked() -> None:
    assert list(equal_batches([3, 3, 3, 3, 3], batch_tokens=7)) == [[0, 1], [2, 3], [4]]


def test_a_text_longer_than_the_batch_goes_alone() -> None:
    assert list(equal_batches([9, 9], batch_tokens=4)) == [[0], [1]]


def test_empty_texts_are_batched_too() -> None:
    assert list(equal_batches([0, 0, 0], batch_tokens=2)) == [[0, 1], [2]]


def first_and_one(windows: Tokens) -> Matrix:
    """A model of two dimensions: the first token of the window, and one."""
    first = windows[:, 0] if windows.shape[1] else np.zeros(len(windows))
    return np.stack([first, np.ones(len(windows))], axis=1).astype(np.float32)


def embed(*counts: int) -> Matrix:
    texts = [tokens(count) for count in counts]
    return embed_in_windows(texts, first_and_one, size=10, overlap=2, batch_tokens=20, threads=2)


def test_a_long_text_is_the_mean_of_its_unit_windows_weighted_by_their_tokens() -> None:
    early, late = np.array([0.0, 1.0]), np.array([5.0, 1.0]) / np.sqrt(26)
    mean = 7 * early + 6 * late
    assert embed(11)[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_rows_come_in_the_order_of_the_texts_whatever_their_lengths() -> None:
    together = embed(4, 11, 0, 30, 4, 1)
    alone = np.concatenate([embed(count) for count in (4, 11, 0, 30, 4, 1)])
    assert together == pytest.approx(alone, abs=1e-6)


def test_every_row_is_float32_and_of_unit_length() -> None:
    rows = embed(4, 11, 0, 100)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(4), abs=1e-6)
