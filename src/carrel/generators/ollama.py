"""Models that run in Ollama: `ollama:llama3.2`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.errors import ModelNotInstalled, ModelServerUnavailable
from carrel.generators.http import ServedGenerator
from carrel.servers import Refused, Unreachable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from carrel.generators.prompting import Message
    from carrel.servers import Call

NOT_RUNNING = "Ollama is not running. Start it with 'ollama serve' or install from ollama.ai"
_LATEST = ":latest"


class Ollama(ServedGenerator):
    """A model that was pulled into Ollama."""

    kind = "ollama"
    default_url = "http://127.0.0.1:11434"
    path = "/api/chat"

    def request(self, messages: list[Message]) -> dict[str, Any]:
        options = {"num_ctx": self.context, "num_predict": self.max_tokens, "temperature": self.temperature}
        # Told not to, it refuses a prompt that is too long instead of reading only its end.
        return {"model": self.model, "messages": messages, "stream": True, "truncate": False, "options": options}

    def heard(self, event: Mapping[str, Any]) -> tuple[str, bool]:
        message, last = event.get("message"), event.get("done") is True
        if not isinstance(message, dict) and not last:
            raise self.client.wrong("did not answer as Ollama does")
        if event.get("done_reason") == "length":
            self.cut_off()
        return str((message or {}).get("content") or ""), last

    def check(self) -> str:
        try:
            listed = self.look("/api/tags")
            names = {str(entry["name"]).removesuffix(_LATEST) for entry in listed["models"]}
        except Unreachable as error:
            raise ModelServerUnavailable(NOT_RUNNING) from error
        except (TypeError, KeyError) as error:
            raise self.client.wrong("does not list its models as Ollama does") from error
        if self.model.removesuffix(_LATEST) not in names:
            raise self._missing()
        return f"{self.name}, Ollama at {self.client.base_url} has it"

    def pieces(self, call: Call, messages: list[Message]) -> Generator[str]:
        try:
            yield from super().pieces(call, messages)
        except Unreachable as error:
            raise ModelServerUnavailable(NOT_RUNNING) from error
        except Refused as refusal:
            if refusal.status == 404:
                raise self._missing() from refusal
            raise

    def _missing(self) -> ModelNotInstalled:
        return ModelNotInstalled(f"Model {self.model!r} not found. Run 'ollama pull {self.model}' first")
