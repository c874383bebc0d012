"""The form of OpenAI's chat completions, for front ends that speak it. The library is a model to them."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, model_validator

from carrel.catalogs.conversations import Turn
from carrel.http import answers, problems
from carrel.http.passages import YesNo
from carrel.http.shapes import check_text, fault
from carrel.search import LONGEST_QUERY
from carrel.types import CitationEvent, DoneEvent, TokenEvent
from carrel.types.service import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.http.questions import Question
    from carrel.types import Answer, Citation, Event

MODEL = "carrel"
_SOURCES = "\n\nSources\n\n"
_MARKUP = re.compile(r"!(?=\[)|(?<=\])[(:]|<(?=[A-Za-z/!?])")
"""What would make a front end fetch or link something that a paper names."""
_LETTERS_PER_TOKEN = 4


class Part(BaseModel):
    """A piece of a message; those that are no text are passed over."""

    type: str = Field(examples=["text"])
    text: str | None = None


class Message(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


class StreamOptions(BaseModel):
    include_usage: YesNo = False


class Request(BaseModel):
    """What OpenAI's clients send. What has no meaning here, as `temperature`, is passed over."""

    model: str = Field(examples=[MODEL], max_length=200)
    messages: list[Message] = Field(
        min_length=1,
        max_length=1000,
        description="The last of the user's is the question; those before it make a follow-up whole.",
        examples=[[{"role": "user", "content": "What does dense retrieval compare?"}]],
    )
    stream: YesNo | None = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = Field(default=None, description="There is one answer.")

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, given: Any) -> Any:  # noqa: ANN401
        check_text(given)
        return given

    @model_validator(mode="after")
    def _asks(self) -> Request:
        if all(message.role != "user" for message in self.messages):
            raise fault("messages must have one of the user's")
        answers.checked(self.question)
        return self

    @property
    def question(self) -> str:
        return next(message.text for message in reversed(self.messages) if message.role == "user")

    @property
    def earlier(self) -> list[Turn]:
        """What was asked and answered before."""
        turns, asked = list[Turn](), ""
        for message in self.messages:
            if message.role == "user":
                asked = message.text[:LONGEST_QUERY]
            elif message.role == "assistant" and asked:
                turns.append(Turn(asked, asked, message.text.partition(_SOURCES)[0]))
                asked = ""
        return turns

    @property
    def wants_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


def content(answer: Answer) -> str:
    """The answer with its sources behind it: most front ends show nothing else."""
    return inert(answer.answer) + sources(answer.citations)


def sources(citations: Sequence[Citation]) -> str:
    return _SOURCES + "\n".join(map(_source, citations)) if citations else ""


def _source(citation: Citation) -> str:
    chunk = citation.chunk
    year = f" ({chunk.year})" if chunk.year else ""
    page = f", page {citation.page}" if citation.page else ""
    quoted = inert(" ".join(citation.quote.split()))
    return f"- [{citation.id}] {inert(chunk.title)}{year}{page}: “{quoted}”"


def inert(text: str) -> str:
    """Text whose markup fetches nothing and leads nowhere."""
    return _MARKUP.sub(r"\\\g<0>", text)


def completion(question: Question, answer: Answer) -> dict[str, Any]:
    said = content(answer)
    message = {"role": "assistant", "content": said, "refusal": None, "annotations": _annotations(said, answer)}
    return {
        **_head(question, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": _usage(question, answer),
        **_proof(answer),
    }


def _head(question: Question, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{question.query_id}", "object": kind, "created": int(time.time()), "model": MODEL}


def _proof(answer: Answer) -> dict[str, Any]:
    """What OpenAI's form has no place for."""
    shown = (answers.Citation.of(one).model_dump(mode="json", by_alias=True) for one in answer.citations)
    told = {
        "queryId": answer.query_id,
        "confidence": answer.confidence.value,
        "hasInsufficientEvidence": answer.has_insufficient_evidence,
    }
    return {"citations": list(shown), "carrel": told}


def _annotations(said: str, answer: Answer) -> list[dict[str, Any]]:
    """Where in the text a source with an address in the web is cited first."""
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": said.find(mark),
                "end_index": said.find(mark) + len(mark),
                "title": one.chunk.title,
                "url": one.standing.url,
            },
        }
        for one in answer.citations
        if one.standing.url and (mark := f"[{one.id}]") in said
    ]


def _usage(question: Question, answer: Answer) -> dict[str, int]:
    """Estimates, as no model may have been asked."""
    read = answer.context_tokens + len(question.text) // _LETTERS_PER_TOKEN
    written = len(answer.answer) // _LETTERS_PER_TOKEN
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


class Chunks:
    """The script of a streamed completion."""

    def __init__(self, question: Question, request_id: str, *, with_usage: bool) -> None:
        self._question = question
        self._request_id = request_id
        self._with_usage = with_usage
        self._citations: list[Citation] = []
        self._said = ""

    def told(self, event: Event) -> Iterator[bytes]:
        match event:
            case CitationEvent():
                self._citations.append(event.citation)
            case TokenEvent():
                yield self._delta({} if self._said else {"role": "assistant"}, inert(event.text))
            case DoneEvent():
                yield from self._end(event.answer)

    def ended(self) -> Iterator[bytes]:
        yield b"data: [DONE]\n\n"

    def failed(self, error: Exception) -> Iterator[bytes]:
        told = problems.told(error, self._request_id, local=self._question.user == LOCAL.name)
        yield _data(problems.as_openai(told.http_status, problems.body(told)))

    def left(self) -> None:
        pass

    def _end(self, answer: Answer) -> Iterator[bytes]:
        if listed := sources(self._citations):
            yield self._delta({}, listed)
        delta = {"annotations": _annotations(self._said, answer)}
        yield self._chunk([{"index": 0, "delta": delta, "finish_reason": "stop"}], **_proof(answer))
        if self._with_usage:
            yield self._chunk([], usage=_usage(self._question, answer))

    def _delta(self, delta: dict[str, Any], text: str) -> bytes:
        self._said += text
        return self._chunk([{"index": 0, "delta": {**delta, "content": text}, "finish_reason": None}])

    def _chunk(self, choices: list[dict[str, Any]], **more: Any) -> bytes:  # noqa: ANN401
        return _data({**_head(self._question, "chat.completion.chunk"), "choices": choices, **more})


def _data(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()
