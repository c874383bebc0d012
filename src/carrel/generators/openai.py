"""Models behind any server that speaks OpenAI's `/v1/chat/completions`: vLLM, llama.cpp, LM Studio, OpenAI itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from carrel.errors import InvalidInput, ModelNotInstalled
from carrel.generators.http import ServedGenerator
from carrel.servers import Refused

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from carrel.generators.prompting import Message
    from carrel.generators.speech import Speech
    from carrel.servers import Call
    from carrel.types import Prompt


class OpenAI(ServedGenerator):
    """A model by the name that its server gives it. There is no default server: text goes where it was told to go."""

    kind = "openai"
    _modern = False
    """Whether it takes only what OpenAI's newer models take."""

    @property
    def path(self) -> str:
        return f"{self._version}/chat/completions"

    @property
    def _version(self) -> str:
        return "" if urlsplit(self.client.base_url).path.strip("/") else "/v1"

    def stream(self, prompt: Prompt) -> Speech:
        self._check_address()
        return super().stream(prompt)

    def request(self, messages: list[Message]) -> dict[str, Any]:
        asked: dict[str, Any] = {"model": self.model, "messages": messages, "stream": True}
        if self._modern:
            return asked | {"max_completion_tokens": self.max_tokens}
        return asked | {"max_tokens": self.max_tokens, "temperature": self.temperature}

    def heard(self, event: Mapping[str, Any]) -> tuple[str, bool]:
        try:
            choice = event["choices"][0] if event["choices"] else {}
            # A server that does not stream sends a whole message.
            said, ending = choice.get("delta") or choice.get("message") or {}, choice.get("finish_reason")
            piece = str(said.get("content") or "")
        except (TypeError, KeyError, AttributeError) as error:
            raise self.client.wrong("did not answer as OpenAI does") from error
        if ending == "length":
            self.cut_off()
        return piece, bool(ending)

    def check(self) -> str:
        self._check_address()
        try:
            listed = self.look(f"{self._version}/models")
        except Refused as refusal:
            if refusal.status != 404:
                raise
            return f"{self.name}, {self.client.base_url} answers, but does not list its models"
        try:
            models = {str(entry["id"]): entry.get("owned_by") for entry in listed["data"]}
        except (TypeError, KeyError, AttributeError) as error:
            raise self.client.wrong("does not list its models as OpenAI does") from error
        # llama.cpp has one model and takes any name for it.
        if self.model not in models and "llamacpp" not in models.values():
            raise self._missing(f"it has {', '.join(sorted(models)[:5]) or 'none'}")
        return f"{self.name}, {self.client.base_url} has it"

    def pieces(self, call: Call, messages: list[Message]) -> Generator[str]:
        try:
            yield from super().pieces(call, messages)
            return
        except Refused as refusal:
            # A missing model and a wrong path both come as 404; only the words tell them apart.
            if refusal.status == 404 and "model" in refusal.words.lower():
                raise self._missing(refusal.words) from refusal
            if self._modern or not _wants_less(refusal):
                raise
        self._modern = True
        yield from super().pieces(call, messages)

    def _check_address(self) -> None:
        if not self.client.base_url:
            raise InvalidInput(
                f"the generator {self.name!r} has no server",
                hint="Set generation.base_url: http://127.0.0.1:8000/v1 for a server of your own, "
                "https://api.openai.com/v1 for OpenAI.",
            )

    def _missing(self, words: str) -> ModelNotInstalled:
        return ModelNotInstalled(
            f"the server {self.client.base_url!r} has no model {self.model!r}: {words}",
            hint="Start the server with it, or name another: 'carrel config set generator openai:MODEL'.",
        )


def _wants_less(refusal: Refused) -> bool:
    """Whether it is for the settings that OpenAI's newer models do without."""
    return refusal.status == 400 and ("max_completion_tokens" in refusal.words or "temperature" in refusal.words)
