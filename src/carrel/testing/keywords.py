"""A keyword index of dictionaries. English words are compared by their first letters instead of their stems."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput
from carrel.types import EVERYTHING, ChunkKind, Filter, Hit

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from carrel.types import Chunk

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_STEM = 6
_ENGLISH = frozenset({"en", ""})
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75


class MemoryKeywords:
    def __init__(self) -> None:
        self._chunks: dict[str, Chunk] = {}
        self._words: dict[str, Counter[str]] = {}

    def put(self, chunks: Sequence[Chunk]) -> None:
        self.delete({chunk.paper_id for chunk in chunks})
        for chunk in chunks:
            self._chunks[chunk.address] = chunk
            self._words[chunk.address] = _indexed(chunk)

    def delete(self, paper_ids: Collection[str]) -> None:
        for address in [chunk.address for chunk in self._chunks.values() if chunk.paper_id in paper_ids]:
            del self._chunks[address], self._words[address]

    def search(self, text: str, *, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        if limit < 1:
            raise InvalidInput(f"limit must be a positive integer, got {limit}")
        weights = {word: self._rarity(word) for word in _asked(text)}
        allowed = [address for address, chunk in self._chunks.items() if where.matches(chunk)]
        hits = [Hit(address, self._score(address, weights)) for address in allowed]
        return sorted((hit for hit in hits if hit.score > 0), key=lambda hit: (-hit.score, hit.address))[:limit]

    def matches(self, text: str, *, where: Filter = EVERYTHING) -> int:
        return len(self.search(text, limit=max(1, len(self._chunks)), where=where))

    def count(self) -> int:
        return len(self._chunks)

    def addresses(self) -> set[str]:
        return set(self._chunks)

    def clear(self) -> None:
        self._chunks, self._words = {}, {}

    def close(self) -> None:
        """Nothing is open."""

    def _rarity(self, word: str) -> float:
        having = sum(word in words for words in self._words.values())
        return math.log(1 + (len(self._words) - having + 0.5) / (having + 0.5))

    def _score(self, address: str, weights: dict[str, float]) -> float:
        """BM25."""
        words = self._words[address]
        average = sum(held.total() for held in self._words.values()) / len(self._words)
        norm = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * words.total() / (average or 1))
        shares = (
            weight * words[word] * (_SATURATION + 1) / (words[word] + norm)
            for word, weight in weights.items()
            if word in words
        )
        return round(sum(shares), 4)


def _indexed(chunk: Chunk) -> Counter[str]:
    """The words a chunk is found by, each with the field it stands in."""
    words = _split(chunk.embedded_text)
    english = chunk.language in _ENGLISH
    names = _split(" ".join(chunk.authors))
    notes = _split(" ".join((chunk.note, *chunk.tags))) if chunk.kind == ChunkKind.ABSTRACT else []
    return Counter([*map(_stemmed if english else _plain, words), *map(_name, names), *map(_stemmed, notes)])


def _asked(text: str) -> set[str]:
    """Each word of a query, in every field it may stand in."""
    return {form(word) for word in _split(text) for form in (_stemmed, _plain, _name)}


def _split(text: str) -> list[str]:
    """Words without case and accents; runs of Chinese, Japanese or Korean as their overlapping pairs."""
    composed = unicodedata.normalize("NFC", text)
    runs = _CJK.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", composed)
    return [_folded(word) for word in _WORD.findall(runs)]


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run]


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _stemmed(word: str) -> str:
    return f"english:{word[:_STEM]}"


def _plain(word: str) -> str:
    return f"plain:{word}"


def _name(word: str) -> str:
    return f"author:{word}"
