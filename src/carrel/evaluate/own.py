"""Making a library's own questions, without a language model: of titles, definitions, captions and citing sentences."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel import sentences, words
from carrel.evaluate import citing, definitions
from carrel.evaluate.questions import Kind, Question, spelled
from carrel.identifiers import normalise_title
from carrel.parsers import captions
from carrel.types import ChunkKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from carrel.catalogs import Catalog, CitationRow, ExhibitRow
    from carrel.types import Chunk, Reference

MOST_READ = 2000
"""Papers that are read for questions: many more than are asked."""
_AT_ONCE = 50
_READABLE = frozenset({ChunkKind.PASSAGE, ChunkKind.ABSTRACT})
_FEWEST_WORDS = {Kind.TITLE: 4, Kind.DEFINITION: 5, Kind.CAPTION: 5, Kind.CITATION: 8}
_LONGEST = 400
"""Characters of a question."""
_LONGEST_CAPTION = 5000
_ENOUGH = 12
"""Words after which a caption's sentence is the last one asked."""
_LEAST_LEFT = 25
"""Words that an answer still has to have."""
_PANEL = re.compile(r"\s?\(\s?[A-Za-z](?:\s?[-–,]\s?[A-Za-z])*\s?\)")
_POINTER = re.compile(r"\s?\((?:see\s)?(?:Fig|Table|Eq|Section|Text|Supp)[^()]*\)")
_QUOTES = str.maketrans("", "", '"“”„‟«»')
"""Between them, a search would take words for a phrase that has to be found as it stands."""
_FIELD = re.compile(r"\b(author|title|venue|tag|year):(?=\S)", re.IGNORECASE)
_LOOKS_ELSEWHERE = re.compile(
    r"(?i:(?:this|these|those|such|it|they|he|she|details?|fig|figure|table|see|the (?:latter|former))\b.*"
    r"|.*\b(?:in|by|from|of|with|see|to|and|on|for|as)\.?|.*\bet al\b.*)"
)
"""At other sentences, at what a mark stood for that was all it had to say, or at a mark that could not be taken out."""


@dataclass(frozen=True)
class Made:
    """All questions of a library, or of those of its papers that were read."""

    questions: Mapping[Kind, Sequence[Question]]
    papers: int
    read: int


@dataclass(frozen=True)
class _Library:
    """What is known of all papers before one of them is read."""

    references: Mapping[str, Reference]
    entries: Mapping[str, Sequence[CitationRow]]
    """Bibliographies in which there are papers of the library."""
    namesakes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By title: the papers that have it."""

    def same(self, paper: str) -> frozenset[str]:
        """A paper and those of the same title, as a preprint and what became of it."""
        return self.namesakes[normalise_title(self.references[paper].title)]


def make(catalog: Catalog, *, seed: int, most: int = MOST_READ) -> Made:
    """Every question that the library, or as many of its papers as are read, can give."""
    known = _known(catalog)
    chance = random.Random(seed)  # noqa: S311
    chosen = {*_some(known.references, most, chance), *_some(known.entries, most // 4, chance)}
    found: list[Question] = []
    order = sorted(chosen)
    for start in range(0, len(order), _AT_ONCE):
        found += _of_papers(order[start : start + _AT_ONCE], catalog, known)
    told = Counter((question.kind, normalise_title(question.source)) for question in found)
    # What two papers say in the same words has two answers, of which only one would count.
    single = [question for question in found if told[question.kind, normalise_title(question.source)] == 1]
    by_kind = {kind: [question for question in single if question.kind == kind] for kind in Kind}
    return Made(by_kind, len(known.references), len(chosen))


def _known(catalog: Catalog) -> _Library:
    references = {row.reference.id: row.reference for row in catalog.papers() if row.chunk_count}
    entries: dict[str, list[CitationRow]] = {}
    for row in catalog.citations():
        entries.setdefault(row.paper_id, []).append(row)
    namesakes: dict[str, set[str]] = {}
    for paper, reference in references.items():
        namesakes.setdefault(normalise_title(reference.title), set()).add(paper)
    return _Library(
        references,
        {paper: rows for paper, rows in entries.items() if any(row.known_as not in ("", paper) for row in rows)},
        {title: frozenset(papers) for title, papers in namesakes.items()},
    )


def _some(papers: Iterable[str], most: int, chance: random.Random) -> list[str]:
    order = sorted(papers)
    return chance.sample(order, min(most, len(order)))


def _of_papers(papers: Sequence[str], catalog: Catalog, known: _Library) -> Iterator[Question]:
    chunks: dict[str, list[Chunk]] = {}
    for chunk in catalog.chunks_of(papers):
        if chunk.kind in _READABLE:
            chunks.setdefault(chunk.paper_id, []).append(chunk)
    exhibits: dict[str, list[ExhibitRow]] = {}
    for row in catalog.exhibits(papers):
        exhibits.setdefault(row.paper_id, []).append(row)
    for paper in papers:
        held = chunks.get(paper, [])
        yield from _title(known.references[paper], held, known)
        yield from (question for chunk in held for question in _definitions(chunk))
        yield from (question for row in exhibits.get(paper, ()) for question in _caption(row, held))
        yield from _citations(paper, held, known)


def _title(reference: Reference, chunks: Sequence[Chunk], known: _Library) -> Iterator[Question]:
    """Papers of one title are one question, asked for the first of them; each is an answer."""
    same, text = known.same(reference.id), _plain(reference.title)
    if reference.id == min(same) and _is_asked(text, Kind.TITLE) and _is_left(chunks, reference.title):
        altered = len(same) * len(chunks)
        yield Question(f"title {reference.id}", Kind.TITLE, text, same, reference.title, same, altered=altered)


def _definitions(chunk: Chunk) -> Iterator[Question]:
    for number, definition in enumerate(definitions.found(chunk.text), start=1):
        source = chunk.text[definition.span.start : definition.span.end]
        text = _plain(spelled(definition.term).sub(" ", citing.without_marks(definition.said)))
        if _is_asked(text, Kind.DEFINITION) and _is_left([chunk], source):
            yield _of_passages(f"definition {chunk.address} {number}", Kind.DEFINITION, text, [chunk], source)


def _caption(row: ExhibitRow, chunks: Sequence[Chunk]) -> Iterator[Question]:
    source = row.exhibit.caption
    if len(source) > _LONGEST_CAPTION:
        return
    text = _asked(source)
    mentioning = [chunk for chunk in chunks if row.address in chunk.exhibits and _is_left([chunk], source)]
    if mentioning and _is_asked(text, Kind.CAPTION):
        dropped = frozenset({row.address})
        yield _of_passages(f"caption {row.address}", Kind.CAPTION, text, mentioning, source, dropped)


def _citations(paper: str, chunks: Sequence[Chunk], known: _Library) -> Iterator[Question]:
    if paper not in known.entries:
        return
    marks = citing.Marks(known.entries[paper], known.references, [chunk.text for chunk in chunks])
    for chunk in chunks:
        for number, sentence in enumerate(marks.found(chunk.text), start=1):
            answers = frozenset(same for cited in sentence.cited for same in known.same(cited)) - known.same(paper)
            text = _plain(sentence.words)
            if answers and _is_asked(text, Kind.CITATION) and not _LOOKS_ELSEWHERE.fullmatch(text):
                yield Question(
                    f"citation {chunk.address} {number}",
                    Kind.CITATION,
                    text,
                    answers,
                    chunk.text[sentence.span.start : sentence.span.end],
                    frozenset({paper}),
                    apart=known.same(paper),
                )


def _of_passages(
    name: str, kind: Kind, text: str, chunks: Sequence[Chunk], source: str, dropped: frozenset[str] = frozenset()
) -> Question:
    addresses = frozenset(chunk.address for chunk in chunks)
    return Question(name, kind, text, addresses, source, frozenset({chunks[0].paper_id}), dropped)


def _asked(caption: str) -> str:
    """A caption without its label and panels' letters, as far as it says what is to be seen."""
    label = next(captions.mentions(caption), None)
    start = label[2] if label and not caption[: label[1]].strip(" *_#>|") else 0
    plain = _plain(_PANEL.sub("", caption[start:])).lstrip(" .:|*_–—-")
    end = 0
    for span in sentences.spans(plain):
        if end and (span.end > _LONGEST or len(words.stems(plain[:end])) >= _ENOUGH):
            break
        end = span.end
    return plain[:end].rstrip(" .")


def _plain(text: str) -> str:
    """On one line, and without what a search would take for syntax."""
    return " ".join(_FIELD.sub(r"\1: ", _POINTER.sub("", text).translate(_QUOTES)).split())


def _is_asked(text: str, kind: Kind) -> bool:
    return len(text) <= _LONGEST and len(words.stems(text)) >= _FEWEST_WORDS[kind]


def _is_left(chunks: Iterable[Chunk], source: str) -> bool:
    """Whether there is something to find once the source is gone."""
    removed = spelled(source)
    return any(len(words.stems(removed.sub(" ", chunk.text))) >= _LEAST_LEFT for chunk in chunks)
