"""Writes `src/carrel/embedders/granite.onnx`: the encoder's graph, without its weights.

    python tools/build_granite_graph.py [FILE]

A RoBERTa encoder whose only output is the vector of the first token. What it does unlike an exported one:

- The word table stays int8; only the rows of the tokens at hand are turned into floats.
- The texts of a batch are equally long, so there is no mask, and attention takes its faster way.
- In the last layer only the first token asks, and only it goes through the feed-forward part.
- Addition and `LayerNormalization` are apart: `SkipLayerNormalization` takes three times as long as both.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx import TensorProto, helper

if TYPE_CHECKING:
    from onnx import ModelProto

TARGET = Path(__file__).parents[1] / "src/carrel/embedders/granite.onnx"

HIDDEN, INNER, LAYERS, HEADS = 384, 1536, 6, 12
WORDS, POSITIONS, GROUP = 50265, 512, 64
EPSILON = 1e-12


class Graph:
    """Nodes and initializers in the making; every method returns the name of what it adds."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: float) -> str:
        return self.nodes_out(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def nodes_out(self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: float) -> list[str]:
        names = [f"{operator}_{len(self.nodes)}_{place}" for place in range(outputs)]
        node = helper.make_node(operator, inputs, names, domain=domain)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self.nodes.append(node)
        return names

    def weight(self, name: str, *shape: int, kind: int = TensorProto.FLOAT) -> str:
        """A tensor that is given at run time; the place named in the file is never looked up."""
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="given-at-run-time")
        self.initializers.append(tensor)
        return name

    def integers(self, name: str, *values: int) -> str:
        self.initializers.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def linear(self, rows: str, name: str, inputs: int, outputs: int) -> str:
        return self.node("MatMul", rows, self.weight(f"{name}.w", inputs, outputs))

    def layer_norm(self, rows: str, name: str) -> str:
        scale, shift = self.weight(f"{name}.w", HIDDEN), self.weight(f"{name}.b", HIDDEN)
        return self.node("LayerNormalization", rows, scale, shift, axis=-1, epsilon=EPSILON)

    def add_and_norm(self, rows: str, bias: str, residual: str, norm: str) -> str:
        biased = self.node("Add", rows, self.weight(bias, HIDDEN))
        return self.layer_norm(self.node("Add", biased, residual), norm)

    def first(self, rows: str) -> str:
        return self.node("Slice", rows, "zero", "one", "one")


def embeddings(graph: Graph) -> str:
    table = graph.weight("word_emb", WORDS, HIDDEN // GROUP, GROUP, kind=TensorProto.INT8)
    values = graph.node("Cast", graph.node("Gather", table, "tokens"), to=TensorProto.FLOAT)
    scales = graph.node("Gather", graph.weight("word_scale", WORDS, HIDDEN // GROUP, 1), "tokens")
    words = graph.node("Reshape", graph.node("Mul", values, scales), graph.integers("row", 0, 0, HIDDEN))
    length = graph.node("Shape", "tokens", start=1, end=2)
    positions = graph.node("Slice", graph.weight("pos_emb", POSITIONS, HIDDEN), "zero", length, "zero")
    return graph.layer_norm(graph.node("Add", words, positions), "emb_ln")


def layer(graph: Graph, rows: str, name: str, *, last: bool) -> str:
    projected = graph.linear(rows, f"{name}.qkv", HIDDEN, 3 * HIDDEN)
    queries, keys, values = graph.nodes_out("Split", projected, outputs=3, axis=2, num_outputs=3)
    if last:
        queries, rows = graph.first(queries), graph.first(rows)
    bias = graph.weight(f"{name}.qkv.b", 3 * HIDDEN)
    seen = graph.node("MultiHeadAttention", queries, keys, values, bias, domain="com.microsoft", num_heads=HEADS)
    attended = graph.linear(seen, f"{name}.ao", HIDDEN, HIDDEN)
    attended = graph.add_and_norm(attended, f"{name}.ao.b", rows, f"{name}.aln")
    inner = graph.linear(attended, f"{name}.f1", HIDDEN, INNER)
    inner = graph.node("BiasGelu", inner, graph.weight(f"{name}.f1.b", INNER), domain="com.microsoft")
    outer = graph.linear(inner, f"{name}.f2", INNER, HIDDEN)
    return graph.add_and_norm(outer, f"{name}.f2.b", attended, f"{name}.fln")


def build() -> ModelProto:
    graph = Graph()
    graph.integers("zero", 0)
    graph.integers("one", 1)
    rows = embeddings(graph)
    for number in range(LAYERS):
        rows = layer(graph, rows, f"l{number}", last=number == LAYERS - 1)
    graph.nodes.append(helper.make_node("Squeeze", [rows, "one"], ["vectors"]))
    tokens = helper.make_tensor_value_info("tokens", TensorProto.INT64, ["texts", "length"])
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", HIDDEN])
    whole = helper.make_graph(graph.nodes, "granite", [tokens], [vectors], graph.initializers)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(whole, opset_imports=opsets, ir_version=9)


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.write_bytes(build().SerializeToString(deterministic=True))
    print(f"{target}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
