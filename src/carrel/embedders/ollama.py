"""Models that run in Ollama: `ollama:nomic-embed-text`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.embedders.http import ServedEmbedder
from carrel.errors import ModelNotInstalled, ModelServerUnavailable
from carrel.servers import Refused, Unreachable

if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_RUNNING = "Ollama is not running. Start it with 'ollama serve' or install from ollama.ai"


class Ollama(ServedEmbedder):
    """A model that was pulled into Ollama.

    Ollama has no endpoint that counts tokens; see `ServedEmbedder` for how they are estimated.
    """

    kind = "ollama"
    default_url = "http://127.0.0.1:11434"
    default_tag = ":latest"
    _found = False
    _batches = True
    """Whether this Ollama has `/api/embed`, which takes many texts at once. Those before 0.3 have not."""

    def request(self, texts: Sequence[str]) -> Any:  # noqa: ANN401
        try:
            self._found = self._found or self._find_model()
            return self._request_together(texts) if self._batches else self._request_each(texts)
        except Unreachable as error:
            raise ModelServerUnavailable(NOT_RUNNING) from error

    def _find_model(self) -> bool:
        listed = self.client.get("/api/tags")
        try:
            names = {str(entry["name"]).removesuffix(self.default_tag) for entry in listed["models"]}
        except (TypeError, KeyError) as error:
            raise self.client.wrong("does not list its models as Ollama does") from error
        if self.model not in names:
            raise self._missing()
        return True

    def _request_together(self, texts: Sequence[str]) -> Any:  # noqa: ANN401
        # Told not to truncate, it refuses a text that is too long, which is then halved instead.
        question = {"model": self.model, "input": list(texts), "truncate": False}
        try:
            answer = self.client.post("/api/embed", question | self._shorter())
        except Refused as refusal:
            if refusal.status != 404:
                raise
            self._batches = False
            return self._request_each(texts)
        return self._field(answer, "embeddings")

    def _request_each(self, texts: Sequence[str]) -> list[Any]:
        try:
            answers = [self.client.post("/api/embeddings", {"model": self.model, "prompt": text}) for text in texts]
        except Refused as refusal:
            if refusal.status == 404:
                raise self._missing() from refusal
            raise
        return [self._field(answer, "embedding") for answer in answers]

    def _shorter(self) -> dict[str, int]:
        return {"dimensions": self.dimensions} if self.dimensions else {}

    def _field(self, answer: Any, key: str) -> Any:  # noqa: ANN401
        if not isinstance(answer, dict) or key not in answer:
            raise self.client.wrong(f"sent an answer without {key!r}")
        return answer[key]

    def _missing(self) -> ModelNotInstalled:
        return ModelNotInstalled(f"Model {self.model!r} not found. Run 'ollama pull {self.model}' first")
