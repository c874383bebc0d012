"""What the embedders share whose models run behind a server."""

from __future__ import annotations

import hashlib
import json
import logging
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar

from carrel.embedders.cache import file_name
from carrel.encoders.windows import split, unit_rows
from carrel.errors import DimensionMismatchError, StoreUnavailable
from carrel.files import write_atomically, writing
from carrel.servers import Client, Refused, whole
from carrel.telemetry import log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from carrel.types import Matrix, Vector

DEFAULT_TOKENS = 512
OVERLAP = 32
SHORTEST = 16


class ServedEmbedder:
    """A model behind a server, of which nothing is known but the vectors that it gives.

    Without its tokenizer, tokens are estimated: four characters make one, or one and a half where the script is
    Chinese, Japanese or Korean. A window that the server finds too long all the same is halved until it fits.
    """

    kind: ClassVar[str]
    default_url: ClassVar[str] = ""
    default_tag: ClassVar[str] = ""

    def __init__(
        self,
        argument: str,
        *,
        base_url: str = "",
        api_key: str = "",
        query_prefix: str = "",
        passage_prefix: str = "",
        dimensions: int = 0,
        max_tokens: int = 0,
        batch_size: int = 16,
        timeout: float = 30.0,
        cache: Path | None = None,
    ) -> None:
        self.model = argument.removesuffix(self.default_tag)
        self.max_tokens = max_tokens or DEFAULT_TOKENS
        self.client = Client(base_url or self.default_url, timeout, api_key)
        self.query_prefix = query_prefix
        self.passage_prefix = passage_prefix
        self.dimensions = dimensions
        self.batch_size = batch_size
        self.name = variant(f"{self.kind}:{self.model}", passage_prefix, dimensions, max_tokens)
        self._is_sure = False
        """Whether the model has given a vector of the expected length: another is its slip, not its new length."""
        self._memory = cache / f"{file_name(self.name)}.json" if cache else None

    @cached_property
    def dim(self) -> int:
        """Remembered on disk, so that a library can be opened and its words searched while the server is down."""
        return self.dimensions or remembered(self._memory) or int(self._rows(["dimension"], "").shape[1])

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        return self._embed(texts, self.passage_prefix) if texts else np.empty((0, self.dim), dtype=np.float32)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._embed([text], self.query_prefix)[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An estimate by the number of characters and their script: the servers do not tell."""
        return [-(-int(twelfths(whole(text)).sum()) // 12) for text in texts]

    def request(self, texts: Sequence[str]) -> Any:  # noqa: ANN401
        """The server's vector for each text, in their order, as it sent them."""
        raise NotImplementedError

    def _embed(self, texts: Sequence[str], prefix: str) -> Matrix:
        import numpy as np

        size = max(SHORTEST, self.max_tokens - self.count_tokens([prefix])[0])
        # A dot in place of nothing: servers refuse empty texts, and even a blank page has an embedding.
        cut = [text_windows(text if text.strip() else ".", size) for text in map(whole, texts)]
        windows = [window for windows in cut for window in windows]
        batches = (windows[at : at + self.batch_size] for at in range(0, len(windows), self.batch_size))
        rows = np.concatenate([self._rows(batch, prefix) for batch in batches])
        weights = np.array([len(window) for window in windows], dtype=np.float32)[:, np.newaxis]
        return unit_rows(np.add.reduceat(rows * weights, list(accumulate(map(len, cut), initial=0))[:-1], axis=0))

    def _rows(self, windows: Sequence[str], prefix: str) -> Matrix:
        import numpy as np

        try:
            return self._checked(self.request([prefix + window for window in windows]), len(windows))
        except Refused as refusal:
            if not refusal.too_long or max(map(len, windows)) < 2:
                raise
        if len(windows) > 1:
            return np.concatenate([self._rows([window], prefix) for window in windows])
        middle = len(windows[0]) // 2
        halves = [self._rows([half], prefix) for half in (windows[0][:middle], windows[0][middle:])]
        return unit_rows(halves[0] + halves[1])

    def _checked(self, answer: object, count: int) -> Matrix:
        import numpy as np

        try:
            rows: Matrix = np.array(answer, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise self.client.wrong("sent something else than vectors of one length") from error
        if rows.ndim != 2 or len(rows) != count:
            raise self.client.wrong(f"sent an array of shape {rows.shape} for {count} texts")
        if not np.isfinite(rows).all() or not rows.any(axis=1).all():
            raise self.client.wrong("sent a vector without a direction")
        self._learn(rows.shape[1])
        return unit_rows(rows)

    def _learn(self, width: int) -> None:
        expected = vars(self).setdefault("dim", self.dimensions or remembered(self._memory) or width)
        if not self._is_sure:
            remember(self._memory, width)
        if width != expected:
            raise DimensionMismatchError(
                f"{self.name!r} gave a vector of {width} dimensions where {expected} were expected",
                hint="Correct models.dimensions, or run 'carrel index build --force' if the model has changed.",
            )
        self._is_sure = True


def remember(memory: Path | None, dim: int) -> None:
    """Keep a model's dimension for the next process."""
    if memory is None or remembered(memory) == dim:
        return
    try:
        with writing(memory):
            memory.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(memory, json.dumps({"dim": dim}).encode(), durable=False)
    except StoreUnavailable as error:
        # Then the next process asks the model, too.
        log("embedders", logging.WARNING, "dimension not remembered", reason=error.message)


def remembered(memory: Path | None) -> int:
    """The dimension that was kept, or 0."""
    try:
        return int(json.loads(memory.read_bytes())["dim"]) if memory else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def variant(name: str, passage_prefix: str, dimensions: int, max_tokens: int) -> str:
    """A model's name with whatever else decides the vectors that are stored; a query's prefix does not."""
    mark = hashlib.sha256(passage_prefix.encode(errors="replace")).hexdigest()[:8]
    parts = {f"{dimensions}d": dimensions, f"{max_tokens}t": max_tokens, mark: passage_prefix}
    return "+".join([name, *(part for part, given in parts.items() if given)])


def twelfths(text: str) -> NDArray[np.int64]:
    """The estimated cost of each character in twelfths of a token: 8 of a Chinese character, 3 of another."""
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    dense = ((codes >= 0x2E80) & (codes <= 0x9FFF)) | ((codes >= 0xAC00) & (codes <= 0xD7AF)) | (codes >= 0x20000)
    return np.where(dense | ((codes >= 0xF900) & (codes <= 0xFAFF)), 8, 3)


def text_windows(text: str, size: int) -> list[str]:
    """As few windows of at most `size` estimated tokens as cover the text."""
    import numpy as np

    costs = twelfths(text)
    # Every character as often as it costs, so that windows of equal length cost the same.
    places = np.repeat(np.arange(len(text)), costs)
    cut = split(places, size=12 * size, overlap=12 * min(OVERLAP, size // 4))
    return [text[places[0] : places[-1] + 1] for places in cut]
