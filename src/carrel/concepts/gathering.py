"""The terms of one paper: gathered from where they stand, one for all the spellings of a name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from carrel import acronyms
from carrel.concepts import cjk, definitions, junk, lexicon, places
from carrel.concepts.phrases import noun_phrases
from carrel.naming import key
from carrel.types import ChunkKind, Concept

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.types import Chunk, Reference, Span

_SET_PHRASE = 3
_SMALL_WORD = re.compile(r"(?<![\w-])[a-z]{2,}(?![\w])")


class Place(Enum):
    """Where a term stands, and what that is worth."""

    TITLE = 4.0
    HEADING = 3.0
    DEFINITION = 2.5
    KEYWORD = 2.0
    NAME = 1.8
    TEXT = 1.0


@dataclass(slots=True)
class Term:
    place: Place = Place.TEXT
    is_whole: bool = False
    """Whether a title, a heading or a definition names it and nothing else."""
    spellings: Counter[str] = field(default_factory=Counter)
    at_starts: Counter[str] = field(default_factory=Counter)
    """Of sentences, titles and headings, where a capital says nothing."""
    aliases: dict[str, str] = field(default_factory=dict)
    definition: str = ""
    defined_at: str = ""
    category: str = ""

    def name(self, small_words: set[str]) -> str:
        """The most frequent spelling; one with a capital only if the name has it, as far as the paper tells."""
        counted = self.spellings or self.at_starts
        name = max(counted, key=lambda one: (counted[one], -len(one), one))
        first = name.split()[0]
        is_capital_of_sentence = not self.spellings and first[1:].islower() and name[len(first) :].islower()
        known = first.lower() in small_words or (lexicon.is_known(first.lower()) and " " in name)
        return name[0].lower() + name[1:] if is_capital_of_sentence and known else name

    @property
    def sightings(self) -> int:
        """How often it stands by itself."""
        return self.spellings.total() + self.at_starts.total()

    @property
    def is_passing(self) -> bool:
        """Whether it may be any word: a single one, in small letters, in running text."""
        name = next(iter(self.spellings or self.at_starts))
        return self.place is Place.TEXT and " " not in name and "-" not in name

    def rise(self, place: Place) -> None:
        self.place = max(self.place, place, key=lambda one: one.value)


class Gathered:
    """Keeps each term under its key."""

    def __init__(self) -> None:
        self.terms: dict[str, Term] = {}
        self.alias_of: dict[str, str] = {}
        self.shorts: dict[str, str] = {}
        """How the acronyms are written."""
        self.title = ""
        """What the whole title names, if it is a name; its other terms are in `title_parts`."""
        self.title_parts: list[str] = []
        self.headings: dict[str, list[str]] = {}
        self.defined: defaultdict[str, set[str]] = defaultdict(set)
        """By the address of the chunk that defines them."""
        self._pairs: Counter[acronyms.Pair] = Counter()
        self._joined: Counter[str] = Counter()
        self._small_words: set[str] = set()

    def read(self, chunks: Sequence[Chunk], record: Reference | None) -> None:
        title = record.title if record else next((chunk.title for chunk in chunks if chunk.title), "")
        self.title = self.add(places.whole_title(title), Place.TITLE, whole=True)
        self.title_parts = self._add_all(places.in_title(title), Place.TITLE)
        self._add_all(record.tags if record else (), Place.KEYWORD, whole=True)
        self._pairs.update(acronyms.pairs(title))
        for chunk in chunks:
            for heading in chunk.section_path:
                self._read_heading(heading)
            self._read_chunk(chunk)
        self._add_all((name for name, count in self._joined.items() if count >= _SET_PHRASE), Place.TEXT)
        self._join_acronyms()

    def concept(self, one: str) -> Concept:
        term = self.terms[one]
        name = term.name(self._small_words)
        aliases = tuple(sorted(set(term.aliases.values()) - {name}))
        return Concept(name, aliases, term.definition, term.category, term.defined_at)

    def meant(self, keys: Iterable[str]) -> list[str]:
        """The terms that these keys mean, each once."""
        return list(dict.fromkeys(self.alias_of.get(one, one) for one in keys if one))

    def names(self) -> list[tuple[str, str]]:
        """Every key with a spelling to look for."""
        return [(one, term.name(self._small_words)) for one, term in self.terms.items()] + list(self.shorts.items())

    def add(self, name: str, place: Place, *, whole: bool = False, starts: bool = False) -> str:
        """Its key; empty if it is no term. As a whole it is meant by its author, whatever its words."""
        name = kept(name, whole=whole)
        found = key(name) if name else ""
        if not found:
            return ""
        term = self.terms.setdefault(found, Term())
        in_sentence = place in {Place.NAME, Place.TEXT, Place.KEYWORD} and not starts
        (term.spellings if in_sentence else term.at_starts)[name] += 1
        term.is_whole |= whole or place is Place.DEFINITION
        term.rise(place)
        return found

    def _add_all(self, names: Iterable[str], place: Place, *, whole: bool = False) -> list[str]:
        return [found for name in names if (found := self.add(name, place, whole=whole))]

    def _read_heading(self, heading: str) -> None:
        if heading not in self.headings:
            whole = self.add(places.whole_heading(heading), Place.HEADING, whole=True)
            self.headings[heading] = [whole] if whole else self._add_all(places.in_heading(heading), Place.HEADING)

    def _read_chunk(self, chunk: Chunk) -> None:
        if any(junk.is_boilerplate(heading) for heading in chunk.section_path):
            return
        text = chunk.text
        self._small_words.update(_SMALL_WORD.findall(text))
        phrases = noun_phrases(text)
        for span in phrases:
            name, starts = text[span.start : span.end], _starts(text, span.start)
            is_name = name[:1].isupper() and not starts
            self.add(name, Place.NAME if is_name else Place.TEXT, starts=starts)
        self._joined.update(_joined(text, phrases))
        self._add_all(cjk.quoted(text), Place.NAME)
        self._add_all(places.in_keywords(text), Place.KEYWORD, whole=True)
        self._pairs.update(acronyms.pairs(text))
        if chunk.kind is not ChunkKind.NOTE:
            self._read_definitions(chunk)

    def _read_definitions(self, chunk: Chunk) -> None:
        for one in definitions.defined(chunk.text):
            if found := self.add(one.term, Place.DEFINITION):
                self.defined[chunk.address].add(found)
                term = self.terms[found]
                if one.explains and not term.definition:
                    term.definition, term.defined_at = chunk.text[one.start : one.end], chunk.address
                    term.category = one.kind

    def _join_acronyms(self) -> None:
        """Each acronym goes to the long form it is given for most often."""
        for (short, long), _ in sorted(self._pairs.items(), key=lambda item: (-item[1], item[0])):
            alias = key(short)
            if alias in self.alias_of or not (found := self.add(long, Place.KEYWORD, whole=True)) or found == alias:
                continue
            self.alias_of[alias], self.shorts[alias] = found, short
            term = self.terms[found]
            if not lexicon.is_closed(short.lower()):
                term.aliases[alias] = short
            if merged := self.terms.pop(alias, None):
                term.rise(merged.place)


def kept(name: str, *, whole: bool = False) -> str:
    """The term in a phrase; empty if there is none."""
    name = " ".join(name.split() if whole else junk.trimmed(name.split()))
    return "" if not name or junk.is_junk(name) or (not whole and junk.is_generic(name)) else name


def _joined(text: str, phrases: Sequence[Span]) -> Iterator[str]:
    """`part of speech`, `degrees of freedom`: a phrase that is a term only if it comes again and again."""
    for one, other in pairwise(phrases):
        name = text[one.start : other.end]
        if text[one.end : other.start] == " of " and name.islower() and not junk.is_empty(name.split()[0]):
            yield name


def _starts(text: str, place: int) -> bool:
    """Whether a sentence does, so that a capital says nothing."""
    before = text[max(0, place - 4) : place].rstrip(' *_"“([')
    return not before or before[-1] in ".!?:\n#"
