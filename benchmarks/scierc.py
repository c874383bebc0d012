"""How well concepts are found, against the terms that people marked in SciERC's abstracts.

    python -m benchmarks.scierc ../shared/data [--split dev] [--misses 30]

A term is found when one of an abstract's concepts has its key (`carrel.naming.key`); *exact span* asks for the marked
words themselves, each place for itself. SciERC also marks words that only point back, such as `method`, as Generic:
the second half of the table leaves those out of what is to be found. Baselines: every noun phrase as it stands; runs of
up to three words, without small words inside, that have a capital or come twice. Lists and patterns were tuned on the
train split only.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from carrel.acronyms import pairs
from carrel.concepts import lexicon, terms
from carrel.concepts.gathering import Gathered, kept
from carrel.concepts.phrases import noun_phrases
from carrel.naming import key
from carrel.types import Chunk, ChunkKind, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

GENERIC = "Generic"
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}
_NO_BLANK_BEFORE = frozenset(".,;:!?)]}'") | {"'s", "n't", "%"}
_NO_BLANK_BEHIND = frozenset("([{")
_SHORT_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")


class Marked(NamedTuple):
    start: int
    end: int
    is_generic: bool


class Abstract(NamedTuple):
    text: str
    marked: list[Marked]


class Score(NamedTuple):
    found: int
    right: int
    wanted: int

    def __str__(self) -> str:
        precision, recall = self.right / max(1, self.found), self.right / max(1, self.wanted)
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        return f"{precision:.3f} | {recall:.3f} | {f1:.3f}"


def abstracts(data: Path, split: str) -> Iterator[Abstract]:
    with gzip.open(data / f"graph/scierc/{split}_entities.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield _abstract(json.loads(line)["sentences"])


def _abstract(sentences: Sequence[dict[str, Any]]) -> Abstract:
    """The text as it was before it was cut into tokens, more or less."""
    text, marked = "", []
    for sentence in sentences:
        starts, ends = [], []
        for token in (_BRACKETS.get(token, token) for token in sentence["tokens"]):
            joins = token in _NO_BLANK_BEFORE or text[-1:] in _NO_BLANK_BEHIND
            text += token if joins or not text else f" {token}"
            starts.append(len(text) - len(token))
            ends.append(len(text))
        marked += [
            Marked(starts[one["start"]], ends[one["end"] - 1], one["type"] == GENERIC) for one in sentence["entities"]
        ]
    return Abstract(text, marked)


# What is compared: each gives the keys of an abstract's concepts


def carrel(text: str) -> set[str]:
    found = terms.extract([_chunk(text)], None)
    return {key(name) for concept in found.concepts for name in (concept.name, *concept.aliases)}


def all_terms(text: str) -> set[str]:
    """Before the best are chosen."""
    gathered = Gathered()
    gathered.read([_chunk(text)], None)
    return {*gathered.terms, *gathered.alias_of}


def all_phrases(text: str) -> set[str]:
    return {key(text[span.start : span.end]) for span in noun_phrases(text)}


def frequent_runs(text: str) -> set[str]:
    counted: Counter[str] = Counter()
    capital: set[str] = set()
    for run in _runs(re.findall(r"[^\W_]+(?:-[^\W_]+)*|[.,;:()]", text)):
        name = key(" ".join(run))
        counted[name] += 1
        if any(letter.isupper() for word in run for letter in word):
            capital.add(name)
    return {name for name, count in counted.items() if count > 1 or name in capital}


def _runs(words: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(len(words)):
        for length in (1, 2, 3):
            run = words[start : start + length]
            if len(run) == length and all(word[0].isalnum() and not lexicon.is_closed(word.lower()) for word in run):
                yield run


def _chunk(text: str) -> Chunk:
    return Chunk("a/abstract", "a", Part.ABSTRACT, ChunkKind.ABSTRACT, text, 0, len(text))


def keys_of(text: str, one: Marked) -> set[str]:
    """`hidden Markov model (HMM)` is marked as one term and has three names."""
    written = text[one.start : one.end]
    return {key(written), key(_SHORT_IN_BRACKETS.sub("", written)), *(key(pair.short) for pair in pairs(written))}


def by_key(read: Sequence[Abstract], finds: Callable[[str], set[str]], *, generic: bool) -> Score:
    found = right = wanted = 0
    for abstract in read:
        terms_of = [keys_of(abstract.text, one) for one in abstract.marked if generic or not one.is_generic]
        given = finds(abstract.text)
        if not generic:
            given -= {name for one in abstract.marked if one.is_generic for name in keys_of(abstract.text, one)} - {
                name for names in terms_of for name in names
            }
        distinct = {frozenset(names) for names in terms_of}
        found += len(given)
        right += len(given & {name for names in distinct for name in names})
        wanted += (
            len(distinct)
            + len(given & {n for names in distinct for n in names})
            - sum(bool(names & given) for names in distinct)
        )
    return Score(found, right, wanted)


def by_span(read: Sequence[Abstract], spans: Callable[[str], Iterable[tuple[int, int]]], *, generic: bool) -> Score:
    found = right = wanted = 0
    for abstract in read:
        marked = {(one.start, one.end) for one in abstract.marked if generic or not one.is_generic}
        skipped = set() if generic else {(one.start, one.end) for one in abstract.marked if one.is_generic}
        given = set(spans(abstract.text)) - skipped
        found, right, wanted = found + len(given), right + len(given & marked), wanted + len(marked)
    return Score(found, right, wanted)


def term_spans(text: str) -> Iterator[tuple[int, int]]:
    """The places of the phrases that are terms, without the weak words in front."""
    for span in noun_phrases(text):
        if name := kept(text[span.start : span.end]):
            yield span.end - len(name), span.end


def phrase_spans(text: str) -> Iterator[tuple[int, int]]:
    for span in noun_phrases(text):
        yield span.start, span.end


def misses(read: Sequence[Abstract], most: int) -> None:
    """What is wrongly found and what is not found, most frequent first."""
    wrong: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for abstract in read:
        wanted = [keys_of(abstract.text, one) for one in abstract.marked]
        given = all_terms(abstract.text)
        wrong.update(given - {name for names in wanted for name in names})
        missed.update(min(names) for names in wanted if not names & given)
    print("wrong: ", wrong.most_common(most), "\nmissed:", missed.most_common(most))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", default="dev", choices=("train", "dev"))
    parser.add_argument("--misses", type=int, default=0)
    given = parser.parse_args()
    read = list(abstracts(given.data, given.split))
    print("| | P | R | F1 | P, no Generic | R | F1 |\n|---|---|---|---|---|---|---|")
    ways = {
        "concepts": carrel,
        "baseline: all noun phrases": all_phrases,
        "baseline: capitalised or frequent runs": frequent_runs,
    }
    for name, finds in ways.items():
        print(f"| {name} | {by_key(read, finds, generic=True)} | {by_key(read, finds, generic=False)} |")
    for name, spans in {"exact span: terms": term_spans, "exact span: all noun phrases": phrase_spans}.items():
        print(f"| {name} | {by_span(read, spans, generic=True)} | {by_span(read, spans, generic=False)} |")
    if given.misses:
        misses(read, given.misses)


if __name__ == "__main__":
    main()
