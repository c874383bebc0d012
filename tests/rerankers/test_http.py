"""Rerankers behind a server: a scripted one, that answers as the real ones do and as broken ones do."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from carrel import registry, servers, settings
from carrel.errors import InvalidInput, ModelNotInstalled, ModelServerUnavailable, ModelTooSlow
from carrel.library import Library
from carrel.rerankers.http import Http
from carrel.rerankers.models import probability
from tests.embedders.test_ollama import Reply, Serve, _impatient, serve
from tests.embedders.test_openai import REMOTE, library_config, own_config
from tests.rerankers import tiny
from tests.rerankers.test_onnx import texts

__all__ = ["_impatient", "library_config", "own_config", "serve"]


def answering(*scores: object, key: str = "relevance_score") -> Reply:
    return Reply({"results": [{"index": at, key: score} for at, score in enumerate(scores)]})


def test_model_query_documents_and_number_are_sent_and_the_key_with_them(serve: Serve) -> None:
    server = serve(lambda *_: answering(0.5, 0.25))
    reranker = Http(server.url, model="qwen3", api_key="secret\n")
    assert reranker.score("What?", texts("one", "two")) == [0.5, 0.25]
    expected = {"model": "qwen3", "query": "What?", "documents": ["one", "two"], "top_n": 2}
    assert (server.asked, server.keys) == ([("/rerank", expected)], ["Bearer secret"])
    assert "secret" not in repr(reranker.client)
    assert reranker.name == "http:qwen3"


def test_without_a_model_and_a_key_neither_is_sent(serve: Serve) -> None:
    server = serve(tiny.jina)
    reranker = Http(server.url)
    reranker.score("What?", texts("one"))
    assert (server.asked[0][1].keys(), server.keys) == ({"query", "documents", "top_n"}, [None])
    assert reranker.name == f"http:{server.url}"


@pytest.mark.parametrize(
    ("ending", "path"),
    [
        ("", "/rerank"),
        ("/", "/rerank"),
        ("/v1", "/v1/rerank"),
        ("/v2/rerank", "/v2/rerank"),
        ("/v2/rerank/", "/v2/rerank"),
    ],
)
def test_the_address_may_name_the_endpoint_or_leave_it_out(serve: Serve, ending: str, path: str) -> None:
    server = serve(lambda *_: answering(0.5))
    Http(f"{server.url}{ending}").score("q", texts("one"))
    assert server.paths() == [path]


def test_scores_come_in_the_candidates_order_whatever_the_servers(serve: Serve) -> None:
    best_first = [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.5}]
    reply = Reply({"results": [*best_first, {"index": 1, "relevance_score": 0}]})
    assert Http(serve(lambda *_: reply).url).score("q", texts("a", "b", "c")) == [0.5, 0.0, 0.9]


def test_a_server_of_the_other_kind_is_recognised_and_asked_its_way_from_then_on(serve: Serve) -> None:
    server = serve(tiny.tei)
    reranker = Http(server.url, model="ignored")
    assert reranker.score("one two", texts("one", "two one")) == [0.5, 1.0]
    assert reranker.score("three", texts("three")) == [1.0]
    assert [list(question) for _, question in server.asked] == [
        ["model", "query", "documents", "top_n"],
        ["query", "texts", "raw_scores", "truncate"],
        ["query", "texts", "raw_scores", "truncate"],
    ]


def test_what_is_not_all_in_zero_to_one_is_taken_for_logits(serve: Serve) -> None:
    scores = {"jina": [7.74, -2.34, 0.5], "half": [0.5, 1.0, 0.0], "huge": [1e308, -1e308, 0]}
    server = serve(lambda _path, question: answering(*scores[question["query"]]))
    reranker, three = Http(server.url), texts("a", "b", "c")
    assert reranker.score("jina", three) == pytest.approx([probability(score) for score in (7.74, -2.34, 0.5)])
    assert reranker.score("half", three) == [0.5, 1.0, 0.0]
    assert reranker.score("huge", three) == [1.0, 0.0, 0.5]


def test_many_passages_are_sent_in_batches_and_their_scale_judged_together(serve: Serve) -> None:
    server = serve(lambda _path, question: answering(*(float(len(text)) / 2 for text in question["documents"])))
    scores = Http(server.url).score("q", texts(*["a"] * 33, "aaaa"))
    assert [len(question["documents"]) for _, question in server.asked] == [32, 2]
    assert scores == [probability(0.5)] * 33 + [probability(2.0)]


def test_nothing_of_a_passage_that_is_too_long_for_the_server_is_cut_off(serve: Serve) -> None:
    def narrow(path: str, question: Any) -> Reply:
        if max(map(len, question["documents"])) > 300:
            return Reply({"error": {"message": "maximum context length is 100 tokens"}}, 400)
        return tiny.jina(path, question)

    long = "beta " * 200 + "alpha"
    assert Http(serve(narrow).url).score("alpha", texts("gamma", long, "alpha")) == [0.0, 1.0, 1.0]


def test_a_server_that_finds_everything_too_long_is_not_asked_for_ever(serve: Serve) -> None:
    with pytest.raises(ModelServerUnavailable, match="too long"):
        Http(serve(lambda *_: Reply({"error": "input is too long"}, 413)).url).score("q", texts("some words"))


def test_text_without_words_and_halves_of_characters_are_sent_as_something(serve: Serve) -> None:
    server = serve(tiny.jina)
    Http(server.url).score("q\ud800", texts("", "\x00", "\ud800"))
    assert server.asked[0][1] == {"query": "q?", "documents": [".", ".", "?"], "top_n": 3}


@pytest.mark.parametrize(
    ("reply", "message", "hint"),
    [
        (Reply(b"404 page not found", 404), "answered 404: 404 page not found", "Is reranker right"),
        (Reply({"message": "who are you?"}, 401), "answered 401: who are you", "CARREL_RERANK__API_KEY"),
        (Reply({"detail": "no \x1b[31m"}, 500), r"answered 500: no \[31m", "log"),
        (Reply({"detail": "wrong"}, 422), "answered 422: wrong", "log"),
        (Reply({"detail": "busy"}, 503), "answered 503: busy", "log"),
        (
            Reply(status=307, headers={"Location": "http://elsewhere.example/"}),
            "answered 307: http://elsewhere",
            "reranker",
        ),
        (Reply(b"not json"), "sent no JSON but 'not json'", "Is reranker the address"),
        (Reply(b"[" * 100_000), "sent no JSON", "reranker"),
        (Reply(b""), "sent no JSON but ''", "reranker"),
        (Reply(resets=True), "hung up before it had answered", "log"),
        (Reply(b'{"results', headers={"Content-Length": "500"}), "hung up before it had answered", "log"),
        (Reply(b" " * 3_000_000), "more than 1,000,000 bytes", "reranker"),
        (Reply({"results": [0.5, 0.5]}, drip=0.02), r"did not answer within 0\.2 s", "rerank.timeout"),
        (Reply({"results": None}), "did not answer as a reranker does", "reranker"),
        (Reply({"scores": [0.5, 0.5]}), "did not answer as a reranker does", "reranker"),
        (Reply({"results": {"index": 0, "score": 1}}), "did not answer as a reranker does", "reranker"),
        (Reply([0.5, 0.5]), "did not answer as a reranker does", "reranker"),
        (Reply("results"), "did not answer as a reranker does", "reranker"),
        (answering(0.5, 0.5, key="relevance"), "did not answer as a reranker does", "reranker"),
        (answering(0.5, None), "did not answer as a reranker does", "reranker"),
        (answering(0.5, "0.5"), "did not answer as a reranker does", "reranker"),
        (answering(0.5, True), "did not answer as a reranker does", "reranker"),
        (answering(0.5, float("nan")), "did not answer as a reranker does", "reranker"),
        (answering(0.5, float("inf")), "did not answer as a reranker does", "reranker"),
        (answering(0.5, 10**400), "did not answer as a reranker does", "reranker"),
        (Reply({"results": []}), "sent 0 scores, not one for each of 2 passages", "reranker"),
        (answering(0.5), "sent 1 scores, not one for each of 2 passages", "reranker"),
        (answering(0.5, 0.5, 0.5), "sent 3 scores, not one for each of 2 passages", "reranker"),
        (Reply([{"index": 0, "score": 0.5}] * 2), "sent 2 scores, not one for each of 2 passages", "reranker"),
        (Reply([{"index": at, "score": 0.5} for at in (1, 2)]), "sent 2 scores, not one for each of 2", "reranker"),
        (Reply([{"index": at, "score": 0.5} for at in (0, -1)]), "sent 2 scores, not one for each of 2", "reranker"),
        (Reply([{"index": at, "score": 0.5} for at in (0, True)]), "did not answer as a reranker does", "reranker"),
        (Reply([{"index": at, "score": 0.5} for at in (0, 1.0)]), "did not answer as a reranker does", "reranker"),
    ],
)
def test_a_server_that_misbehaves_is_told_on_and_gives_no_scores(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, reply: Reply, message: str, hint: str
) -> None:
    monkeypatch.setattr(servers, "MOST_BYTES", 1_000_000)
    server = serve(lambda *_: reply)
    with pytest.raises(ModelServerUnavailable, match=message) as caught:
        Http(server.url, timeout=0.2 if reply.drip else 10.0).score("q", texts("one", "two"))
    assert (caught.value.exit_code, caught.value.http_status) == (3, 503)
    assert server.url in caught.value.message
    assert hint in caught.value.hint


def test_a_model_that_the_server_lacks_is_named_with_exit_code_5(serve: Serve) -> None:
    server = serve(lambda *_: Reply({"error": {"message": "The model `qwen3` does not exist."}}, 404))
    with pytest.raises(ModelNotInstalled, match="has no model 'qwen3': The model `qwen3` does not exist") as caught:
        Http(server.url, model="qwen3").score("q", texts("one"))
    assert (caught.value.exit_code, "rerank.model" in caught.value.hint) == (5, True)


def test_a_server_that_is_down_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ModelServerUnavailable, match=f"127.0.0.1:{port}' cannot be reached") as caught:
        Http(f"http://127.0.0.1:{port}").score("q", texts("one"))
    assert caught.value.hint == "Start it, or set reranker."


def test_a_busy_server_is_asked_again(serve: Serve) -> None:
    replies = [Reply({"error": "busy"}, 503), Reply(resets=True), answering(0.5)]
    server = serve(lambda *_: replies.pop(0))
    assert Http(server.url).score("q", texts("one")) == [0.5]
    assert len(server.asked) == 3


def test_a_server_that_takes_its_time_with_every_batch_is_not_asked_beyond_the_deadline(serve: Serve) -> None:
    def slow(path: str, question: Any) -> Reply:
        time.sleep(0.1)
        return tiny.jina(path, question)

    server = serve(slow)
    reranker = Http(server.url)
    reranker.timeout = 0.05
    with pytest.raises(ModelTooSlow, match=r"was not done within 0\.05 s"):
        reranker.score("q", texts(*["a"] * 200))
    assert len(server.asked) == 1


def test_several_threads_may_ask_at_once(serve: Serve) -> None:
    reranker, found = Http(serve(tiny.tei).url), {}

    def ask(word: str) -> None:
        found[word] = reranker.score(word, texts("alpha", "beta", "gamma"))

    threads = [threading.Thread(target=ask, args=(word,)) for word in ("alpha", "beta", "gamma")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"alpha": [1.0, 0.0, 0.0], "beta": [0.0, 1.0, 0.0], "gamma": [0.0, 0.0, 1.0]}


# What may name a server


def test_the_setting_names_the_server_after_a_colon() -> None:
    made = registry.make("rerankers", "http:https://host:8000/v1", model="m", unknown=1)
    assert (made.client.base_url, made.model) == ("https://host:8000/v1", "m")


@pytest.mark.parametrize("name", ["http", "http:", "http:host", "http://127.0.0.1:8000", "http:127.0.0.1:8000"])
def test_a_name_without_a_whole_address_is_refused(own_config: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"setting reranker = .* as in http:http://127\.0\.0\.1:8000"):
        settings.load(None, {"reranker": name})


@pytest.mark.parametrize("url", ["ftp://host", "http://user:word@host", "http://h:99999", "http://h/?a=b", "http:///x"])
def test_what_is_no_address_is_refused(own_config: Path, url: str) -> None:
    with pytest.raises(InvalidInput, match="setting reranker"):
        settings.load(None, {"reranker": f"http:{url}"})


@pytest.mark.parametrize("url", REMOTE)
def test_a_librarys_config_sends_no_text_away_without_the_users_consent(
    library_config: Path, own_config: Path, url: str
) -> None:
    library_config.write_text(f'reranker = "http:{url}"\n')
    with pytest.raises(InvalidInput, match="would send its texts to another machine: reranker = ") as caught:
        settings.load(library_config)
    assert str(own_config) in caught.value.hint
    own_config.write_text("[models]\nallow_remote = true\n")
    assert settings.load(library_config)[0].reranker == f"http:{url}"


def test_config_set_writes_no_remote_address_without_consent(library_config: Path, own_config: Path) -> None:
    before = library_config.read_text()
    with pytest.raises(InvalidInput, match="another machine"):
        settings.assign(library_config, "reranker", f"http:{REMOTE[0]}")
    assert library_config.read_text() == before
    assert settings.assign(library_config, "reranker", "http:http://localhost:8000") == "http:http://localhost:8000"
    own_config.write_text("[models]\nallow_remote = true\n")
    assert settings.assign(library_config, "reranker", f"http:{REMOTE[0]}") == f"http:{REMOTE[0]}"


def test_the_user_may_name_any_server_by_config_environment_or_flag(
    library_config: Path, own_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = [f"http:{url}" for url in REMOTE]
    assert settings.load(library_config, {"reranker": named[0]})[0].reranker == named[0]
    own_config.write_text(f'reranker = "{named[1]}"\n[rerank]\napi_key = "k"\n')
    assert settings.load(library_config)[0].rerank.api_key.get_secret_value() == "k"
    monkeypatch.setenv("CARREL_RERANKER", named[2])
    assert settings.load(library_config)[0].reranker == named[2]


def test_a_librarys_config_may_not_hold_a_key(library_config: Path) -> None:
    library_config.write_text('[rerank]\napi_key = "k"\n')
    with pytest.raises(InvalidInput, match=r"setting rerank\.api_key may not be set in .*config\.toml") as caught:
        settings.load(library_config)
    assert "CARREL_RERANK__API_KEY" in caught.value.hint


def test_the_users_key_goes_only_to_a_server_the_user_named_and_no_other_key_does(
    serve: Serve, library_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(tiny.jina)
    monkeypatch.setenv("CARREL_RERANK__API_KEY", "secret")
    monkeypatch.setenv("CARREL_MODELS__API_KEY", "another server's")
    library_config.write_text(f'reranker = "http:{server.url}"\n')
    for overrides in ({}, {"reranker": f"http:{server.url}"}):
        with Library.open(library_config.parent, overrides=overrides) as library:
            assert library.reranker is not None
            library.reranker.score("x", texts("y"))
    assert server.keys == [None, "Bearer secret"]
    assert "secret" not in json.dumps([setting.value for setting in settings.listing(*settings.load())])
