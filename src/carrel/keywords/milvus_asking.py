"""What is asked of an index whose words stand in one field, those of authors' names with a mark before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from carrel import words
from carrel.databases.milvus import LONGEST, quoted
from carrel.keywords import analysis

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from carrel.types import Chunk

Form: TypeAlias = tuple[str, ...]
"""A word, or several side by side, as they stand in the index."""
MARK = "_"
"""In no word: it would part two."""


@dataclass(frozen=True)
class Other:
    """Another name of something that is asked for."""

    forms: Sequence[Form]
    weight: float
    replaced: Sequence[str]
    """The terms that it counts instead of, where it is worth more; nothing: it counts besides."""

    @property
    def terms(self) -> list[str]:
        return _terms(self.forms)


@dataclass(frozen=True)
class Asked:
    """Words that rank, phrases that must be there, and other names."""

    words: Sequence[str]
    exact: Sequence[Sequence[Form]]
    others: Sequence[Other]

    @classmethod
    def of(cls, text: str, phrases: Iterable[str], also: Iterable[tuple[str, str]]) -> Asked:
        exact = [forms for phrase in phrases if (forms := marked(phrase))]
        others = [_other(name, marked(other), other) for name, other in also if marked(other)]
        return cls(_words(text), exact, others)

    def __bool__(self) -> bool:
        return bool(self.words or self.exact or self.others)

    @property
    def terms(self) -> list[str]:
        """All that ranks: a phrase weighs as much as its words."""
        named = (term for other in self.others for term in other.replaced)
        return list(dict.fromkeys([*self.words, *named, *(term for forms in self.exact for term in _terms(forms))]))

    @property
    def rest(self) -> list[str]:
        """What no other name counts instead of."""
        replaced = {term for other in self.others for term in other.replaced}
        return [term for term in self.terms if term not in replaced]


def indexed(chunk: Chunk) -> str:
    """The words that a chunk is found by. Where they are more than the server takes, each stands there once."""
    names = words.plain().analyze(analysis.indexed_authors(chunk))
    found = [*analysis.indexed_words(chunk), *(f"{MARK}{name}" for name in names)]
    joined = " ".join(found)
    if len(joined.encode()) > LONGEST:
        joined = " ".join(dict.fromkeys(found))
    cut = joined.encode()[:LONGEST].decode(errors="ignore")
    return joined if cut == joined else cut.rpartition(" ")[0]


def marked(text: str) -> list[Form]:
    """The words of a text in order, in either field they may stand in."""
    found = {tuple(f"{MARK}{term}" if field == "authors" else term for term in terms) for field, terms in _forms(text)}
    return sorted(found)


def _forms(text: str) -> list[tuple[str, Sequence[str]]]:
    return [(field, terms) for field, terms in analysis.forms(text) if terms]


def matching(terms: Iterable[str]) -> str:
    """The condition that one of these words is there."""
    return f"TEXT_MATCH(words, {quoted(' '.join(terms))})"


def stands_in(words: str, forms: Iterable[Form]) -> bool:
    """Whether the words of one form stand side by side."""
    return any(f" {' '.join(form)} " in f" {words} " for form in forms)


def _words(text: str) -> list[str]:
    return [f"{MARK}{term}" if field == "authors" else term for field, term in analysis.terms(text)]


def _terms(forms: Iterable[Form]) -> list[str]:
    return list(dict.fromkeys(term for form in forms for term in form))


def _other(name: str, forms: Sequence[Form], other: str) -> Other:
    count = len(words.stems(other)) or 1
    if len(words.stems(name)) == 1:
        # A text that defines an acronym has both; it is not twice as much about it.
        return Other(forms, 1 / count, _words(name))
    return Other(forms, analysis.SHORT_NAME / count, ())
