"""Models behind any server that speaks OpenAI's `/v1/embeddings`: vLLM, TEI, llama.cpp, LM Studio, OpenAI itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from carrel.embedders.http import ServedEmbedder
from carrel.errors import InvalidInput, ModelNotInstalled
from carrel.servers import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence


class OpenAI(ServedEmbedder):
    """A model by the name that its server gives it. There is no default server: text goes where it was told to go."""

    kind = "openai"

    def request(self, texts: Sequence[str]) -> Any:  # noqa: ANN401
        url = self.client.base_url
        if not url:
            raise InvalidInput(
                f"the embedder {self.name!r} has no server",
                hint="Set models.base_url to its address, such as http://127.0.0.1:8000/v1.",
            )
        question: dict[str, object] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.dimensions:
            question["dimensions"] = self.dimensions
        try:
            answer = self.client.post("/embeddings" if urlsplit(url).path.strip("/") else "/v1/embeddings", question)
        except Refused as refusal:
            # A missing model and a wrong path both come as 404; only the words tell them apart.
            if refusal.status == 404 and "model" in refusal.words.lower():
                raise self._missing(refusal.words) from refusal
            raise
        return self._in_order(answer, len(texts))

    def _in_order(self, answer: Any, count: int) -> list[Any]:  # noqa: ANN401
        """By the index each vector carries: servers that batch may answer in another order than asked."""
        try:
            vectors = {item["index"]: item["embedding"] for item in answer["data"]}
        except (TypeError, KeyError) as error:
            raise self.client.wrong("did not answer as OpenAI does") from error
        if set(vectors) != set(range(count)) or len(answer["data"]) != count:
            raise self.client.wrong(f"sent {len(answer['data'])} vectors for {count} texts")
        return [vectors[index] for index in range(count)]

    def _missing(self, words: str) -> ModelNotInstalled:
        return ModelNotInstalled(
            f"the server {self.client.base_url!r} has no model {self.model!r}: {words}",
            hint="Start the server with it, or name another: 'carrel config set embedder openai:MODEL'.",
        )
