"""Rerankers behind a server: `http:http://127.0.0.1:8000`, whatever has an endpoint `/rerank`.

It is asked as Jina, Cohere, vLLM and llama.cpp are, or, if it wants that, as Text Embeddings Inference is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from carrel.errors import ModelNotInstalled
from carrel.rerankers.models import Deadline, probability
from carrel.servers import Client, Refused, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Candidate

BATCH = 32
"""Passages in one request: what Text Embeddings Inference takes, unless it was told to take more."""


class Http:
    """A text that the server finds too long is halved until it fits, and is as good as the better half."""

    costly = True
    _speaks_tei = False

    def __init__(self, argument: str, *, model: str = "", api_key: str = "", timeout: float = 30.0) -> None:
        self.client = Client(argument, timeout, api_key, section="rerank", named_in="reranker")
        self.timeout = timeout
        self.model = model
        self.name = f"http:{model or argument}"

    def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        # A dot in place of nothing, which servers refuse.
        texts = [whole(candidate.chunk.embedded_text).strip() or "." for candidate in candidates]
        deadline = Deadline(self.timeout)
        batches = (texts[at : at + BATCH] for at in range(0, len(texts), BATCH))
        scores = [score for batch in batches for score in self._scores(whole(query), batch, deadline)]
        # Some servers send probabilities and some logits; none says which.
        return scores if all(0 <= score <= 1 for score in scores) else [probability(score) for score in scores]

    def _scores(self, query: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        deadline.check(self.name)
        try:
            return self._in_order(self._ask(query, texts), len(texts))
        except Refused as refusal:
            if not refusal.too_long or max(map(len, texts)) < 2:
                raise
        if len(texts) > 1:
            return [self._scores(query, [text], deadline)[0] for text in texts]
        middle = len(texts[0]) // 2
        return [max(self._scores(query, [half], deadline)[0] for half in (texts[0][:middle], texts[0][middle:]))]

    def _ask(self, query: str, texts: Sequence[str]) -> Any:  # noqa: ANN401
        if self._speaks_tei:
            return self._ask_tei(query, texts)
        named = {"model": self.model} if self.model else {}
        try:
            return self._post({**named, "query": query, "documents": list(texts), "top_n": len(texts)})
        except Refused as refusal:
            if refusal.status == 404 and "model" in refusal.words.lower():
                raise self._missing(refusal.words) from refusal
            if refusal.status not in {400, 422} or "texts" not in refusal.words:
                raise
        answer = self._ask_tei(query, texts)
        self._speaks_tei = True
        return answer

    def _ask_tei(self, query: str, texts: Sequence[str]) -> Any:  # noqa: ANN401
        return self._post({"query": query, "texts": list(texts), "raw_scores": False, "truncate": False})

    def _post(self, question: dict[str, object]) -> Any:  # noqa: ANN401
        given = urlsplit(self.client.base_url).path.rstrip("/")
        return self.client.post("" if given.endswith("/rerank") else "/rerank", question)

    def _in_order(self, answer: Any, count: int) -> list[float]:  # noqa: ANN401
        """By the index each score carries: servers send the best first."""
        try:
            results: list[Any] = answer["results"] if isinstance(answer, dict) else answer
            found = {_index(result): _score(result) for result in results}
        except (TypeError, KeyError, ValueError, OverflowError) as error:
            raise self.client.wrong("did not answer as a reranker does") from error
        if len(results) != count or found.keys() != set(range(count)):
            raise self.client.wrong(f"sent {len(results)} scores, not one for each of {count} passages")
        return [found[index] for index in range(count)]

    def _missing(self, words: str) -> ModelNotInstalled:
        return ModelNotInstalled(
            f"the server {self.client.base_url!r} has no model {self.model!r}: {words}",
            hint="Start the server with it, or set rerank.model to the name that the server gives it.",
        )


def _index(result: Any) -> int:  # noqa: ANN401
    index = result["index"]
    if type(index) is not int:
        raise TypeError
    return index


def _score(result: Any) -> float:  # noqa: ANN401
    score = result["relevance_score"] if "relevance_score" in result else result["score"]
    if type(score) not in {int, float} or not math.isfinite(score):
        raise ValueError
    return float(score)
