"""OpenAI's own client asks the library as it asks a model, and gets proof with the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from carrel import Library
from carrel.http import chats
from carrel.testing import Script
from carrel.types.service import Scope
from tests.http.asking import QUESTION, TRUE, Halting
from tests.http.conftest import Serve
from tests.http.serving import running, wait_until
from tests.saved_answers import GRANITE, opened, put_records, record


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with opened(tmp_path_factory.mktemp("lib"), **{"answer.threshold": 0.0}) as library, running(library) as server:
        yield server.url


def client(url: str, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=30)


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def assistant(text: str) -> Any:
    return {"role": "assistant", "content": text}


def test_the_library_is_a_model_among_models(url: str) -> None:
    with client(url) as asking:
        assert [model.id for model in asking.models.list()] == ["carrel"]
        assert asking.models.retrieve("carrel").owned_by == "carrel"
        with pytest.raises(openai.NotFoundError, match="there is no model 'gpt-5'"):
            asking.models.retrieve("gpt-5")


def test_a_completion_has_the_answer_its_sources_and_the_proof(url: str) -> None:
    with client(url) as asking:
        told = asking.chat.completions.create(model="carrel", messages=[user(QUESTION)], temperature=0.7)
    (choice,) = told.choices
    assert (choice.finish_reason, choice.message.role) == ("stop", "assistant")
    answer, _, sources = (choice.message.content or "").partition("\n\nSources\n\n")
    assert answer == f"{GRANITE} [1] [2]"
    assert sources.splitlines()[0] == f"- [1] On granite (2020): “{GRANITE}”"
    assert told.model_extra is not None
    first = told.model_extra["citations"][0]
    assert (first["id"], first["quote"], first["address"]) == (1, GRANITE, "granite/abstract")
    assert told.id == f"chatcmpl-{told.model_extra['carrel']['queryId']}"
    annotation = (choice.message.annotations or [])[0].url_citation
    assert (choice.message.content or "")[annotation.start_index : annotation.end_index] == "[1]"
    assert annotation.url == "https://doi.org/10.1000/xyz"
    assert told.usage is not None
    assert told.usage.total_tokens == told.usage.prompt_tokens + told.usage.completion_tokens > 0


def test_a_stream_says_the_same_piece_by_piece(url: str) -> None:
    with client(url) as asking:
        whole = asking.chat.completions.create(model="carrel", messages=[user(QUESTION)])
        options: Any = {"include_usage": True}
        chunks = list(
            asking.chat.completions.create(
                model="carrel", messages=[user(QUESTION)], stream=True, stream_options=options
            )
        )
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert said.replace("\n\n\n", "\n\n") == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    *_, last, usage = chunks
    assert last.choices[0].finish_reason == "stop"
    assert last.model_extra is not None
    assert [one["id"] for one in last.model_extra["citations"]] == [1, 2]
    assert (usage.choices, usage.usage) == ([], whole.usage)
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_follow_up_is_made_whole_from_the_messages_before_it(tmp_path: Path, served: Serve) -> None:
    with opened(tmp_path, TRUE, **{"answer.threshold": 0.0}) as library:
        earlier = [user("How hard is granite?"), assistant("Granite is hard. [1]\n\nSources\n\n- [1] On basalt")]
        system: Any = {"role": "system", "content": "Be brief."}
        parts: Any = {"role": "user", "content": [{"type": "text", "text": "Why is it so?"}, {"type": "image_url"}]}
        with client(served(library)) as asking:
            asking.chat.completions.create(model="carrel", messages=[system, *earlier, parts])
        generator = library.generator
        assert isinstance(generator, Script)
        assert generator.prompts[0].question == "Why is it so? (hard granite)"


def test_the_sources_of_an_earlier_answer_are_not_what_it_said() -> None:
    messages = [user("a"), assistant("b\n\nSources\n\n- c"), assistant("d"), user("e"), user("f"), assistant("g")]
    asked = chats.Request.model_validate({"model": "carrel", "messages": [*messages, user("h")]})
    assert [(turn.question, turn.answer) for turn in asked.earlier] == [("a", "b"), ("f", "g")]
    assert asked.question == "h"


@pytest.mark.parametrize(
    ("wishes", "kind", "said"),
    [
        ({"model": "gpt-5"}, openai.NotFoundError, "It is called 'carrel'"),
        ({"messages": []}, openai.BadRequestError, "messages"),
        ({"messages": [user(" ")]}, openai.BadRequestError, "Query cannot be empty"),
        ({"messages": [user("x" * 2001)]}, openai.BadRequestError, "Query exceeds maximum length"),
        ({"messages": [assistant("x")]}, openai.BadRequestError, "messages must have one of the user's"),
        ({"messages": [{"role": "owner", "content": "x"}]}, openai.BadRequestError, "messages.0.role"),
        ({"n": 2}, openai.BadRequestError, "n"),
    ],
)
def test_errors_come_in_the_form_that_openais_clients_read(
    url: str, wishes: dict[str, Any], kind: type[openai.APIStatusError], said: str
) -> None:
    with client(url) as asking, pytest.raises(kind, match=said) as caught:
        asking.chat.completions.create(**{"model": "carrel", "messages": [user(QUESTION)], **wishes})
    body = caught.value.body
    assert isinstance(body, dict)
    assert set(body) == {"message", "type", "param", "code"}


def test_half_a_character_is_the_clients_fault(url: str) -> None:
    body = b'{"model": "carrel", "messages": [{"role": "user", "content": "\\ud800"}]}'
    refused = httpx2.post(f"{url}/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "VALIDATION_ERROR")


def test_what_breaks_in_mid_stream_is_raised_by_the_client(tmp_path: Path) -> None:
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = Halting(TRUE)
        with running(library, query_seconds=1.5) as server, client(server.url) as asking:
            chunks = asking.chat.completions.create(model="carrel", messages=[user(QUESTION)], stream=True)
            assert next(chunks).choices[0].delta.content == "Granite is hard. [1]\n"
            with pytest.raises(openai.APIError, match=r"not answered within 1\.5 s"):
                list(chunks)


def test_signs_of_life_are_nothing_to_the_client_and_its_leaving_stops_the_work(tmp_path: Path) -> None:
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        with running(library, heartbeat_seconds=0.05) as server, client(server.url) as asking:
            chunks = asking.chat.completions.create(model="carrel", messages=[user(QUESTION)], stream=True)
            next(chunks)
            chunks.close()
            assert generator.closed.wait(20)
            wait_until(lambda: server.service.gate.active == 0)


def test_a_key_is_a_token_where_tokens_are_asked_for(library: Library, served: Serve) -> None:
    _, secret = library.create_token("ada", Scope.READ)
    url = served(library, require_token=True)
    with client(url, secret) as asking:
        assert asking.chat.completions.create(model="carrel", messages=[user(QUESTION)]).choices
    with client(url, "wrong") as asking, pytest.raises(openai.AuthenticationError):
        asking.chat.completions.create(model="carrel", messages=[user(QUESTION)])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p < 0.05 and [1] holds", "p < 0.05 and [1] holds"),
        ("![x](https://evil.example/?q=1)", "\\![x]\\(https://evil.example/?q=1)"),
        ("[x](javascript:alert(1))", "[x]\\(javascript:alert(1))"),
        ("[x]: https://evil.example", "[x]\\: https://evil.example"),
        ("<img src=x> </p> <!-- -->", "\\<img src=x> \\</p> \\<!-- -->"),
    ],
)
def test_nothing_that_a_paper_says_makes_a_front_end_fetch_it(text: str, shown: str) -> None:
    assert chats.inert(text) == shown


def test_the_markup_of_papers_stays_text_in_answers_and_sources(tmp_path: Path, served: Serve) -> None:
    hostile = "Granite is hard, as ![this](https://evil.example/a.png) shows, and <img src=x> too, say geologists."
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        put_records(library, record("granite", hostile, title="![t](https://evil.example)"))
        request = {"model": "carrel", "messages": [user("How hard is granite?")]}
        got = httpx2.post(f"{served(library)}/v1/chat/completions", json=request).json()
    content = got["choices"][0]["message"]["content"]
    assert "evil.example" in content
    assert not [mark for mark in ("![t](", "![this](", "](https", "<img") if mark in content.replace("\\<", "")]
    assert json.loads(json.dumps(got))["citations"][0]["quote"] in hostile
