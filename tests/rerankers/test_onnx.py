"""Cross-encoders in a folder: a tiny one made here, that counts the question's words which a passage has."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnxruntime
import pytest
from onnx import TensorProto, helper

from carrel import encoders
from carrel.errors import CarrelError, InvalidInput, ModelDamaged, ModelNotInstalled, ModelTooSlow
from carrel.library import Library
from carrel.rerankers import Reranker
from carrel.rerankers.models import probability
from carrel.rerankers.onnx import CrossEncoder
from carrel.types import Candidate
from tests.embedders.test_onnx import library_config
from tests.rerankers import tiny
from tests.rerankers.test_contract import candidate

__all__ = ["library_config"]

SEPARATOR = 1
"""[SEP] ends question and passage, and counts as a word that both have."""


def texts(*given: str) -> list[Candidate]:
    """Without a title, so that the text is all there is to read."""
    made = [candidate(text, number=at) for at, text in enumerate(given, start=1)]
    return [replace(one, chunk=replace(one.chunk, title="")) for one in made]


def found(count: int, times: float = 1.0) -> Any:
    """The score of a passage that has so many of the question's words."""
    return pytest.approx(probability(times * (count + SEPARATOR + tiny.BIAS)), abs=1e-6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def reranker(folder: Path) -> CrossEncoder:
    return CrossEncoder(str(folder))


def test_one_label_goes_through_the_logistic_function(reranker: CrossEncoder) -> None:
    scores = reranker.score("aspirin cancer", texts("The cancer.", "Cancer, ASPIRIN!", "a b c", ""))
    assert scores == [found(1), found(2), found(0), found(0)]


def test_of_two_labels_the_second_is_the_probability(tmp_path: Path) -> None:
    two = CrossEncoder(str(tiny.save(tmp_path / "m", tiny.counting(labels=2))))
    assert two.score("aspirin cancer", texts("cancer", "aspirin cancer")) == [found(1, times=2), found(2, times=2)]


def test_a_model_that_says_something_else_than_a_score_is_refused(tmp_path: Path) -> None:
    three = CrossEncoder(str(tiny.save(tmp_path / "three", tiny.counting(labels=3))))
    with pytest.raises(InvalidInput, match=r"'logits' of .* has the shape \(1, 3\), not a score a pair") as caught:
        three.score("aspirin", texts("cancer"))
    assert "one label or two" in caught.value.hint
    nodes = tiny.equal("input_ids", "logits")
    vectors = tiny.save(tmp_path / "vectors", tiny.model(nodes, ["input_ids"], ["batch", "length", "length"]))
    with pytest.raises(InvalidInput, match=r"has the shape \(1, 4, 4\)"):
        CrossEncoder(str(vectors)).score("a", texts(""))


@pytest.mark.parametrize("pair", ["[CLS] $A [SEP] $B [SEP]", "[CLS] $A [SEP] [SEP] $B [SEP]", "$A $B", "$A [SEP] $B"])
def test_question_and_passage_stand_in_the_tokenizers_own_frame(tmp_path: Path, pair: str) -> None:
    made = CrossEncoder(str(tiny.save(tmp_path / "m", tiny.echoing(), pair=pair)))
    words = pair.replace("$A", "a cancer").replace("$B", "of b c").split()
    fed = sum(place * tiny.VOCABULARY.index(word) for place, word in enumerate(words))
    assert made.score("a cancer", texts("of b c")) == pytest.approx([probability(fed / 1000)], abs=1e-6)


def test_the_graph_is_fed_in_the_type_it_names(tmp_path: Path) -> None:
    made = CrossEncoder(str(tiny.save(tmp_path / "m", tiny.counting(kind=TensorProto.INT32))))
    assert made.score("cancer", texts("cancer")) == [found(1)]


def test_special_tokens_in_a_text_are_words_like_others(reranker: CrossEncoder) -> None:
    assert reranker.score("cancer", texts("[SEP] cancer [CLS]")) == [found(1)]


def test_nothing_of_a_long_passage_is_cut_off_and_its_best_window_counts(tmp_path: Path) -> None:
    short = CrossEncoder(str(tiny.save(tmp_path / "m", tokenizer_config={"model_max_length": 16})))
    filling = " ".join("b c d e f g h i j k".split() * 40)
    everywhere = [f"{filling} aspirin cancer {filling}", f"aspirin cancer {filling}", f"{filling} aspirin cancer"]
    assert short.score("aspirin cancer", texts(*everywhere, filling)) == [found(2)] * 3 + [found(0)]
    apart = short.score("aspirin cancer", texts(f"aspirin {filling} cancer"))
    assert apart == [found(1)]


def test_nothing_of_a_long_question_is_cut_off(tmp_path: Path) -> None:
    short = CrossEncoder(str(tiny.save(tmp_path / "m", tokenizer_config={"model_max_length": 16})))
    question = f"{'b ' * 30} aspirin cancer {'c ' * 30}"
    assert short.score(question, texts("aspirin cancer", "d")) == [found(2), found(0)]


@pytest.mark.parametrize("places", [5, 6, 7, 9])
def test_a_model_may_be_of_any_size_that_has_room_for_two_words(tmp_path: Path, places: int) -> None:
    small = CrossEncoder(str(tiny.save(tmp_path / "m", tokenizer_config={"model_max_length": places})))
    assert small.score("cancer", texts("b c d e f cancer g h")) == [found(1)]


def test_a_model_without_room_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="takes 4 tokens, which leaves no room for text"):
        CrossEncoder(str(tiny.save(tmp_path / "m", tokenizer_config={"model_max_length": 4}))).score("a", texts("b"))


def test_a_passage_is_scored_the_same_alone_and_among_others(reranker: CrossEncoder) -> None:
    given = ["aspirin", "cancer " * 100, "aspirin " * 7 + "cancer", "", "of the " * 40]
    together = reranker.score("aspirin cancer", texts(*given))
    assert together == [reranker.score("aspirin cancer", texts(text))[0] for text in given]


def test_title_and_headings_are_read_with_the_text(reranker: CrossEncoder) -> None:
    assert reranker.score("a", [candidate("b"), *texts("b")]) == [found(1), found(0)]


@pytest.mark.parametrize(
    ("spoil", "kind", "message"),
    [
        (lambda folder: (folder / "model.onnx").unlink(), ModelNotInstalled, r"no 'model\.onnx' in .* \(none\)"),
        (lambda folder: (folder / "tokenizer.json").unlink(), ModelNotInstalled, r"no 'tokenizer\.json' in"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"what"), ModelDamaged, "cannot load the model"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), ModelDamaged, "cannot read the tokenizer"),
        (lambda folder: (folder / "config.json").write_text("["), ModelDamaged, r"config\.json"),
    ],
)
def test_a_folder_that_is_no_model_is_named_with_exit_code_5(
    tmp_path: Path, spoil: Callable[[Path], object], kind: type[CarrelError], message: str
) -> None:
    folder = tiny.save(tmp_path / "m")
    spoil(folder)
    with pytest.raises(kind, match=message) as caught:
        CrossEncoder(str(folder)).score("x", texts("y"))
    assert (caught.value.exit_code, bool(caught.value.hint)) == (5, True)


def test_a_model_that_gives_no_numbers_or_cannot_be_run_gives_no_scores(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers", "first"], ["sum"], keepdims=1),
        helper.make_node("Mul", ["sum", "nothing"], ["logits"]),
    ]
    nan = tiny.save(tmp_path / "nan", tiny.model(nodes, ["input_ids"], ["batch", 1]))
    with pytest.raises(ModelDamaged, match="gives no numbers"):
        CrossEncoder(str(nan)).score("x", texts("y"))
    gather = [helper.make_node("Gather", ["first", "input_ids"], ["rows"]), *nodes[1:]]
    gather.insert(1, helper.make_node("Cast", ["rows"], ["numbers"], to=TensorProto.FLOAT))
    narrow = tiny.save(tmp_path / "narrow", tiny.model(gather, ["input_ids"], ["batch", 1]))
    with pytest.raises(ModelDamaged, match="cannot be run") as caught:
        CrossEncoder(str(narrow)).score("cancer", texts("cancer"))
    assert caught.value.hint == "Does tokenizer.json belong to it?"


@pytest.mark.parametrize("config", [{"max_position_embeddings": "many"}, {"max_position_embeddings": None}, {}])
def test_a_config_that_does_not_say_how_much_it_takes_means_512(tmp_path: Path, config: dict[str, object]) -> None:
    assert CrossEncoder(str(tiny.save(tmp_path / "m", tokenizer_config={}, config=config))).max_tokens == 512


def test_one_that_is_too_slow_stops_between_batches(folder: Path) -> None:
    hurried = CrossEncoder(str(folder), timeout=1e-9)
    with pytest.raises(ModelTooSlow, match=r"'onnx-cross-encoder:tiny-\w+' was not done within 1e-09 s") as caught:
        hurried.score("cancer", texts("cancer"))
    assert "rerank.timeout" in caught.value.hint


def test_the_model_is_loaded_once_for_all_libraries_and_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, loaded, real = tiny.save(tmp_path / "m"), [], onnxruntime.InferenceSession

    def session(path: str, *options: Any, **more: Any) -> Any:
        loaded.append(path)
        time.sleep(0.05)
        return real(path, *options, **more)

    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    made = [CrossEncoder(str(folder)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        scores = list(pool.map(lambda one: one.score("cancer", texts("cancer")), made))
    assert scores == [[found(1)]] * 4
    assert loaded == [str(folder / "model.onnx")]


def test_the_name_changes_with_the_model(tmp_path: Path) -> None:
    one, other = tiny.save(tmp_path / "a" / "m"), tiny.save(tmp_path / "b" / "m", tiny.counting(labels=2))
    names = {CrossEncoder(str(folder)).name for folder in (one, other, one)}
    assert len(names) == 2
    assert all(name.startswith("onnx-cross-encoder:m-") for name in names)


# Where a library may say that its model lies


def reranker_of(config: Path, **overrides: str) -> Reranker:
    with Library.open(config.parent, overrides=overrides) as library:
        assert library.reranker is not None
        return library.reranker


def test_a_librarys_config_names_a_model_in_its_folder(library_config: Path) -> None:
    tiny.save(library_config.parent.parent / "models" / "tiny")
    library_config.write_text('reranker = "onnx-cross-encoder:models/tiny"\n')
    assert reranker_of(library_config).score("cancer", texts("cancer")) == [found(1)]


@pytest.mark.parametrize("way", ["absolute", "../outside", "~/outside", "link"])
def test_a_librarys_config_names_no_model_outside_but_the_user_may(
    tmp_path: Path, library_config: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    outside = tiny.save(tmp_path / "outside")
    (tmp_path / "library" / "link").symlink_to(outside)
    named = f"onnx-cross-encoder:{outside if way == 'absolute' else way}"
    library_config.write_text(f"reranker = '{named}'\n")
    with pytest.raises(InvalidInput, match="names a model outside of its folder") as caught:
        reranker_of(library_config)
    assert "CARREL_RERANKER" in caught.value.hint
    assert reranker_of(library_config, reranker=named).score("cancer", texts("cancer")) == [found(1)]


def test_a_library_is_opened_without_loading_it(library_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.save(library_config.parent.parent / "tiny")
    library_config.write_text('reranker = "onnx-cross-encoder:tiny"\n')
    monkeypatch.setattr(encoders, "open_session", pytest.fail)
    with Library.open(library_config.parent) as library:
        assert library.list() == []
