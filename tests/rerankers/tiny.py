"""Rerankers to test with: a cross-encoder whose every number can be computed by hand, and servers that count words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from tests.embedders.test_ollama import Reply

SPECIAL = ["[UNK]", "[CLS]", "[SEP]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = "does aspirin lower the incidence of colorectal cancer".split()
VOCABULARY = [*SPECIAL, *LETTERS, *WORDS]
BIAS = -4.0


def tokenizer(pair: str = "[CLS] $A [SEP] $B:1 [SEP]:1") -> Tokenizer:
    """Of whole words; one that it does not know is [UNK]."""
    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))  # noqa: S106
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair=pair, special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    made.enable_truncation(4)
    made.enable_padding(length=4)
    return made


def counting(labels: int = 1, kind: int = TensorProto.INT64) -> onnx.ModelProto:
    """How many of the question's tokens the passage has, plus the bias; [SEP] stands in both.

    Of two labels the second has that, the first its opposite.
    """
    columns = ["score"] if labels == 1 else ["opposite", "score", "score"][:labels]
    nodes = [
        helper.make_node("Cast", ["token_type_ids"], ["of_passage"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "of_passage"], ["of_question"]),
        *equal("input_ids", "same"),
        helper.make_node("Unsqueeze", ["of_question", "last"], ["asked"]),
        helper.make_node("Unsqueeze", ["of_passage", "first"], ["read"]),
        helper.make_node("Mul", ["asked", "read"], ["pairs"]),
        helper.make_node("Mul", ["same", "pairs"], ["hits"]),
        helper.make_node("ReduceMax", ["hits", "last"], ["found"], keepdims=0),
        helper.make_node("ReduceSum", ["found", "first"], ["count"], keepdims=1),
        helper.make_node("Add", ["count", "bias"], ["score"]),
        helper.make_node("Neg", ["score"], ["opposite"]),
        helper.make_node("Concat", columns, ["logits"], axis=1),
    ]
    return model(nodes, ["input_ids", "token_type_ids"], ["batch", labels], kind)


def equal(name: str, result: str) -> list[onnx.NodeProto]:
    """Which tokens of a row are the same."""
    return [
        helper.make_node("Unsqueeze", [name, "last"], [f"{name}_down"]),
        helper.make_node("Unsqueeze", [name, "first"], [f"{name}_across"]),
        helper.make_node("Equal", [f"{name}_down", f"{name}_across"], [f"{name}_equal"]),
        helper.make_node("Cast", [f"{name}_equal"], [result], to=TensorProto.FLOAT),
    ]


def echoing() -> onnx.ModelProto:
    """The sum of the tokens, each multiplied by its place, in thousandths: tells what exactly was fed."""
    nodes = [
        helper.make_node("Mul", ["input_ids", "position_ids"], ["placed"]),
        helper.make_node("Cast", ["placed"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers", "first"], ["sum"], keepdims=0),
        helper.make_node("Mul", ["sum", "thousandth"], ["logits"]),
    ]
    return model(nodes, ["input_ids", "position_ids"], ["batch"])


def model(
    nodes: list[onnx.NodeProto], inputs: list[str], shape: list[Any], kind: int = TensorProto.INT64
) -> onnx.ModelProto:
    constants = {"one": 1.0, "bias": BIAS, "thousandth": 0.001, "nothing": float("nan")}
    made = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["batch", "length"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape)],
        [
            *(numpy_helper.from_array(np.array(value, dtype=np.float32), name) for name, value in constants.items()),
            numpy_helper.from_array(np.array([1]), "first"),
            numpy_helper.from_array(np.array([2]), "last"),
        ],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def save(folder: Path, made: onnx.ModelProto | None = None, pair: str = "", **configs: object) -> Path:
    """A model's folder, as such models are published."""
    folder.mkdir(parents=True)
    onnx.save(made or counting(), str(folder / "model.onnx"))
    (tokenizer(pair) if pair else tokenizer()).save(str(folder / "tokenizer.json"))
    for name, content in ({"tokenizer_config": {"model_max_length": 64}} | configs).items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def shares(query: str, texts: list[str]) -> list[dict[str, Any]]:
    """By index, the share of the query's words that each text has; the best first."""
    asked = _words(query)
    found = [(len(asked & _words(text)) / max(1, len(asked)), at) for at, text in enumerate(texts)]
    return [{"index": at, "relevance_score": share} for share, at in sorted(found, reverse=True)]


def jina(path: str, question: Any) -> Reply:
    """Also Cohere's, vLLM's and llama.cpp's way."""
    if path != "/rerank":
        return Reply({"detail": "Not Found"}, 404)
    return Reply({"model": "m", "results": shares(question["query"], question["documents"])})


def tei(_path: str, question: Any) -> Reply:
    """Text Embeddings Inference, with the words of its JSON reader for a field that is missing."""
    if "texts" not in question:
        words = b"Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 9"
        return Reply(words, 422)
    found = shares(question["query"], question["texts"])
    return Reply([{"index": one["index"], "score": one["relevance_score"]} for one in found])


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
