"""Any encoder that lies in a folder as ONNX, with its tokenizer: `onnx:models/embeddinggemma-300m`.

model.onnx or onnx/model.onnx           the graph, its weights beside it or in it
tokenizer.json                          the tokenizer
1_Pooling/config.json                   how the tokens' vectors become one: cls, mean or lasttoken
config_sentence_transformers.json       what goes before queries and passages
sentence_bert_config.json, tokenizer_config.json, config.json      how many tokens it takes

Only the first two have to be there. The layout is that of sentence-transformers, which most published models have.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.embedders.cache import file_name
from carrel.embedders.http import remember, remembered
from carrel.embedders.windows import embed_in_windows
from carrel.errors import DimensionMismatchError, InvalidInput, ModelDamaged, ModelNotInstalled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from carrel.embedders.windows import Tokens
    from carrel.types import Matrix, Vector

DEFAULT_TOKENS = 512
OVERLAP = 32
MOST_THREADS = 4
BATCH_TOKENS = 1024
SAMPLES, SAMPLE_BYTES = 16, 65_536
EXPECTED = "A model's folder holds model.onnx or onnx/model.onnx, and tokenizer.json."

_loading = threading.Lock()


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


class Onnx:
    """A local model. Nothing of its folder is run but the graph."""

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
        self.directory = place(argument, folder or Path(), confined=confined)
        self.threads = threads or min(MOST_THREADS, os.cpu_count() or 1)
        self.dimensions = dimensions
        self._prefixes = (query_prefix, passage_prefix)
        self._most_tokens = max_tokens
        self._cache = cache

    @cached_property
    def name(self) -> str:
        """The folder's, with a mark of everything that decides the vectors: another model there has another name."""
        mark = hashlib.sha256(sampled(self.graph).encode())
        mark.update(self.tokenizer_file.read_bytes())
        decides = (self.card.pooling, self.card.pools_prefix, self.max_tokens, self.passage_prefix, self.dimensions)
        mark.update(repr(decides).encode())
        return f"onnx:{self.directory.name}-{mark.hexdigest()[:12]}"

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

    @cached_property
    def graph(self) -> Path:
        return find_graph(self.directory)

    @cached_property
    def tokenizer_file(self) -> Path:
        return self._file("tokenizer.json")

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
        (output,) = self._session.run([self._output], self._fed(tokens))
        return self._pooled(output, before)

    def _width(self) -> int:
        import numpy as np

        width = self._run(np.zeros((1, 1), dtype=np.int64), 0).shape[1]
        if self.dimensions > width:
            raise DimensionMismatchError(
                f"{str(self.directory)!r} has {width} dimensions, fewer than {self.dimensions}",
                hint="Lower models.dimensions.",
            )
        return self.dimensions or width

    def _fed(self, tokens: Tokens) -> dict[str, Tokens]:
        """What the graph asks for by name. Nothing is padded, so every token is to be attended to."""
        import numpy as np

        known = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
            "position_ids": np.tile(np.arange(tokens.shape[1]), (len(tokens), 1)),
        }
        kinds = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
        asked = {put.name: kinds.get(put.type) for put in self._session.get_inputs()}
        for name, kind in asked.items():
            if name not in known or kind is None:
                raise InvalidInput(
                    f"the model {str(self.graph)!r} asks for {name!r}, which Carrel does not know",
                    hint=f"Export it as an encoder, with inputs among: {', '.join(known)}.",
                )
        return {name: known[name].astype(kind) for name, kind in asked.items()}

    def _pooled(self, output: Matrix, before: int) -> Matrix:
        if output.ndim == 2:
            return output
        if output.ndim != 3 or not self.card.finished:
            raise InvalidInput(
                f"the output {self._output!r} of {str(self.graph)!r} is not the model's whole embedding",
                hint="Export the model with an output 'sentence_embedding'.",
            )
        if self.card.pooling == Pooling.CLS:
            return output[:, 0]
        if self.card.pooling == Pooling.LAST:
            return output[:, -1]
        mean: Matrix = output[:, 0 if self.card.pools_prefix else min(before, output.shape[1] - 1) :].mean(axis=1)
        return mean

    @cached_property
    def _output(self) -> str:
        """The output that holds the embeddings, or the tokens' vectors to make them of."""
        names = [output.name for output in self._session.get_outputs()]
        return next((name for name in ("sentence_embedding", "last_hidden_state") if name in names), names[0])

    @cached_property
    def _frame(self) -> tuple[list[int], list[int]]:
        """The special tokens that the model wants before and after a text."""
        encoded = self._tokenizer.encode("a")
        text = [at for at, special in enumerate(encoded.special_tokens_mask) if not special] or [len(encoded.ids)]
        return encoded.ids[: text[0]], encoded.ids[text[-1] + 1 :]

    @property
    def _session(self) -> InferenceSession:
        with _loading:
            return open_session(self.graph)

    @property
    def _tokenizer(self) -> Tokenizer:
        with _loading:
            return open_tokenizer(self.tokenizer_file)

    def _file(self, name: str) -> Path:
        path = self.directory / name
        if not path.is_file():
            raise ModelNotInstalled(f"no {name!r} in the model folder {str(self.directory)!r}", hint=EXPECTED)
        return path


def place(argument: str, folder: Path, *, confined: bool) -> Path:
    """Where a model lies. One that a library's own config names has to lie in the library's folder."""
    root = folder.resolve()
    path = (root / Path(argument).expanduser()).resolve()
    if confined and not path.is_relative_to(root):
        raise InvalidInput(
            f"this library's config names a model outside of its folder: {argument!r}",
            hint="Name it in your own config, in CARREL_EMBEDDER or with --set embedder=…",
        )
    return path


def find_graph(directory: Path) -> Path:
    for path in (directory / "model.onnx", directory / "onnx" / "model.onnx"):
        if path.is_file():
            return path
    others = sorted([*directory.glob("*.onnx"), *directory.glob("onnx/*.onnx")])
    if len(others) != 1:
        found = f"several: {', '.join(other.name for other in others)}" if others else "none"
        raise ModelNotInstalled(f"no 'model.onnx' in the model folder {str(directory)!r} ({found})", hint=EXPECTED)
    return others[0]


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


def longest_input(directory: Path) -> int:
    """The least of what its files say, leaving out the astronomic numbers that stand for 'not known'."""
    config = read_json(directory / "config.json", {})
    positions = config.get("max_position_embeddings", 0)
    # These count positions from 2.
    positions -= 2 if config.get("model_type") in {"roberta", "xlm-roberta", "camembert", "mpnet"} else 0
    claims = [
        read_json(directory / "sentence_bert_config.json", {}).get("max_seq_length") or 0,
        read_json(directory / "tokenizer_config.json", {}).get("model_max_length") or 0,
        positions,
    ]
    return min((int(claim) for claim in claims if 0 < claim < 1e6), default=DEFAULT_TOKENS)


def read_json(path: Path, default: Any) -> Any:  # noqa: ANN401
    """A file of the model, or the default if there is none."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return default
    except (OSError, ValueError, RecursionError) as error:
        raise ModelDamaged(f"cannot read the model's file {str(path)!r}: {error}", hint="Fetch it again.") from error
    if not isinstance(content, type(default)):
        raise ModelDamaged(f"the model's file {str(path)!r} holds no {type(default).__name__}", hint="Fetch it again.")
    return content


def sampled(graph: Path) -> str:
    """A mark of the graph and of the weights beside it: of a gigabyte, a piece here and there tells models apart."""
    mark = hashlib.sha256()
    for path in sorted(graph.parent.glob(f"{graph.name}*")):
        size = path.stat().st_size
        mark.update(f"{path.name} {size} ".encode())
        with path.open("rb") as file:
            for sample in range(SAMPLES):
                file.seek(sample * max(0, size - SAMPLE_BYTES) // (SAMPLES - 1))
                mark.update(file.read(SAMPLE_BYTES))
    return mark.hexdigest()


@lru_cache
def open_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing more particular
        raise ModelDamaged(f"cannot read the tokenizer {str(path)!r}: {error}", hint="Fetch it again.") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # A paper on language models that writes `[SEP]` means the five characters.
    tokenizer.encode_special_tokens = True
    return tokenizer


@lru_cache
def open_session(path: Path) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Our threads take a batch each, as with granite.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no other base
        raise ModelDamaged(f"cannot load the model {str(path)!r}: {error}", hint="Fetch or export it again.") from error
