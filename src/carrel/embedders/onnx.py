"""Any encoder that lies in a folder as ONNX, with its tokenizer: `onnx:models/embeddinggemma-300m`.

model.onnx or onnx/model.onnx           the graph, its weights beside it or in it
tokenizer.json                          the tokenizer
1_Pooling/config.json                   how the tokens' vectors become one: cls, mean or lasttoken
config_sentence_transformers.json       what goes before queries and passages
sentence_bert_config.json, tokenizer_config.json, config.json      how many tokens it takes

Only the first two have to be there. The layout is that of sentence-transformers, which most published models have.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.embedders.cache import file_name
from carrel.embedders.http import remember, remembered
from carrel.encoders import BATCH_TOKENS, DEFAULT_TOKENS, OVERLAP, Encoder, longest_input, place, read_json
from carrel.encoders.windows import embed_in_windows
from carrel.errors import DimensionMismatchError, InvalidInput, ModelDamaged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.encoders.windows import Tokens
    from carrel.types import Matrix, Vector


class Pooling(StrEnum):
    CLS = "cls"
    MEAN = "mean"
    LAST = "lasttoken"


POOLINGS = {
    "pooling_mode_cls_token": Pooling.CLS,
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_lasttoken": Pooling.LAST,
}


@dataclass(frozen=True)
class Card:
    """What a model's own files say about how it is used."""

    pooling: Pooling = Pooling.MEAN
    pools_prefix: bool = True
    """Whether the tokens of a prefix count in the mean."""
    max_tokens: int = DEFAULT_TOKENS
    query_prefix: str = ""
    passage_prefix: str = ""
    finished: bool = True
    """Whether the pooled vector is the embedding, with no further layer outside of the graph."""


class Onnx(Encoder):
    """A local model, and how its own files say that it is used."""

    def __init__(
        self,
        argument: str,
        *,
        folder: Path | None = None,
        confined: bool = False,
        threads: int | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        dimensions: int = 0,
        max_tokens: int = 0,
        cache: Path | None = None,
    ) -> None:
        super().__init__(place(argument, folder or Path(), confined=confined, setting="embedder"), threads)
        self.dimensions = dimensions
        self._prefixes = (query_prefix, passage_prefix)
        self._most_tokens = max_tokens
        self._cache = cache

    @cached_property
    def name(self) -> str:
        """The folder's, with a mark of everything that decides the vectors: another model there has another name."""
        decides = (self.card.pooling, self.card.pools_prefix, self.max_tokens, self.passage_prefix, self.dimensions)
        return f"onnx:{self.directory.name}-{self._mark(*decides)}"

    @cached_property
    def dim(self) -> int:
        """Remembered on disk, so that a library can be opened without loading the model."""
        memory = self._cache / f"{file_name(self.name)}.json" if self._cache else None
        dim = remembered(memory) or self._width()
        remember(memory, dim)
        return dim

    @cached_property
    def max_tokens(self) -> int:
        return min(self._most_tokens or self.card.max_tokens, self.card.max_tokens)

    @cached_property
    def card(self) -> Card:
        return read_card(self.directory)

    @property
    def query_prefix(self) -> str:
        return self._prefixes[0] or self.card.query_prefix

    @property
    def passage_prefix(self) -> str:
        return self._prefixes[1] or self.card.passage_prefix

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._embed(texts, self.passage_prefix)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._embed([text], self.query_prefix)[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(body) for _, body in self._tokenise(texts, "")]

    def _embed(self, texts: Sequence[str], prefix: str) -> Matrix:
        import numpy as np

        rows = np.empty((len(texts), self.dim), dtype=np.float32)
        alike: defaultdict[tuple[int, ...], list[tuple[int, Tokens]]] = defaultdict(list)
        for position, (head, body) in enumerate(self._tokenise(texts, prefix)):
            alike[head].append((position, np.array(body, dtype=np.int64)))
        for head, bodies in alike.items():
            rows[[position for position, _ in bodies]] = self._embed_behind(head, [body for _, body in bodies])
        return rows

    def _embed_behind(self, head: tuple[int, ...], bodies: Sequence[Tokens]) -> Matrix:
        """Texts whose prefix became the same tokens; every window of theirs begins with it."""
        size = self.max_tokens - len(head) - sum(map(len, self._frame))
        if size < 1:
            raise InvalidInput(
                f"a prefix of {len(head)} tokens leaves no room for text in the {self.max_tokens} of {self.name!r}",
                hint="Shorten models.passage_prefix or models.query_prefix, or raise models.max_tokens.",
            )
        encode = partial(self._encode, head=head)
        overlap = min(OVERLAP, size // 4)
        return embed_in_windows(
            bodies, encode, size=size, overlap=overlap, batch_tokens=BATCH_TOKENS, threads=self.threads
        )

    def _tokenise(self, texts: Sequence[str], prefix: str) -> Iterator[tuple[tuple[int, ...], list[int]]]:
        """The tokens of the prefix and of each text, tokenised together: a space between them may belong to either."""
        for text in texts:
            whole = (prefix + text).encode("utf-8", errors="replace").decode("utf-8")
            encoded = self._tokenizer.encode(whole, add_special_tokens=False)
            ends = (end for _, end in encoded.offsets)
            first = next((at for at, end in enumerate(ends) if end > len(prefix) or not prefix), len(encoded.ids))
            yield tuple(encoded.ids[:first]), encoded.ids[first:]

    def _encode(self, windows: Tokens, head: tuple[int, ...]) -> Matrix:
        import numpy as np

        begin, end = self._frame
        before = (*begin, *head)
        tokens = np.concatenate(
            [np.tile(before, (len(windows), 1)), windows, np.tile(end, (len(windows), 1))], axis=1, dtype=np.int64
        )
        # A model without a first or last token of its own still has to be given something.
        fed = tokens if tokens.shape[1] else np.zeros((len(windows), 1), dtype=np.int64)
        vectors = self._run(fed, len(before))[:, : self.dim].astype(np.float32)
        if not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
            raise ModelDamaged(f"the model {str(self.graph)!r} gives no numbers", hint="Try its float32 version.")
        return vectors

    def _run(self, tokens: Tokens, before: int) -> Matrix:
        return self._pooled(self._run_graph(self._vectors, tokens), before)

    def _width(self) -> int:
        import numpy as np

        width = self._run(np.zeros((1, 1), dtype=np.int64), 0).shape[1]
        if self.dimensions > width:
            raise DimensionMismatchError(
                f"{str(self.directory)!r} has {width} dimensions, fewer than {self.dimensions}",
                hint="Lower models.dimensions.",
            )
        return self.dimensions or width

    def _pooled(self, output: Matrix, before: int) -> Matrix:
        if output.ndim == 2:
            return output
        if output.ndim != 3 or not self.card.finished:
            raise InvalidInput(
                f"the output {self._vectors!r} of {str(self.graph)!r} is not the model's whole embedding",
                hint="Export the model with an output 'sentence_embedding'.",
            )
        if self.card.pooling == Pooling.CLS:
            return output[:, 0]
        if self.card.pooling == Pooling.LAST:
            return output[:, -1]
        mean: Matrix = output[:, 0 if self.card.pools_prefix else min(before, output.shape[1] - 1) :].mean(axis=1)
        return mean

    @cached_property
    def _vectors(self) -> str:
        """The output that holds the embeddings, or the tokens' vectors to make them of."""
        return self._output("sentence_embedding", "last_hidden_state")

    @cached_property
    def _frame(self) -> tuple[list[int], list[int]]:
        """The special tokens that the model wants before and after a text."""
        encoded = self._tokenizer.encode("a")
        text = [at for at, special in enumerate(encoded.special_tokens_mask) if not special] or [len(encoded.ids)]
        return encoded.ids[: text[0]], encoded.ids[text[-1] + 1 :]


def read_card(directory: Path) -> Card:
    pooling = read_json(directory / "1_Pooling" / "config.json", {})
    prompts = read_json(directory / "config_sentence_transformers.json", {}).get("prompts") or {}
    modules = read_json(directory / "modules.json", [])
    layers = {str(module.get("type", "")).rpartition(".")[2] for module in modules}
    return Card(
        pooling=chosen_pooling(pooling, directory),
        pools_prefix=bool(pooling.get("include_prompt", True)),
        max_tokens=longest_input(directory),
        query_prefix=str(prompts.get("query") or ""),
        passage_prefix=str(next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), "")),
        finished=layers <= {"Transformer", "Pooling", "Normalize"},
    )


def chosen_pooling(config: dict[str, Any], directory: Path) -> Pooling:
    modes = [key for key, value in config.items() if key.startswith("pooling_mode_") and value]
    if not modes and "pooling_mode" not in config:
        return Pooling.MEAN
    named = POOLINGS.get(modes[0]) if len(modes) == 1 else config.get("pooling_mode")
    if named not in set(Pooling):
        raise InvalidInput(
            f"the model {str(directory)!r} wants the pooling {' and '.join(modes) or named!r}, which Carrel has not",
            hint=f"Carrel pools by: {', '.join(Pooling)}.",
        )
    return Pooling(named)
