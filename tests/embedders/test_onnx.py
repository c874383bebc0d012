"""Models in a folder: tiny ones made here, whose every number can be computed by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from carrel import encoders
from carrel.embedders import Embedder
from carrel.embedders.onnx import Card, Onnx, Pooling, read_card
from carrel.errors import CarrelError, DimensionMismatchError, InvalidInput, ModelDamaged, ModelNotInstalled
from carrel.library import Library
from tests.embedders import test_contract as contract
from tests.embedders.test_ollama import PROMISES, WORDLESS

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
WIDTH = 48
WORDS = ["[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{letter}" for letter in LETTERS), "cancer", ":", "."]
TABLE = np.random.default_rng(7).normal(size=(len(WORDS), WIDTH)).astype(np.float32)


def tokenizer() -> Tokenizer:
    """Of whole words `cancer` and else of letters, framed by [CLS] and [SEP]."""
    ids = {word: at for at, word in enumerate(WORDS)}
    made = Tokenizer(models.WordPiece(vocab=ids, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    made.enable_truncation(8)
    made.enable_padding(length=8)
    return made


def graph(inputs: tuple[str, ...], output: str, kind: int = TensorProto.INT64) -> onnx.ModelProto:
    """Each token's row of the table, plus a thousandth of whatever else the graph is fed."""
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"])]
    last = "rows"
    for name in inputs[1:]:
        nodes += [
            helper.make_node("Cast", [name], [f"{name}_float"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}_float", "small"], [f"{name}_small"]),
            helper.make_node("Unsqueeze", [f"{name}_small", "minus_one"], [f"{name}_wide"]),
            helper.make_node("Add", [last, f"{name}_wide"], [f"{name}_sum"]),
        ]
        last = f"{name}_sum"
    shape: list[Any] = ["batch", "length", WIDTH]
    if output == "sentence_embedding":
        nodes.append(helper.make_node("ReduceMax", [last, "one"], [output], keepdims=0))
        shape = ["batch", WIDTH]
    else:
        nodes.append(helper.make_node("Identity", [last], [output]))
    made = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["batch", "length"]) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [
            numpy_helper.from_array(TABLE, "table"),
            numpy_helper.from_array(np.array(0.001, dtype=np.float32), "small"),
            numpy_helper.from_array(np.array([-1]), "minus_one"),
            numpy_helper.from_array(np.array([1]), "one"),
        ],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def save(
    folder: Path,
    *,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    output: str = "last_hidden_state",
    kind: int = TensorProto.INT64,
    place: str = "model.onnx",
    **configs: object,
) -> Path:
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / place).parent.mkdir(exist_ok=True)
    onnx.save(graph(inputs, output, kind), str(folder / place))
    tokenizer().save(str(folder / "tokenizer.json"))
    for name, content in ({"sentence_bert_config": {"max_seq_length": 64}} | configs).items():
        path = folder / ("1_Pooling/config.json" if name == "pooling" else f"{name}.json")
        path.write_text(json.dumps(content), encoding="utf-8")
    return folder


def unit(row: Any) -> Any:
    return np.asarray(row) / np.linalg.norm(row)


def rows_of(*words: str) -> Any:
    """The rows a graph with an attention mask gives to a text of these tokens."""
    return TABLE[[WORDS.index(word) for word in ("[CLS]", *words, "[SEP]")]] + 0.001


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def embedder(folder: Path) -> Onnx:
    return Onnx(str(folder))


@pytest.mark.parametrize("promise", [*PROMISES, contract.test_tokens_are_counted_for_each_text])
def test_it_keeps_the_contract(embedder: Onnx, promise: Callable[[Any], None]) -> None:
    promise(embedder)


@pytest.mark.parametrize("text", WORDLESS)
def test_a_text_without_words_still_has_a_unit_vector(embedder: Onnx, text: str) -> None:
    assert np.linalg.norm(embedder.embed_passages([text, "word"]), axis=1) == pytest.approx(np.ones(2), abs=1e-5)


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ({}, rows_of("a", "##b", "c").mean(axis=0)),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, rows_of("a", "##b", "c").mean(axis=0)),
        ({"pooling_mode_cls_token": True}, rows_of("a")[0]),
        ({"pooling_mode_lasttoken": True}, rows_of("a")[-1]),
        ({"pooling_mode": "cls"}, rows_of("a")[0]),
    ],
)
def test_it_pools_as_the_models_config_says(tmp_path: Path, pooling: dict[str, object], expected: Any) -> None:
    vector = Onnx(str(save(tmp_path / "m", pooling=pooling))).embed_query("ab c")
    assert vector == pytest.approx(unit(expected), abs=1e-5)


@pytest.mark.parametrize(
    "pooling", [{"pooling_mode_max_tokens": True}, {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}]
)
def test_a_pooling_it_has_not_is_refused(tmp_path: Path, pooling: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="wants the pooling 'pooling_mode_"):
        Onnx(str(save(tmp_path / "m", pooling=pooling))).embed_query("x")


def test_an_embedding_that_the_graph_makes_itself_is_taken_as_it_is(tmp_path: Path) -> None:
    dense = [{"type": "sentence_transformers.models.Dense"}]
    made = Onnx(str(save(tmp_path / "m", output="sentence_embedding", modules=dense)))
    assert made.embed_query("ab c") == pytest.approx(unit(rows_of("a", "##b", "c").max(axis=0)), abs=1e-5)


def test_layers_that_the_graph_leaves_out_are_not_left_out_in_silence(tmp_path: Path) -> None:
    dense = [{"type": f"sentence_transformers.models.{kind}"} for kind in ("Transformer", "Pooling", "Dense")]
    with pytest.raises(InvalidInput, match="is not the model's whole embedding"):
        Onnx(str(save(tmp_path / "m", modules=dense))).embed_query("x")


def test_the_graph_is_fed_what_it_names_in_the_type_it_names(tmp_path: Path) -> None:
    names = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    made = Onnx(str(save(tmp_path / "m", inputs=names, kind=TensorProto.INT32)))
    expected = rows_of("a", "##b") + 0.001 * np.arange(4)[:, np.newaxis]
    assert made.embed_query("ab") == pytest.approx(unit(expected.mean(axis=0)), abs=1e-5)


def test_an_input_it_does_not_know_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="asks for 'pixel_values'"):
        Onnx(str(save(tmp_path / "m", inputs=("input_ids", "pixel_values")))).embed_query("x")


PROMPTS = {"prompts": {"query": "q: ", "document": "pp: "}}


def test_prompts_come_from_the_models_config_unless_the_settings_have_others(tmp_path: Path) -> None:
    folder = str(save(tmp_path / "m", config_sentence_transformers=PROMPTS))
    plain, made = Onnx(str(save(tmp_path / "plain"))), Onnx(folder, query_prefix="b: ")
    assert made.embed_passages(["c"])[0] == pytest.approx(plain.embed_query("pp: c"), abs=1e-6)
    assert made.embed_query("c") == pytest.approx(plain.embed_query("b: c"), abs=1e-6)
    assert Onnx(folder).embed_query("c") == pytest.approx(plain.embed_query("q: c"), abs=1e-6)
    assert made.count_tokens(["c"]) == [1]


def test_a_prompt_may_be_kept_out_of_the_mean(tmp_path: Path) -> None:
    pooling = {"pooling_mode_mean_tokens": True, "include_prompt": False}
    made = Onnx(str(save(tmp_path / "m", pooling=pooling, config_sentence_transformers=PROMPTS)))
    assert made.embed_query("c d") == pytest.approx(unit(rows_of("c", "d")[1:].mean(axis=0)), abs=1e-5)


def test_every_window_of_a_long_passage_begins_with_the_prompt(tmp_path: Path) -> None:
    made = Onnx(str(save(tmp_path / "m")), passage_prefix="q: ", max_tokens=8)
    # Eight places: two for the frame, two for the prompt, four for letters, of which one is in both windows.
    windows = [rows_of("q", ":", *"abcd"), rows_of("q", ":", *"defg")]
    expected = unit(sum(unit(window.mean(axis=0)) for window in windows))
    assert made.embed_passages(["a b c d e f g"])[0] == pytest.approx(expected, abs=1e-5)


def test_a_prompt_that_leaves_no_room_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a prefix of 6 tokens leaves no room"):
        Onnx(str(save(tmp_path / "m")), query_prefix="a b c d e f ", max_tokens=8).embed_query("x")


def test_vectors_are_shortened_on_request_and_are_of_unit_length_then(embedder: Onnx, folder: Path) -> None:
    short = Onnx(str(folder), dimensions=8)
    assert short.dim == 8
    assert short.embed_query("ab") == pytest.approx(unit(embedder.embed_query("ab")[:8]), abs=1e-5)
    with pytest.raises(DimensionMismatchError, match="has 48 dimensions, fewer than 49"):
        Onnx(str(folder), dimensions=49).embed_query("x")


@pytest.mark.parametrize(
    ("configs", "longest"),
    [
        ({"sentence_bert_config": {"max_seq_length": 128}, "config": {"max_position_embeddings": 512}}, 128),
        ({"sentence_bert_config": {"max_seq_length": None}, "tokenizer_config": {"model_max_length": 256}}, 256),
        ({"sentence_bert_config": {}, "tokenizer_config": {"model_max_length": 1e30}}, 512),
        ({"sentence_bert_config": {}, "config": {"max_position_embeddings": 514, "model_type": "roberta"}}, 512),
        ({"sentence_bert_config": {}, "config": {"max_position_embeddings": 2048}}, 2048),
    ],
)
def test_the_longest_input_is_what_its_files_agree_on(tmp_path: Path, configs: dict[str, Any], longest: int) -> None:
    folder = save(tmp_path / "m", **configs)
    assert read_card(folder) == Card(pooling=Pooling.MEAN, max_tokens=longest)
    assert Onnx(str(folder), max_tokens=100).max_tokens == 100


@pytest.mark.parametrize("place", ["onnx/model.onnx", "model_quantized.onnx", "onnx/model_int8.onnx"])
def test_the_graph_is_found_where_models_are_published_with_it(tmp_path: Path, place: str) -> None:
    assert Onnx(str(save(tmp_path / "m", place=place))).dim == WIDTH


def test_the_name_changes_with_whatever_changes_the_stored_vectors(tmp_path: Path) -> None:
    folder = save(tmp_path / "m")
    names = [Onnx(str(folder), **options).name for options in ({}, {"dimensions": 8}, {"passage_prefix": "p: "})]
    assert all(name.startswith("onnx:m-") for name in names)
    assert Onnx(str(folder), query_prefix="q: ").name == names[0]
    save(tmp_path / "other" / "m", inputs=("input_ids",))
    names.append(Onnx(str(tmp_path / "other" / "m")).name)
    assert len(set(names)) == 4
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert Onnx(str(folder)).name not in names


@pytest.mark.parametrize(
    ("spoil", "kind", "message"),
    [
        (lambda folder: (folder / "model.onnx").unlink(), ModelNotInstalled, r"no 'model\.onnx' in .* \(none\)"),
        (lambda folder: (folder / "tokenizer.json").unlink(), ModelNotInstalled, r"no 'tokenizer\.json' in"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"what"), ModelDamaged, "cannot load the model"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), ModelDamaged, "cannot read the tokenizer"),
        (lambda folder: (folder / "modules.json").write_text("{"), ModelDamaged, r"modules\.json"),
        (lambda folder: (folder / "modules.json").write_text("{}"), ModelDamaged, "holds no list"),
    ],
)
def test_a_folder_that_is_no_model_is_named_with_exit_code_5(
    tmp_path: Path, spoil: Callable[[Path], object], kind: type[CarrelError], message: str
) -> None:
    folder = save(tmp_path / "m")
    spoil(folder)
    with pytest.raises(kind, match=message) as caught:
        Onnx(str(folder)).embed_query("x")
    assert (caught.value.exit_code, bool(caught.value.hint)) == (5, True)


# Where a library may say that its model lies


@pytest.fixture
def library_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    with Library.init(tmp_path / "library") as library:
        return library.layout.config


def embedder_of(config: Path, **overrides: str) -> Embedder:
    with Library.open(config.parent, overrides=overrides) as library:
        return library.embedder


def test_a_librarys_config_names_a_model_in_its_folder(library_config: Path) -> None:
    save(library_config.parent.parent / "models" / "tiny")
    library_config.write_text('embedder = "onnx:models/tiny"\n')
    assert embedder_of(library_config).dim == WIDTH


@pytest.mark.parametrize("way", ["absolute", "../outside", "~/outside", "link"])
def test_a_librarys_config_names_no_model_outside_but_the_user_may(
    tmp_path: Path, library_config: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    outside = save(tmp_path / "outside")
    (tmp_path / "library" / "link").symlink_to(outside)
    named = f"onnx:{outside if way == 'absolute' else way}"
    library_config.write_text(f"embedder = '{named}'\n")
    with pytest.raises(InvalidInput, match="names a model outside of its folder"):
        embedder_of(library_config)
    assert embedder_of(library_config, embedder=named).dim == WIDTH


def test_a_library_is_searched_with_it_and_opened_without_loading_it(
    tmp_path: Path, library_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "library" / "tiny")
    library_config.write_text('embedder = "onnx:tiny"\n')
    (tmp_path / "note.md").write_text("# Aspirin\n\nAspirin lowers the incidence of colorectal cancer.\n")
    with Library.open(tmp_path / "library") as library:
        library.add(tmp_path / "note.md")
        assert library.search("cancer", mode="vector").passages[0].chunk.paper_id == "note"
    monkeypatch.setattr(encoders, "open_session", pytest.fail)
    assert embedder_of(library_config).dim == WIDTH
    with Library.open(tmp_path / "library") as library:
        assert [row.reference.id for row in library.list()] == ["note"]
