"""Whatever a generator does, asking a library ends with a clear result: what was proved, or why nothing was."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel import Library, servers
from carrel.errors import InvalidInput, MissingExtra, ModelNotInstalled
from carrel.testing import HashedWords, Script
from carrel.types import Answer, TokenEvent
from tests.generators.chat import APIS, KEY, Api, Pause, Reply, plain, smollm2, threads_end
from tests.generators.conftest import Serve

QUESTION = "How hard is granite?"
TRUTH = "Granite is a hard rock that slowly cooled magma makes. [1]\n"
STATEMENT = TRUTH.partition(" [")[0]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    paper = {"id": "granite", "title": "Granite", "abstract": f"{STATEMENT} It is used for how floors are made."}
    refs = folder / "in.jsonl"
    refs.write_text(json.dumps(paper | {"authors": [{"first": "A", "last": "B"}], "published": {"year": 2020}}))
    with Library.init(folder, embedder=HashedWords()) as library:
        library.add(refs)
    return folder


Ask = Callable[..., Answer]


@pytest.fixture
def ask(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    monkeypatch.setenv("CARREL_GENERATION__API_KEY", KEY)

    def ask(generator: str, url: str = "", **options: Any) -> Answer:
        chosen = {"generator": generator, "answer.threshold": 0.0, "generation.base_url": url}
        chosen |= {f"generation.{key}": value for key, value in options.items()}
        with Library.open(shelf, embedder=HashedWords(), overrides=chosen) as library:
            return library.ask(QUESTION)

    yield ask
    assert threads_end()


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> Api:
    return APIS[request.param]


def reasons(answer: Answer) -> str:
    return "; ".join(part.reason for part in answer.degraded if part.arm == "generator")


def test_a_server_that_answers_is_quoted(serve: Serve, ask: Ask, api: Api) -> None:
    answer = ask(f"{api.kind.kind}:m", serve(api.answering(*TRUTH)).url)
    assert [statement.text for statement in answer.statements] == [STATEMENT]
    assert (answer.generator, reasons(answer)) == (f"{api.kind.kind}:m", "")


FAULTS: dict[str, tuple[Callable[[Api], Reply], str]] = {
    "hangs": (lambda _: Reply([Pause(30)]), "was silent for 1 s"),
    "sends html": (lambda _: plain(b"<html>\n<p>Welcome</p>"), "sent no JSON but '<html>'"),
    "is broken": (lambda _: plain({"error": "out of order"}, 500), "answered 500: out of order"),
    "is busy for ever": (lambda _: plain({"error": "slow down"}, 429), "answered 429: slow down"),
    "finds it too long": (lambda _: plain({"error": "prompt is too long"}, 400), "prompt is too long"),
    "redirects": (lambda _: plain(b"", 307, Location="http://evil.example/"), "answered 307: http://evil.example/"),
    "trickles": (lambda _: Reply(x for _ in range(9999) for x in (b" ", Pause(0.02))), "was still at work after 3 s"),
    "has no end of a line": (lambda _: plain(b"x" * 3000), "a line of more than 1,000 bytes"),
    "closes at once": (lambda _: Reply(resets=True), "hung up before it had answered"),
    "says nothing": (lambda api: Reply(api.say(whole=False)), "hung up in the middle of its answer"),
    "wants another key": (lambda _: plain({"error": {"message": "bad key"}}, 401), "answered 401: bad key"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_when_it_fails_the_extractive_one_stands_in_and_that_is_said(
    serve: Serve, ask: Ask, api: Api, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "LONGEST_LINE", 1000)
    reply, reason = FAULTS[fault]
    start = time.monotonic()
    answer = ask(f"{api.kind.kind}:m", serve(lambda *_: reply(api)).url, timeout=1.0, seconds=3.0)
    assert time.monotonic() - start < 20
    assert reason in reasons(answer)
    assert (answer.generator, answer.has_insufficient_evidence) == ("extractive", False)
    assert STATEMENT in answer.answer
    assert KEY not in json.dumps(answer.as_dict())


def test_what_was_proved_before_it_died_stands(serve: Serve, ask: Ask, api: Api) -> None:
    server = serve(lambda *_: Reply(api.say(TRUTH, "Granite is al", whole=False)))
    answer = ask(f"{api.kind.kind}:m", server.url)
    assert [statement.text for statement in answer.statements] == [STATEMENT]
    assert "hung up in the middle of its answer" in reasons(answer)
    assert answer.generator == f"{api.kind.kind}:m"


def test_a_server_that_is_busy_once_is_asked_again(serve: Serve, ask: Ask, api: Api) -> None:
    replies = [plain(b"", 429, Retry_After="0"), Reply(api.say(TRUTH))]
    answer = ask(f"{api.kind.kind}:m", serve(lambda *_: replies.pop(0)).url)
    assert ([statement.text for statement in answer.statements], reasons(answer)) == ([STATEMENT], "")


@pytest.mark.parametrize(
    "lie", ["Cats fly. [99]\n", "Granit ist hart. [1]\n", "Granite is soft. [1]\n" * 50, "\n" * 500]
)
def test_what_it_invents_is_not_shown(serve: Serve, ask: Ask, api: Api, lie: str) -> None:
    answer = ask(f"{api.kind.kind}:m", serve(api.answering(lie)).url)
    assert answer.has_insufficient_evidence
    assert answer.statements == ()
    assert "fly" not in answer.answer


def test_who_stops_listening_stops_the_server(serve: Serve, shelf: Path, api: Api, ask: Ask) -> None:
    del ask
    server = serve(lambda *_: Reply([*api.say(TRUTH, whole=False), Pause(30)]))
    chosen = {"generator": f"{api.kind.kind}:m", "generation.base_url": server.url, "answer.threshold": 0.0}
    with Library.open(shelf, embedder=HashedWords(), overrides=chosen | {"generation.timeout": 20.0}) as library:
        events = library.stream(QUESTION)
        assert any(isinstance(event, TokenEvent) for event in events)
        events.close()
        assert server.left.wait(15)


@pytest.mark.parametrize(
    ("generator", "error", "words"),
    [
        ("gguf:nowhere.gguf", ModelNotInstalled, "there is no model file"),
        ("gguf:in.jsonl", ModelNotInstalled, "is no GGUF file"),
        ("openai:m", InvalidInput, "the generator 'openai:m' has no server"),
        ("openai", InvalidInput, "does not say which model"),
        ("claude", InvalidInput, "no generator is called 'claude'"),
    ],
)
def test_settings_that_are_wrong_are_told_and_not_hidden(
    ask: Ask, generator: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ask(generator)


def test_a_model_that_the_server_lacks_is_told(serve: Serve, ask: Ask, api: Api) -> None:
    server = serve(lambda *_: plain({"error": "model not found"}, 404))
    with pytest.raises(ModelNotInstalled, match="m"):
        ask(f"{api.kind.kind}:m", server.url)


def test_without_its_extra_the_way_to_get_it_is_told(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.delitem(sys.modules, "carrel.generators.gguf", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'carrel\[gguf\]'"):
        ask("gguf:a.gguf")


def test_a_small_model_may_say_what_it_likes(ask: Ask) -> None:
    answer = ask(f"gguf:{smollm2()}", max_tokens=40)
    assert answer.generator == "gguf:SmolLM2-135M-Instruct.Q4_1"
    for citation in answer.citations:
        assert citation.quote in f"{STATEMENT} It is used for how floors are made."
    assert answer.statements or answer.has_insufficient_evidence


def test_scripts_that_break_are_reported_too(shelf: Path) -> None:
    broken = Script("Granite", ConnectionError("gone"))
    chosen = {"answer.threshold": 0.0}
    with Library.open(shelf, embedder=HashedWords(), generator=broken, overrides=chosen) as library:
        answer = library.ask(QUESTION)
    assert reasons(answer) == "script: ConnectionError: gone"
