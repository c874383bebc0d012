"""How much of one text stands in another.

Texts are compared by windows of letters, without case, blanks and punctuation, so that a line break, a hyphen or a
page's layout makes no difference. Only windows that begin in a certain way are looked at, one in sixteen: the same
ones in every text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from carrel.types import Matrix

_WORD = 8
_WINDOW = 4 * _WORD
"""Bytes, about five words of a text."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_LOOKED_AT = np.uint64(60)
"""A window is looked at when the number of its beginning has only zeros from this bit on."""
_LONGEST = 20_000
"""Letters of a text that are compared."""
_FEWEST = 8
"""Windows. With fewer, a text says too little to know it by."""
_SMALL = bytes(range(256)).lower()
_NO_LETTERS = bytes(byte for byte in range(128) if not chr(byte).isalnum())


def containment(texts: Sequence[str]) -> Matrix:
    """For each pair: how much of the shorter stands in the other, in [0, 1]; 0 where one is too short to tell."""
    owners, windows = _once(*_windows([_letters(text) for text in texts]))
    sizes = np.bincount(owners, minlength=len(texts))
    number = np.cumsum(np.append(True, windows[1:] != windows[:-1])[: len(windows)])
    shared = np.bincount(number)[number] > 1  # Most windows have but one text, and tell nothing.
    columns = np.unique(number[shared], return_inverse=True)[1]
    has = np.zeros((len(texts), columns.max(initial=-1) + 1), dtype=np.float32)
    has[owners[shared], columns] = 1.0
    smaller = np.minimum.outer(sizes, sizes)
    # By rows, as in the vector store: a matrix product would wake a thread on every core.
    shares: Matrix = np.vecdot(has[:, None], has) / np.maximum(smaller, 1.0)
    shares[smaller < _FEWEST] = 0.0
    return shares.astype(np.float32)


def _letters(text: str) -> bytes:
    return text[: 2 * _LONGEST].encode("utf-8", "replace").translate(_SMALL, _NO_LETTERS)[:_LONGEST]


def _windows(texts: Sequence[bytes]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """The text of each window that is looked at, and the window as a number."""
    everything = b"".join(texts)
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    if len(everything) < _WINDOW:
        return owners[:0], np.empty(0, dtype=np.uint64)
    # The eight bytes from each place on, read as one number.
    words: NDArray[np.uint64] = np.ndarray((len(everything) - _WORD + 1,), "<u8", everything, strides=(1,))
    begins = np.flatnonzero(words[: len(everything) - _WINDOW + 1] * _FACTOR >> _LOOKED_AT == 0)
    begins = begins[owners[begins] == owners[begins + _WINDOW - 1]]
    numbers = words[begins]
    for step in range(_WORD, _WINDOW, _WORD):
        numbers = (numbers ^ numbers >> np.uint64(32)) * _FACTOR + words[begins + step]
    return owners[begins], numbers


def _once(owners: NDArray[np.intp], windows: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """In order of the windows, and each but once for each text."""
    order = np.argsort(windows, kind="stable")
    owners, windows = owners[order], windows[order]
    new = np.append(True, (owners[1:] != owners[:-1]) | (windows[1:] != windows[:-1]))[: len(order)]
    return owners[new], windows[new]
