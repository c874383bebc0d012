"""What every embedder promises."""

from __future__ import annotations

import numpy as np
import pytest

from carrel.embedders import Embedder
from carrel.embedders.granite import Granite
from carrel.testing import HashedWords

TEXTS = [
    "Aspirin lowers the incidence of colorectal cancer.",
    "e",
    "",
    "Größe, naïve, 漢字, 🙂 and \t tabs\n\nand new lines",
    "Photosynthesis turns light into chemical energy. " * 5,
    "Aspirin lowers the incidence of colorectal cancer.",
]


@pytest.fixture(scope="module", params=[Granite, HashedWords])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    made: Embedder = request.param()
    return made


def long_text(embedder: Embedder, ending: str = "") -> str:
    text = "The committee met on Tuesday and approved the minutes of the last meeting. "
    times = 2 * embedder.max_tokens // embedder.count_tokens([text])[0]
    return text * times + ending


def test_it_is_an_embedder_with_a_name_and_sizes(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.name
    assert embedder.dim > 1
    assert embedder.max_tokens > 1


def test_one_finite_float32_row_of_unit_length_for_each_text(embedder: Embedder) -> None:
    rows = embedder.embed_passages(TEXTS)
    assert (rows.shape, rows.dtype.name) == ((6, embedder.dim), "float32")
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(6), abs=1e-5)


def test_no_texts_give_no_rows_of_the_right_width(embedder: Embedder) -> None:
    rows = embedder.embed_passages([])
    assert (rows.shape, rows.dtype.name) == ((0, embedder.dim), "float32")
    assert embedder.count_tokens([]) == []


def test_a_query_is_one_float32_unit_vector(embedder: Embedder) -> None:
    vector = embedder.embed_query("Does aspirin prevent cancer?")
    assert (vector.shape, vector.dtype.name) == ((embedder.dim,), "float32")
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_a_text_has_the_same_vector_alone_in_a_batch_and_in_any_order(embedder: Embedder) -> None:
    together = embedder.embed_passages(TEXTS)
    alone = np.concatenate([embedder.embed_passages([text]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-4
    assert np.abs(embedder.embed_passages(TEXTS[::-1])[::-1] - together).max() < 1e-4
    assert np.abs(together[0] - together[5]).max() < 1e-4


def test_another_embedder_of_the_same_name_gives_the_same_vectors(embedder: Embedder) -> None:
    other = type(embedder)()
    assert other.name == embedder.name
    assert np.abs(other.embed_passages(TEXTS[:2]) - embedder.embed_passages(TEXTS[:2])).max() < 1e-4


@pytest.mark.parametrize("text", ["", "   ", "\n\t\n", "\x00", "\ud800", "🙂", "." * 50])
def test_a_text_without_words_still_has_a_finite_unit_vector(embedder: Embedder, text: str) -> None:
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(embedder.embed_passages([text, "word"]), axis=1) == pytest.approx(np.ones(2), abs=1e-5)


def test_a_question_is_nearer_to_the_passage_that_answers_it(embedder: Embedder) -> None:
    passages = embedder.embed_passages([TEXTS[4], TEXTS[0]])
    energy, cancer = passages @ embedder.embed_query("What is the incidence of cancer under aspirin?")
    assert cancer > energy + 0.1


def test_tokens_are_counted_for_each_text(embedder: Embedder) -> None:
    none, one, two, many = embedder.count_tokens(["", "cancer", "cancer cancer", "cancer " * 1000])
    assert (none, one, two) == (0, 1, 2)
    assert many >= 1000


def test_the_end_of_a_passage_beyond_the_limit_is_seen(embedder: Embedder) -> None:
    ending = "Zebrafish regenerate heart muscle after injury. " * 10
    assert embedder.count_tokens([long_text(embedder)])[0] > embedder.max_tokens
    question = embedder.embed_query("Zebrafish regenerate heart muscle")
    without, whole = embedder.embed_passages([long_text(embedder), long_text(embedder, ending)]) @ question
    assert whole > without + 0.02


def test_a_long_passage_is_embedded_the_same_alone_and_among_short_ones(embedder: Embedder) -> None:
    text = long_text(embedder)
    among = embedder.embed_passages(["short", text, "another"])[1]
    assert np.abs(among - embedder.embed_query(text)).max() < 1e-4
    assert np.linalg.norm(among) == pytest.approx(1.0, abs=1e-5)


def test_a_different_text_has_a_different_vector(embedder: Embedder) -> None:
    first, second = embedder.embed_passages(["Aspirin", "Zebrafish"])
    assert np.abs(first - second).max() > 1e-3


def test_the_names_of_the_doubles_tell_their_sizes_apart() -> None:
    names = {HashedWords().name, HashedWords(dim=32).name, HashedWords(max_tokens=8).name}
    assert len(names) == 3
