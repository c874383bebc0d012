"""Triples by a generator that is asked for them, chunk by chunk, and believed only where the chunk says the same.

{folder}/{model}/{hash[:2]}/{hash}.json    what it answered of one text; the hash is of the question and the text

What was answered once is not asked again, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from carrel.concepts.triples import replies
from carrel.concepts.triples.checks import best, validate_content
from carrel.concepts.triples.rules import extract, is_read
from carrel.files import write_atomically, writing
from carrel.types import Excerpt, Prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from carrel.generators import Generator
    from carrel.types import Chunk, Triple

LONGEST_REPLY = 50_000
"""Characters; who has not come to an end by then will not."""
MOST_FAILURES = 3
"""In a row. After that the generator is taken to be gone, and no more time is spent on waiting for it."""
_CHARACTERS_A_TOKEN = 3
_LONGEST_NAME = 120
_BAD = (OSError, ValueError, KeyError, TypeError, RecursionError)
"""What reading an answer that is none may raise."""


class Asked:
    """Extracts triples as `extract` does. Where the generator cannot be asked, or fails, the rules' are used."""

    def __init__(self, generator: Generator, folder: Path, budget: int) -> None:
        self._generator = generator
        self._folder = folder / (quote(generator.name, safe="")[:_LONGEST_NAME] or "_")
        self._left = budget
        self._failures = 0
        self._counts: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._failed: dict[str, None] = {}

    def extract(self, chunk: Chunk, known: Mapping[str, str]) -> list[Triple]:
        if not is_read(chunk):
            return []
        said = self._answer(chunk)
        return extract(chunk, known) if said is None else best(self._believed(said, chunk, known))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the reader should know of how it went."""
        name, counts = self._generator.name, self._counts
        made: list[str] = []
        if counts["asked"] or counts["remembered"]:
            made.append(f"{name} was asked for triples of {counts['asked']} chunks; {counts['remembered']} were known")
        if self._dropped:
            reasons = ", ".join(f"{reason} ({count})" for reason, count in self._dropped.most_common())
            made.append(f"{self._dropped.total()} of {name}'s triples were dropped: {reasons}")
        if counts["budget"]:
            made.append(f"{counts['budget']} chunks are beyond concepts.max_asked: the rules' triples are used")
        if counts["long"]:
            made.append(f"{counts['long']} chunks are too long for {name}: the rules' triples are used")
        if counts["failed"]:
            reasons = "; ".join(self._failed)
            made.append(f"{name} failed for {counts['failed']} chunks ({reasons}): the rules' triples are used")
        return tuple(made)

    def _answer(self, chunk: Chunk) -> list[dict[str, Any]] | None:
        """What the generator says of a chunk, now or when it was asked before; None when it says nothing of use."""
        path = self._path(chunk)
        if (known := _remembered(path)) is not None:
            self._counts["remembered"] += 1
            return known
        if (obstacle := self._obstacle(chunk)) is not None:
            self._counts[obstacle] += 1
            return None
        said = self._ask(chunk)
        if said is not None:
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            content = json.dumps({"version": replies.VERSION, "triples": said}, ensure_ascii=True)
            write_atomically(path, content.encode(), durable=False)
        return said

    def _obstacle(self, chunk: Chunk) -> str | None:
        room = self._generator.context_tokens * _CHARACTERS_A_TOKEN - 2 * len(replies.QUESTION)
        if len(chunk.text) > room:
            return "long"
        if self._failures >= MOST_FAILURES:
            return "failed"
        return "budget" if self._left <= 0 else None

    def _ask(self, chunk: Chunk) -> list[dict[str, Any]] | None:
        self._left -= 1
        self._counts["asked"] += 1
        try:
            said = replies.objects(self._reply(chunk))
        # A generator may be anybody's, and fail in any way; whatever it is, the rules can answer it.
        except Exception as error:
            self._fail(str(error) or type(error).__name__)
            return None
        if said is None:
            self._fail("no JSON array in its answer")
        else:
            self._failures = 0
        return said

    def _reply(self, chunk: Chunk) -> str:
        validate_content(chunk.text)
        excerpt = Excerpt(1, chunk.heading, chunk.text)
        stream = self._generator.stream(Prompt(replies.QUESTION, (excerpt,), replies.TASK))
        try:
            return _first(stream, LONGEST_REPLY)
        finally:
            # One that is left in the middle would go on waiting for its server.
            if close := getattr(stream, "close", None):
                close()

    def _fail(self, reason: str) -> None:
        self._failures += 1
        self._counts["failed"] += 1
        self._failed[" ".join(reason.split())[:200]] = None

    def _believed(self, said: Iterable[dict[str, Any]], chunk: Chunk, known: Mapping[str, str]) -> list[Triple]:
        made: list[Triple] = []
        for one in said:
            try:
                made.append(replies.triple(one, chunk, known))
            except replies.Refused as why:
                self._dropped[str(why)] += 1
        return made

    def _path(self, chunk: Chunk) -> Path:
        asked = json.dumps([replies.VERSION, replies.QUESTION, chunk.heading, chunk.text])
        digest = hashlib.sha256(asked.encode()).hexdigest()
        return self._folder / digest[:2] / f"{digest}.json"


def _first(pieces: Iterable[str], characters: int) -> str:
    """So many characters of a stream, or a piece more."""
    text: list[str] = []
    for piece in pieces:
        text.append(piece)
        characters -= len(piece)
        if characters <= 0:
            break
    return "".join(text)


def _remembered(path: Path) -> list[dict[str, Any]] | None:
    try:
        said = json.loads(path.read_bytes())["triples"]
        return said if isinstance(said, list) and all(isinstance(one, dict) for one in said) else None
    except _BAD:
        return None
