"""What the generators share whose models run behind a server."""

from __future__ import annotations

import json
import logging
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from carrel.generators.prompting import INSTRUCTIONS_TOKENS, messages
from carrel.generators.speech import DEFAULT_CONTEXT, Speech, aloud, room
from carrel.servers import Call, Client, Dropped, printable, said, typed, whole
from carrel.telemetry import log

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from carrel.errors import CarrelError
    from carrel.generators.prompting import Message
    from carrel.types import Prompt

CHECK_SECONDS = 10.0
_FIELDS = (b":", b"event:", b"id:", b"retry:")
"""Lines of a stream of events that are not its data."""


class ServedGenerator:
    """A model behind a server, whose answer is heard as it grows. Nothing is asked of the server before that."""

    kind: ClassVar[str]
    default_url: ClassVar[str] = ""

    def __init__(
        self,
        argument: str,
        *,
        base_url: str = "",
        api_key: str = "",
        timeout: float = 60.0,
        seconds: float = 120.0,
        max_tokens: int = 512,
        temperature: float = 0.0,
        context_tokens: int = 0,
    ) -> None:
        self.model = argument
        self.name = f"{self.kind}:{argument}"
        self.max_tokens = max_tokens
        self.temperature = temperature
        self.context = context_tokens or DEFAULT_CONTEXT
        self.context_tokens = room(self.context, max_tokens, INSTRUCTIONS_TOKENS)
        self.client = self.made_client(base_url or self.default_url, timeout, api_key)
        self._seconds = seconds

    def stream(self, prompt: Prompt) -> Speech:
        written: list[Message] = [{**one, "content": whole(one["content"])} for one in messages(prompt)]
        call = Call(self.client, self.path, seconds=self._seconds)
        return Speech(self._spoken(call, written), call.hang_up)

    def check(self) -> str:
        """Whether the server is there and has the model, found out without sending it any text."""
        raise NotImplementedError

    def look(self, path: str) -> Any:  # noqa: ANN401
        """What the server says of itself."""
        return replace(self.client, timeout=min(self.client.timeout, CHECK_SECONDS)).get(path)

    @property
    def path(self) -> str:
        raise NotImplementedError

    def request(self, messages: list[Message]) -> dict[str, Any]:
        """What the server is sent."""
        raise NotImplementedError

    def heard(self, event: Mapping[str, Any]) -> tuple[str, bool]:
        """What one line of the answer adds to it, and whether it is the last that does."""
        raise NotImplementedError

    def made_client(self, url: str, timeout: float, api_key: str) -> Client:
        return Client(url, timeout, api_key, section="generation", named_in="generation.base_url")

    def pieces(self, call: Call, messages: list[Message]) -> Generator[str]:
        with closing(call.lines(self.request(messages))) as lines:
            for data in filter(None, map(_data, lines)):
                piece, last = ("", True) if data == b"[DONE]" else self.heard(self._event(data))
                yield piece
                if last:
                    return
        raise Dropped(
            f"the model server {self.client.base_url!r} hung up in the middle of its answer", hint="Look at its log."
        )

    def _spoken(self, call: Call, messages: list[Message]) -> Generator[str]:
        with closing(self.pieces(call, messages)) as pieces:
            yield from filter(None, aloud(pieces))

    def _event(self, data: bytes) -> Mapping[str, Any]:
        event = self.client.parsed(data)
        if not isinstance(event, dict):
            raise self.client.wrong(f"sent no object but {printable(str(event)[:60])!r}")
        if event.get("error"):
            raise self.failed(event["error"])
        return event

    def failed(self, error: object) -> CarrelError:
        """What a server says is wrong after it has begun to answer."""
        code = error.get("code") if isinstance(error, dict) else None
        failure = self.client.refused(code if isinstance(code, int) else 500, said(json.dumps(error).encode()))
        return typed(failure)

    def cut_off(self) -> None:
        log("generators", logging.WARNING, "answer cut off", generator=self.name, max_tokens=self.max_tokens)


def _data(line: bytes) -> bytes:
    """What a line carries, be it of a stream of events or of plain objects."""
    return b"" if line.startswith(_FIELDS) else line.removeprefix(b"data:").strip()
