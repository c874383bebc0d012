"""Claude, by Anthropic's Messages API: `anthropic:claude-sonnet-4-5`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from carrel.errors import InvalidInput, ModelNotInstalled
from carrel.generators.http import ServedGenerator
from carrel.servers import Client, Refused, typed
from carrel.settings.sections import ANTHROPIC

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from carrel.errors import CarrelError
    from carrel.generators.prompting import Message
    from carrel.generators.speech import Speech
    from carrel.servers import Call
    from carrel.types import Prompt

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


class Anthropic(ServedGenerator):
    kind = "anthropic"
    default_url = ANTHROPIC

    @property
    def path(self) -> str:
        return f"{self._version}/messages"

    @property
    def _version(self) -> str:
        return "" if urlsplit(self.client.base_url).path.strip("/") else "/v1"

    def made_client(self, url: str, timeout: float, api_key: str) -> Client:
        self._has_key = bool(api_key)
        return Client(
            url,
            timeout,
            section="generation",
            named_in="generation.base_url",
            headers={"anthropic-version": "2023-06-01", "x-api-key": api_key.strip()},
        )

    def stream(self, prompt: Prompt) -> Speech:
        self._check_key()
        return super().stream(prompt)

    def request(self, messages: list[Message]) -> dict[str, Any]:
        system, *others = messages
        return {
            "model": self.model,
            "system": system["content"],
            "messages": others,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stream": True,
        }

    def heard(self, event: Mapping[str, Any]) -> tuple[str, bool]:
        kind, delta = event.get("type"), event.get("delta")
        if not isinstance(kind, str) or (kind.endswith("_delta") and not isinstance(delta, dict)):
            raise self.client.wrong("did not answer as Anthropic does")
        delta = delta if isinstance(delta, dict) else {}
        if delta.get("stop_reason") == "max_tokens":
            self.cut_off()
        # Thoughts and calls of tools come as other kinds of delta.
        return str(delta.get("text") or "") if delta.get("type") == "text_delta" else "", kind == "message_stop"

    def failed(self, error: object) -> CarrelError:
        kind = error.get("type") if isinstance(error, dict) else None
        words = error.get("message") if isinstance(error, dict) else error
        return typed(self.client.refused(_STATUSES.get(str(kind), 500), str(words)))

    def check(self) -> str:
        self._check_key()
        try:
            self.look(f"{self._version}/models/{quote(self.model, safe='')}")
        except Refused as refusal:
            raise self._explained(refusal) from refusal
        return f"{self.name}, {self.client.base_url} has it"

    def pieces(self, call: Call, messages: list[Message]) -> Generator[str]:
        try:
            yield from super().pieces(call, messages)
        except Refused as refusal:
            raise self._explained(refusal) from refusal.__cause__

    def _explained(self, refusal: Refused) -> CarrelError:
        if refusal.status != 404 or "model" not in refusal.words.lower():
            return refusal
        return ModelNotInstalled(
            f"{self.client.base_url!r} has no model {self.model!r}: {refusal.words}",
            hint="Name another: CARREL_GENERATOR=anthropic:MODEL.",
        )

    def _check_key(self) -> None:
        if not self._has_key:
            raise InvalidInput(
                f"the generator {self.name!r} has no key",
                hint="Set ANTHROPIC_API_KEY or CARREL_GENERATION__API_KEY, or keep it in the system's keyring.",
            )
