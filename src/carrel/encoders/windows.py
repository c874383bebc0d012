"""Texts of any length through a model of a fixed one: windows and batches of them."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from carrel.types import Matrix

    Tokens = NDArray[np.int64]
    """The token ids of one text or window; as a matrix, of several equally long ones."""


def embed_in_windows(
    texts: Sequence[Tokens],
    encode: Callable[[Tokens], Matrix],
    *,
    size: int,
    overlap: int,
    batch_tokens: int,
    threads: int,
) -> Matrix:
    """One unit row for each text, given a function that encodes equally long windows of at most `size`.

    `encode` is called from `threads` threads at once, each with a batch of its own.
    """
    import numpy as np

    cut = [split(text, size=size, overlap=overlap) for text in texts]
    windows = [window for windows in cut for window in windows]
    vectors = encode_windows(windows, encode, batch_tokens=batch_tokens, threads=threads)
    weights = np.array([max(1, len(window)) for window in windows], dtype=np.float32)[:, np.newaxis]
    first = list(accumulate(map(len, cut), initial=0))[:-1]
    return unit_rows(np.add.reduceat(unit_rows(vectors) * weights, first, axis=0))


def encode_windows(
    windows: Sequence[Tokens], encode: Callable[[Tokens], Matrix], *, batch_tokens: int, threads: int
) -> Matrix:
    """One row for each window, in their order; `encode` gets equally long ones."""
    import numpy as np

    batches = list(equal_batches([len(window) for window in windows], batch_tokens))
    stacks = (np.stack([windows[at] for at in batch]) for batch in batches)
    if len(batches) == 1:
        # A question: to start a thread for it takes longer than it is worth.
        encoded = [encode(stack) for stack in stacks]
    else:
        with ThreadPoolExecutor(threads) as pool:
            encoded = list(pool.map(encode, stacks))
    rows = np.empty((len(windows), encoded[0].shape[1]), dtype=np.float32)
    rows[[at for batch in batches for at in batch]] = np.concatenate(encoded)
    return rows


def split(tokens: Tokens, *, size: int, overlap: int) -> list[Tokens]:
    """As few windows of at most `size` tokens as cover the text, each sharing `overlap` with the next.

    They are as long as one another, to a token: a short last window would speak for its few words alone.
    """
    count = max(1, -(-(len(tokens) - overlap) // (size - overlap)))
    step, longer = divmod(max(0, len(tokens) - overlap), count)
    ends = accumulate([step + 1] * longer + [step] * (count - longer), initial=0)
    return [tokens[start : end + overlap] for start, end in pairwise(ends)]


def equal_batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """The positions of equally long texts, `batch_tokens` tokens at a time, the longest first.

    Nothing is padded: no time goes into empty places, and no text's vector depends on its neighbours.
    """
    alike: defaultdict[int, list[int]] = defaultdict(list)
    for position, length in enumerate(lengths):
        alike[length].append(position)
    for length in sorted(alike, reverse=True):
        count = max(1, batch_tokens // max(1, length))
        for start in range(0, len(alike[length]), count):
            yield alike[length][start : start + count]


def unit_rows(rows: Matrix) -> Matrix:
    import numpy as np

    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
