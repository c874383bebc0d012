"""Models behind servers: what is asked of each API, what its answers mean, and what becomes of its faults."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from carrel import servers
from carrel.errors import (
    CarrelError,
    ContextTooLong,
    InvalidInput,
    ModelBusy,
    ModelNotInstalled,
    ModelRefused,
    ModelServerUnavailable,
    ModelTooSlow,
)
from carrel.generators.anthropic import Anthropic
from carrel.generators.ollama import Ollama
from carrel.generators.openai import OpenAI
from carrel.generators.prompting import messages
from carrel.types import Excerpt, Prompt
from tests.generators.chat import APIS, KEY, Api, Pause, Reply, plain, threads_end
from tests.generators.conftest import Serve

PROMPT = Prompt("Why?", (Excerpt(1, "T", "Because \ud800 it is so.\x00"),))
SYSTEM, USER = messages(Prompt("Why?", (Excerpt(1, "T", "Because  it is so."),)))
NOBODY = "http://127.0.0.1:9"


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> Api:
    return APIS[request.param]


def said(generator: Any) -> str:
    return "".join(generator.stream(PROMPT))


def in_turn(*replies: Reply) -> Callable[[str, Any], Reply]:
    """The last is given again and again."""
    left = list(replies)
    return lambda *_: left.pop(0) if len(left) > 1 else left[0]


def test_each_server_is_asked_in_its_own_words(serve: Serve) -> None:
    asked = {}
    for name, api in APIS.items():
        server = serve(api.answering("So."))
        assert said(api.make(server.url, max_tokens=99, temperature=0.5, context_tokens=4096)) == "So."
        ((path, asked[name]),) = server.asked
        assert path == api.path
    assert asked["openai"] == {
        "model": "m",
        "messages": [SYSTEM, USER],
        "stream": True,
        "max_tokens": 99,
        "temperature": 0.5,
    }
    assert asked["ollama"] == {
        "model": "m",
        "messages": [SYSTEM, USER],
        "stream": True,
        "truncate": False,
        "options": {"num_ctx": 4096, "num_predict": 99, "temperature": 0.5},
    }
    assert asked["anthropic"] == {
        "model": "m",
        "system": SYSTEM["content"],
        "messages": [USER],
        "max_tokens": 99,
        "temperature": 0.5,
        "stream": True,
    }


def test_each_server_gets_the_key_where_it_looks_for_it_and_nobody_else_sees_it(serve: Serve, api: Api) -> None:
    server = serve(api.answering("So."))
    generator = api.make(server.url, api_key=f"{KEY}\n")
    said(generator)
    (headers,) = server.headers
    if api.kind is Anthropic:
        assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
        assert "authorization" not in headers
    else:
        assert headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(generator.client)
    assert KEY not in str(vars(generator))


def test_a_server_that_repeats_the_key_does_not_make_us_show_it(serve: Serve, api: Api) -> None:
    for reply in (plain({"error": {"message": f"Incorrect key: {KEY}"}}, 401), plain(f"<b>{KEY}</b>".encode())):
        with pytest.raises(ModelServerUnavailable, match="…") as caught:
            said(api.make(serve(lambda *_, reply=reply: reply).url))
        assert KEY not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("key", ["sk-one\nX-Other: two", "sk-\N{PILE OF POO}", "sk-\x00"])
def test_a_key_that_is_none_is_refused_without_being_shown(serve: Serve, api: Api, key: str) -> None:
    server = serve(api.answering("So."))
    with pytest.raises(InvalidInput, match=r"generation\.api_key has letters that no key has") as caught:
        said(api.make(server.url, api_key=key))
    assert key[3:] not in f"{caught.value.message}{caught.value.hint}"
    assert server.asked == []


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_the_address_may_leave_out_the_version(serve: Serve, ending: str) -> None:
    for api in (APIS["openai"], APIS["anthropic"]):
        server = serve(api.answering("So."))
        assert said(api.make(f"{server.url}{ending}")) == "So."
        assert server.paths() == [api.path]


def test_making_one_asks_nobody_and_a_stream_nobody_reads_asks_nobody(serve: Serve, api: Api) -> None:
    server = serve(api.answering("So."))
    generator = api.make(server.url)
    generator.stream(PROMPT).close()
    assert (generator.name, server.asked) == (f"{generator.kind}:m", [])
    assert generator.context_tokens == 8192 - 512 - 256
    assert api.make(server.url, context_tokens=300).context_tokens == 256


def test_without_address_or_key_nothing_goes_anywhere() -> None:
    with pytest.raises(InvalidInput, match="the generator 'openai:m' has no server") as caught:
        OpenAI("m").stream(PROMPT)
    assert "generation.base_url" in caught.value.hint
    with pytest.raises(InvalidInput, match="the generator 'anthropic:m' has no key") as caught:
        Anthropic("m").stream(PROMPT)
    assert "ANTHROPIC_API_KEY" in caught.value.hint
    assert Anthropic("m").client.base_url == "https://api.anthropic.com"


def bytewise(lines: Iterable[bytes]) -> list[bytes]:
    return [bytes([byte]) for byte in b"".join(lines)]


def test_an_answer_cut_anywhere_is_the_same_also_within_a_letter(serve: Serve, api: Api) -> None:
    pieces = ["Größe ", "漢字", " 🙂\n", "[1]"]
    lines = [line.replace(b"\n", b"\r\n") for line in api.say(*pieces)]
    server = serve(lambda *_: Reply(bytewise(lines)))
    assert said(api.make(server.url)) == "".join(pieces)


def test_letters_are_not_cut_where_the_bytes_are(serve: Serve) -> None:
    event = json.dumps({"choices": [{"delta": {"content": "Größe 漢字 🙂"}}]}, ensure_ascii=False)
    body = f"data: {event}\n\ndata: [DONE]\n\n".encode()
    server = serve(lambda *_: Reply(bytewise([body])))
    assert said(OpenAI("m", base_url=server.url)) == "Größe 漢字 🙂"


def test_a_server_that_does_not_stream_is_heard_all_the_same(serve: Serve) -> None:
    whole = {"choices": [{"message": {"content": "So it is."}, "finish_reason": "stop"}]}
    assert said(OpenAI("m", base_url=serve(lambda *_: plain(whole)).url)) == "So it is."


def test_an_answer_that_was_cut_off_is_used_and_the_log_says_so(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    ends = {
        "openai": b'data: {"choices": [{"delta": {"content": "en"}, "finish_reason": "length"}]}\n\n',
        "ollama": b'{"message": {"content": "en"}, "done": true, "done_reason": "length"}\n',
        "anthropic": b'data: {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "en"}}\n\n'
        b'data: {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}\n\n'
        b'data: {"type": "message_stop"}\n\n',
    }
    for name, end in ends.items():
        api = APIS[name]
        body = [*api.say("The ", whole=False), end]
        with caplog.at_level(logging.WARNING):
            assert said(api.make(serve(lambda *_, body=body: Reply(body)).url)) == "The en"
    assert [record.getMessage() for record in caplog.records] == ["answer cut off"] * 3


def test_what_openais_newer_models_do_without_is_left_out(serve: Serve) -> None:
    api = APIS["openai"]
    words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."

    def modern(path: str, question: Any) -> Reply:
        if "max_tokens" in question:
            return plain({"error": {"message": words}}, 400)
        return api.answering("So.")(path, question)

    server = serve(modern)
    generator = api.make(server.url)
    assert [said(generator), said(generator)] == ["So.", "So."]
    assert [sorted(asked) for _, asked in server.asked[1:]] == [
        ["max_completion_tokens", "messages", "model", "stream"]
    ] * 2
    stubborn = serve(lambda *_: plain({"error": {"message": words}}, 400))
    with pytest.raises(ModelRefused):
        said(api.make(stubborn.url))
    assert len(stubborn.asked) == 2


FAULTS: list[tuple[Reply, type[CarrelError], str]] = [
    (plain(b"<html>\n<body>hello</body>"), ModelServerUnavailable, "sent no JSON but '<html>'"),
    (plain(b"[1, 2]\n"), ModelServerUnavailable, r"sent no object but '\[1, 2\]'"),
    (plain(b"data: {oops\n\n"), ModelServerUnavailable, "sent no JSON but '{oops'"),
    (plain({"what": 1}), ModelServerUnavailable, "did not answer as"),
    (plain(b""), ModelServerUnavailable, "hung up in the middle"),
    (plain({"error": "out of memory \x1b[31m"}, 500), ModelRefused, r"answered 500: out of memory \[31m$"),
    (plain({"error": {"message": "gone", "code": 500}}), ModelRefused, "answered 500: gone"),
    (plain({"error": {"message": "who are you?"}}, 401), ModelRefused, "answered 401: who are you"),
    (plain(b"", 302, Location="http://elsewhere.example/"), ModelRefused, "answered 302: http://elsewhere.example/"),
    (plain({"error": {"message": "slow down"}}, 429), ModelBusy, "answered 429: slow down"),
    (plain({"error": "prompt is too long: 9 tokens > 8 maximum"}, 400), ContextTooLong, "prompt is too long"),
    (plain({"error": {"message": "maximum context length is 8 tokens"}}, 400), ContextTooLong, "maximum context"),
    (plain({"error": "exceeds the available context size"}), ContextTooLong, "available context size"),
    (plain(b"x" * 2000), ModelServerUnavailable, "a line of more than 1,000 bytes"),
    (Reply(resets=True), ModelServerUnavailable, "hung up before it had answered"),
]


@pytest.mark.parametrize(("reply", "kind", "words"), FAULTS, ids=[words[:20] for *_, words in FAULTS])
def test_a_fault_is_told_as_what_it_is(
    serve: Serve, api: Api, monkeypatch: pytest.MonkeyPatch, reply: Reply, kind: type[CarrelError], words: str
) -> None:
    monkeypatch.setattr(servers, "LONGEST_LINE", 1000)
    server = serve(lambda *_: reply)
    with pytest.raises(kind, match=words) as caught:
        said(api.make(server.url))
    assert type(caught.value) in {kind, servers.Refused, servers.Dropped}
    assert server.url in caught.value.message
    assert caught.value.hint
    assert KEY not in f"{caught.value.message} {caught.value.hint}"


def test_what_has_been_said_is_heard_before_the_fault(serve: Serve, api: Api) -> None:
    for end in (b"", b'data: {"error": {"message": "gone"}}\n\n', b"<html>\n"):
        server = serve(lambda *_, end=end: Reply([*api.say("It ", "is", whole=False), end]))
        heard = []
        with pytest.raises(ModelServerUnavailable):
            for piece in api.make(server.url).stream(PROMPT):
                heard.append(piece)  # noqa: PERF402
        assert heard == ["It ", "is"]
        assert len(server.asked) == 1


@pytest.mark.parametrize("fault", [plain({"error": "wait"}, 429, Retry_After="0"), plain(b"", 503), Reply(resets=True)])
def test_a_busy_server_is_asked_three_times_at_most(serve: Serve, api: Api, fault: Reply) -> None:
    server = serve(in_turn(fault, fault, Reply(api.say("So."))))
    assert said(api.make(server.url)) == "So."
    assert len(server.asked) == 3
    server = serve(lambda *_: fault)
    with pytest.raises(ModelServerUnavailable):
        said(api.make(server.url))
    assert len(server.asked) == 3


def test_a_server_is_given_the_time_it_asks_for_unless_that_is_long(serve: Serve, api: Api) -> None:
    server = serve(in_turn(plain(b"", 429, Retry_After="1"), Reply(api.say("So."))))
    start = time.monotonic()
    assert said(api.make(server.url)) == "So."
    assert time.monotonic() - start >= 1
    server = serve(lambda *_: plain(b"", 429, Retry_After="3600"))
    with pytest.raises(ModelBusy) as caught:
        said(api.make(server.url))
    assert "It asks for 3600 s." in caught.value.hint
    assert len(server.asked) == 1


def test_overload_that_anthropic_tells_in_the_stream_is_told_as_such(serve: Serve) -> None:
    error = b'data: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
    with pytest.raises(ModelBusy, match="answered 529: Overloaded"):
        said(APIS["anthropic"].make(serve(lambda *_: Reply([error])).url))


def test_a_model_that_is_not_there_is_named(serve: Serve) -> None:
    missing = serve(lambda *_: plain({"error": {"message": "model: m does not exist"}}, 404))
    with pytest.raises(ModelNotInstalled, match=r"Model 'm' not found\. Run 'ollama pull m' first"):
        said(APIS["ollama"].make(missing.url))
    for name in ("openai", "anthropic"):
        with pytest.raises(ModelNotInstalled, match="has no model 'm': model: m does not exist"):
            said(APIS[name].make(missing.url))
    wrong = serve(lambda *_: plain(b"404 page not found", 404))
    with pytest.raises(ModelRefused) as caught:
        said(APIS["openai"].make(wrong.url))
    assert "ends in /v1" in caught.value.hint


def test_without_a_server_each_says_so() -> None:
    with pytest.raises(ModelServerUnavailable, match=r"Ollama is not running\. Start it with 'ollama serve'"):
        said(Ollama("m", base_url=NOBODY))
    with pytest.raises(ModelServerUnavailable, match="cannot be reached") as caught:
        said(OpenAI("m", base_url=NOBODY))
    assert "generation.base_url" in caught.value.hint


def test_silence_is_given_up_after_the_timeout_and_a_trickle_after_all_the_seconds(serve: Serve, api: Api) -> None:
    bodies: list[list[bytes | Pause]] = [[Pause(30)], [*api.say("It", whole=False), Pause(30)]]
    for body in bodies:
        server = serve(lambda *_, body=body: Reply(body))
        with pytest.raises(ModelTooSlow, match=r"was silent for 0\.2 s") as caught:
            said(api.make(server.url, timeout=0.2))
        assert "generation.timeout" in caught.value.hint
        assert server.left.wait(20)
    trickle = serve(lambda *_: Reply(part for _ in range(10_000) for part in (b" ", Pause(0.02))))
    with pytest.raises(ModelTooSlow, match=r"was still at work after 0\.3 s") as caught:
        said(api.make(trickle.url, seconds=0.3))
    assert "generation.seconds" in caught.value.hint


def test_who_closes_the_stream_hangs_up_at_once(serve: Serve, api: Api) -> None:
    endless: list[bytes | Pause] = [*api.say(*["word "] * 5, whole=False), Pause(30), *api.say("more")]
    server = serve(lambda *_: Reply(endless))
    stream = api.make(server.url).stream(PROMPT)
    assert next(stream) == "word "
    stream.close()
    assert server.left.wait(20)
    assert server.sent < len(endless)
    assert list(stream) == []


def test_a_stream_that_waits_can_be_closed_from_another_thread(serve: Serve, api: Api) -> None:
    server = serve(lambda *_: Reply([*api.say("word", whole=False), Pause(30)]))
    stream = api.make(server.url).stream(PROMPT)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.extend(stream), name="carrel-test")
    reader.start()
    while not heard:
        time.sleep(0.01)
    start = time.monotonic()
    stream.close()
    reader.join(20)
    assert (reader.is_alive(), heard) == (False, ["word"])
    assert time.monotonic() - start < 20
    assert server.left.wait(20)
    assert threads_end()


def test_a_check_tells_whether_the_model_is_there_and_sends_no_text(serve: Serve) -> None:
    def has(path: str, _question: Any) -> Reply:
        listed = {
            "/v1/models": {"data": [{"id": "m"}, {"id": "n"}]},
            "/api/tags": {"models": [{"name": "m:latest"}]},
            "/v1/models/m": {"id": "m"},
        }
        return plain(listed[path]) if path in listed else plain({"error": {"message": "no such model"}}, 404)

    server = serve(has)
    for api in APIS.values():
        assert "has it" in api.make(server.url).check()
        with pytest.raises(ModelNotInstalled):
            api.kind("absent", base_url=server.url, api_key=KEY).check()
    assert {json.dumps(question) for _, question in server.asked} == {"null"}


@pytest.mark.parametrize("listed", [{"data": None}, {"models": [3]}, [1], {"data": [1]}])
def test_a_check_of_something_else_than_a_model_server_says_so(serve: Serve, listed: object) -> None:
    server = serve(lambda *_: plain(listed))
    for name in ("openai", "ollama"):
        with pytest.raises(ModelServerUnavailable, match="does not list its models as"):
            APIS[name].make(server.url).check()


def test_llama_cpp_has_whatever_model_it_is_asked_for_and_streams_it(llama: str) -> None:
    generator = OpenAI("anything", base_url=llama, max_tokens=12)
    assert "has it" in generator.check()
    assert len(list(generator.stream(PROMPT))) > 3


def test_llama_cpp_says_when_a_prompt_is_too_long(llama: str) -> None:
    with pytest.raises(ContextTooLong, match="exceeds the available context size"):
        list(OpenAI("m", base_url=llama).stream(Prompt("Why? " * 3000, ())))


def test_llama_cpp_stops_when_nobody_listens(llama: str) -> None:
    slow = OpenAI("m", base_url=llama, max_tokens=1500).stream(Prompt("Count to a thousand.", ()))
    next(slow)
    slow.close()
    start = time.monotonic()
    assert next(OpenAI("m", base_url=llama, max_tokens=4).stream(PROMPT))
    assert time.monotonic() - start < 20
