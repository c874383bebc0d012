"""A keyword index of dictionaries. Words are compared by their first letters instead of their stems."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING, TypeAlias

from carrel.errors import InvalidInput
from carrel.types import EVERYTHING, ChunkKind, Filter, Hit
from carrel.words import edits

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from carrel.types import Chunk

    Form: TypeAlias = tuple[str, ...]
    """A word, or several side by side, each with its field."""

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_STEM = 6
_OTHER_NAME = 0.25
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75


class MemoryKeywords:
    def __init__(self) -> None:
        self._chunks: dict[str, Chunk] = {}
        self._words: dict[str, list[str]] = {}

    def put(self, chunks: Sequence[Chunk]) -> None:
        self.delete({chunk.paper_id for chunk in chunks})
        for chunk in chunks:
            self._chunks[chunk.address] = chunk
            self._words[chunk.address] = _indexed(chunk)

    def delete(self, paper_ids: Collection[str]) -> None:
        for address in [chunk.address for chunk in self._chunks.values() if chunk.paper_id in paper_ids]:
            del self._chunks[address], self._words[address]

    def search(
        self,
        text: str,
        *,
        limit: int,
        where: Filter = EVERYTHING,
        phrases: Sequence[str] = (),
        also: Sequence[tuple[str, str]] = (),
    ) -> list[Hit]:
        if limit < 1:
            raise InvalidInput(f"limit must be a positive integer, got {limit}")
        exact = [forms for phrase in phrases if (forms := _phrases(phrase))]
        asked = {*_asked(text), *(form for forms in exact for form in forms)}
        weights = {form: self._rarity(form) for form in asked}
        weights |= {form: _OTHER_NAME * self._rarity(form) for _, other in also for form in _phrases(other) - asked}
        having = [
            address
            for address, chunk in self._chunks.items()
            if where.matches(chunk) and all(any(self._times(address, form) for form in forms) for forms in exact)
        ]
        hits = [Hit(address, self._score(address, weights)) for address in having]
        return sorted((hit for hit in hits if hit.score > 0), key=lambda hit: (-hit.score, hit.address))[:limit]

    def matches(self, text: str, *, where: Filter = EVERYTHING, phrases: Sequence[str] = ()) -> int:
        return len(self.search(text, limit=max(1, len(self._chunks)), where=where, phrases=phrases))

    def frequencies(self, words: Sequence[str]) -> list[int]:
        return [max((self._having(form) for form in _phrases(word)), default=0) for word in words]

    def near(self, word: str, *, distance: int, beside: str, limit: int) -> list[str]:
        like = [
            Hit(address, len(_asked(beside) & {(form,) for form in held}))
            for address, held in self._words.items()
            if any(edits(word, other, most=distance) <= distance for other in _words_of(self._chunks[address]))
        ]
        return [hit.address for hit in sorted(like, key=lambda hit: -hit.score)[:limit]]

    def count(self) -> int:
        return len(self._chunks)

    def addresses(self) -> set[str]:
        return set(self._chunks)

    def clear(self) -> None:
        self._chunks, self._words = {}, {}

    def close(self) -> None:
        """Nothing is open."""

    def _rarity(self, form: Form) -> float:
        """Of a phrase: the mean of its words', so that it counts as one."""
        return sum(self._rarity_of(self._having((word,))) for word in form) / len(form)

    def _rarity_of(self, having: int) -> float:
        return math.log(1 + (len(self._words) - having + 0.5) / (having + 0.5))

    def _having(self, form: Form) -> int:
        return sum(self._times(address, form) > 0 for address in self._words)

    def _times(self, address: str, form: Form) -> int:
        """How often these words stand side by side in a chunk."""
        held = self._words[address]
        return sum(tuple(held[start : start + len(form)]) == form for start in range(len(held) - len(form) + 1))

    def _score(self, address: str, weights: dict[Form, float]) -> float:
        """BM25."""
        average = sum(map(len, self._words.values())) / len(self._words)
        norm = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(self._words[address]) / (average or 1))
        times = {form: self._times(address, form) for form in weights}
        shares = (weights[form] * tf * (_SATURATION + 1) / (tf + norm) for form, tf in times.items())
        return round(sum(shares), 4)


def _indexed(chunk: Chunk) -> list[str]:
    """The words a chunk is found by, each with the field it stands in."""
    words = _split(chunk.embedded_text)
    names = _split(" ".join(chunk.authors))
    notes = _split(" ".join((chunk.note, *chunk.tags))) if chunk.kind == ChunkKind.ABSTRACT else []
    return [*map(_stemmed, words), *map(_name, names), *map(_stemmed, notes)]


def _asked(text: str) -> set[Form]:
    """Each word of a query, in every field it may stand in."""
    return {(form(word),) for word in _split(text) for form in (_stemmed, _name)}


def _phrases(text: str) -> set[Form]:
    """The words of a text in order, in every field they may stand in."""
    words = _split(text)
    return {tuple(map(form, words)) for form in (_stemmed, _name)} if words else set()


def _words_of(chunk: Chunk) -> list[str]:
    return _split(" ".join((chunk.embedded_text, *chunk.authors)))


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


def _name(word: str) -> str:
    return f"author:{word}"
