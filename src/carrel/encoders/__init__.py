"""Encoders that lie in a folder as ONNX, with their tokenizers: what embedders and rerankers share.

model.onnx or onnx/model.onnx           the graph, its weights beside it or in it
tokenizer.json                          the tokenizer
sentence_bert_config.json, tokenizer_config.json, config.json      how many tokens it takes
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.errors import InvalidInput, ModelDamaged, ModelNotInstalled

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from carrel.encoders.windows import Tokens
    from carrel.types import Matrix

DEFAULT_TOKENS = 512
OVERLAP = 32
MOST_THREADS = 4
BATCH_TOKENS = 1024
SAMPLES, SAMPLE_BYTES = 16, 65_536
EXPECTED = "A model's folder holds model.onnx or onnx/model.onnx, and tokenizer.json."

_loading = threading.Lock()


class Encoder:
    """A model's folder. Nothing of it is run but the graph, which is loaded once in a process, however many use it."""

    def __init__(self, directory: Path, threads: int | None) -> None:
        self.directory = directory
        self.threads = threads or min(MOST_THREADS, os.cpu_count() or 1)

    @cached_property
    def graph(self) -> Path:
        return find_graph(self.directory)

    @cached_property
    def tokenizer_file(self) -> Path:
        return self._file("tokenizer.json")

    @property
    def _session(self) -> InferenceSession:
        with _loading:
            return open_session(self.graph)

    @property
    def _tokenizer(self) -> Tokenizer:
        with _loading:
            return open_tokenizer(self.tokenizer_file)

    def _mark(self, *decides: object) -> str:
        """Of the model's files and whatever else decides what it says: another model there has another mark."""
        mark = hashlib.sha256(sampled(self.graph).encode())
        mark.update(self.tokenizer_file.read_bytes())
        mark.update(repr(decides).encode())
        return mark.hexdigest()[:12]

    def _output(self, *preferred: str) -> str:
        """The first of these outputs that the graph has, or its first of all."""
        names = [output.name for output in self._session.get_outputs()]
        return next((name for name in preferred if name in names), names[0])

    def _run_graph(self, output: str, tokens: Tokens, types: Tokens | None = None) -> Matrix:
        fed = self._fed(tokens, types)
        try:
            (found,) = self._session.run([output], fed)
        except Exception as error:  # onnxruntime's errors have no other base
            raise ModelDamaged(
                f"the model {str(self.graph)!r} cannot be run: {error}", hint="Does tokenizer.json belong to it?"
            ) from error
        made: Matrix = found
        return made

    def _fed(self, tokens: Tokens, types: Tokens | None = None) -> dict[str, Tokens]:
        """What the graph asks for by name. Nothing is padded, so every token is to be attended to."""
        import numpy as np

        known = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens) if types is None else types,
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

    def _file(self, name: str) -> Path:
        path = self.directory / name
        if not path.is_file():
            raise ModelNotInstalled(f"no {name!r} in the model folder {str(self.directory)!r}", hint=EXPECTED)
        return path


def place(argument: str, folder: Path, *, confined: bool, setting: str) -> Path:
    """Where a model lies. One that a library's own config names has to lie in the library's folder."""
    root = folder.resolve()
    path = (root / Path(argument).expanduser()).resolve()
    if confined and not path.is_relative_to(root):
        raise InvalidInput(
            f"this library's config names a model outside of its folder: {argument!r}",
            hint=f"Name it in your own config, in CARREL_{setting.upper()} or with --set {setting}=…",
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


def longest_input(directory: Path) -> int:
    """The least of what its files say, leaving out the astronomic numbers that stand for 'not known'."""
    config = read_json(directory / "config.json", {})
    positions = _number(config, "max_position_embeddings")
    # These count positions from 2.
    positions -= 2 if config.get("model_type") in {"roberta", "xlm-roberta", "camembert", "mpnet"} else 0
    claims = [
        _number(read_json(directory / "sentence_bert_config.json", {}), "max_seq_length"),
        _number(read_json(directory / "tokenizer_config.json", {}), "model_max_length"),
        positions,
    ]
    return min((int(claim) for claim in claims if 0 < claim < 1e6), default=DEFAULT_TOKENS)


def _number(config: dict[str, Any], key: str) -> float:
    value = config.get(key)
    return value if isinstance(value, int | float) else 0


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
