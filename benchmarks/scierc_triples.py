"""How many of the triples that are found people marked, too, in SciERC's abstracts.

    python -m benchmarks.scierc_triples ../shared/data [--split dev] [--cues] [--wrong 30]

USED-FOR(a, b) is USES(b, a), PART-OF is PART_OF, HYPONYM-OF is EXAMPLE_OF, COMPARE is COMPARED_TO in either direction;
the other relations have no predicate here, and PREREQUISITE, RELATED_TO and IMPLEMENTS no relation there, so that these
are counted but not judged. Every sentence of every abstract is read, also those without any relation.

A triple is right when the sentence has one of its predicate with the same ends. *Strict*: the ends' keys are equal
(`carrel.naming.key`, without what stands in brackets). *Head*: of each end, the words before the first preposition end
in the same word and share at least half of the longer one's. *Overlap*: one of them has the other's last such word, and
at least half of its words. A concept's aliases count as its name, as in the graph.

Carrel's triples are those at its default confidence. *Marked terms*: the same, told which terms people marked, and only
between these. *Co-occurrence*: every two terms of a sentence, the one named first being the object of USES, as is most
frequent. *Adjacent*: the same of neighbouring noun phrases. For the single predicates the baselines say that predicate
of all their pairs. What is believed of a sentence was learned from the train split (`benchmarks.fit_triples`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
from collections import Counter, defaultdict
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from carrel.concepts import terms
from carrel.concepts.phrases import noun_phrases
from carrel.concepts.triples import extract
from carrel.concepts.triples.rules import stated_in
from carrel.naming import key
from carrel.types import Chunk, ChunkKind, Part, Predicate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

TURNED = {"USED-FOR": Predicate.USES}
STRAIGHT = {"PART-OF": Predicate.PART_OF, "HYPONYM-OF": Predicate.EXAMPLE_OF, "COMPARE": Predicate.COMPARED_TO}
JUDGED = (*TURNED.values(), *STRAIGHT.values())
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")
_PREPOSITION = re.compile(r"\s(?:of|in|for|between|from|on|with|to|by|at|over|under|into|as)\s")


class Stated(NamedTuple):
    subject: str
    predicate: Predicate
    object: str


class Sentence(NamedTuple):
    start: int
    end: int
    stated: tuple[Stated, ...]
    marked: tuple[str, ...]


class Abstract(NamedTuple):
    text: str
    sentences: tuple[Sentence, ...]


class Found(NamedTuple):
    sentence: str
    triple: Stated
    wanted: list[Stated]
    cue: str = ""


def natural(tokens: str) -> str:
    """A row of tokens as people would write it."""
    text = re.sub(r"-L[RSC]B- ", "(", re.sub(r" -R[RSC]B-", ")", tokens))
    text = re.sub(r"`` | ''", '"', text)
    return re.sub(r" (?=[,.;:?!%)]|n't\b|'s\b)", "", text)


def abstracts(data: Path, split: str) -> Iterator[Abstract]:
    folder = data / "graph" / "scierc"
    relations: dict[str, list[dict[str, str]]] = defaultdict(list)
    for line in _lines(folder / f"{split}.jsonl.gz"):
        relations[line["sentence"]] += line["triples"]
    for line in _lines(folder / f"{split}_entities.jsonl.gz"):
        text, sentences = "", []
        for sentence in line["sentences"]:
            tokens = " ".join(sentence["tokens"])
            start = len(text) + bool(text)
            text = f"{text} {natural(tokens)}".strip()
            stated = tuple(_stated(relation) for relation in relations[tokens] if _is_judged(relation))
            marked = tuple(natural(entity["text"]) for entity in sentence["entities"])
            sentences.append(Sentence(start, len(text), stated, marked))
        yield Abstract(text, tuple(sentences))


def _lines(path: Path) -> Iterator[dict]:  # type: ignore[type-arg]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _is_judged(relation: Mapping[str, str]) -> bool:
    return relation["relation"] in {*TURNED, *STRAIGHT}


def _stated(relation: Mapping[str, str]) -> Stated:
    head, tail = natural(relation["head"]), natural(relation["tail"])
    if relation["relation"] in TURNED:
        return Stated(tail, TURNED[relation["relation"]], head)
    return Stated(head, STRAIGHT[relation["relation"]], tail)


def strict(one: str, other: str) -> bool:
    return key(_IN_BRACKETS.sub("", one)) == key(_IN_BRACKETS.sub("", other))


def by_head(one: str, other: str) -> bool:
    first, second = _core(one), _core(other)
    if strict(one, other) or not first or not second:
        return strict(one, other)
    return first[-1] == second[-1] and 2 * len(set(first) & set(second)) >= max(len(first), len(second))


def by_overlap(one: str, other: str) -> bool:
    return strict(one, other) or _covers(_core(one), _core(other)) or _covers(_core(other), _core(one))


def _covers(words: Sequence[str], others: Sequence[str]) -> bool:
    return bool(others) and others[-1] in words and 2 * len(set(words) & set(others)) >= len(set(others))


def _core(name: str) -> list[str]:
    return key(_PREPOSITION.split(f"{_IN_BRACKETS.sub('', name)} ")[0]).split()


def is_right(found: Found, same: Callable[[str, str], bool]) -> bool:
    subject, predicate, object_ = found.triple
    return any(
        (same(subject, wanted.subject) and same(object_, wanted.object))
        or (predicate == Predicate.COMPARED_TO and same(subject, wanted.object) and same(object_, wanted.subject))
        for wanted in found.wanted
        if wanted.predicate == predicate
    )


# What is compared: each reads an abstract and gives what it found, with what people marked in that sentence


def carrel(abstract: Abstract) -> Iterator[Found]:
    yield from _extracted(abstract, known_terms(abstract))


def given_terms(abstract: Abstract) -> Iterator[Found]:
    known = {key(name): name for sentence in abstract.sentences for name in sentence.marked}
    for found in _extracted(abstract, known):
        if key(found.triple.subject) in known and key(found.triple.object) in known:
            yield found


def co_occurring(abstract: Abstract) -> Iterator[Found]:
    known = known_terms(abstract)
    for sentence, phrases in _phrases(abstract):
        names = dict.fromkeys(known[key(phrase)] for phrase in phrases if key(phrase) in known)
        yield from _paired(abstract, sentence, combinations(names, 2), known)


def adjacent(abstract: Abstract) -> Iterator[Found]:
    for sentence, phrases in _phrases(abstract):
        yield from _paired(abstract, sentence, pairwise(phrases), {})


def known_terms(abstract: Abstract) -> dict[str, str]:
    known: dict[str, str] = {}
    for concept in terms.extract([_chunk(abstract.text)], None).concepts:
        for name in (concept.name, *concept.aliases):
            known.setdefault(key(name), concept.name)
    return known


def _chunk(text: str) -> Chunk:
    return Chunk("a/abstract", "a", Part.ABSTRACT, ChunkKind.ABSTRACT, text, 0, len(text))


def _extracted(abstract: Abstract, known: Mapping[str, str]) -> Iterator[Found]:
    chunk = _chunk(abstract.text)
    cues = {(span.start, said.subject, said.predicate, said.object): said.cue for span, said in stated_in(chunk, known)}
    for triple in extract(chunk, known):
        wanted = marked_in(abstract, triple.start, triple.end, known)
        cue = cues[triple.start, triple.subject, triple.predicate, triple.object]
        yield Found(triple.evidence, Stated(triple.subject, triple.predicate, triple.object), wanted, cue)


def _paired(
    abstract: Abstract, sentence: Sentence, pairs: Iterable[tuple[str, str]], known: Mapping[str, str]
) -> Iterator[Found]:
    wanted = marked_in(abstract, sentence.start, sentence.end, known)
    for first, second in pairs:
        yield Found(abstract.text[sentence.start : sentence.end], Stated(second, Predicate.USES, first), wanted)


def _phrases(abstract: Abstract) -> Iterator[tuple[Sentence, list[str]]]:
    for sentence in abstract.sentences:
        text = abstract.text[sentence.start : sentence.end]
        yield sentence, [text[span.start : span.end] for span in noun_phrases(text)]


def marked_in(abstract: Abstract, start: int, end: int, known: Mapping[str, str]) -> list[Stated]:
    """What people marked in the sentences that a piece of the text lies in; aliases as the concept's name."""
    return [
        Stated(_named(one.subject, known), one.predicate, _named(one.object, known))
        for sentence in abstract.sentences
        if sentence.start < end and start < sentence.end
        for one in sentence.stated
    ]


def _named(name: str, known: Mapping[str, str]) -> str:
    return known.get(key(_IN_BRACKETS.sub("", name)), name)


WAYS: dict[str, Callable[[Abstract], Iterable[Found]]] = {
    "carrel": carrel,
    "marked terms": given_terms,
    "co-occurrence": co_occurring,
    "adjacent": adjacent,
}


def rows(read: Sequence[Abstract], way: str) -> Iterator[str]:
    found = [one for abstract in read for one in WAYS[way](abstract)]
    yield _row(way, "all", [one for one in found if one.triple.predicate in JUDGED], read, JUDGED)
    for predicate in JUDGED:
        kept = (
            found
            if way in {"co-occurrence", "adjacent"}
            else [one for one in found if one.triple.predicate == predicate]
        )
        said = [one._replace(triple=one.triple._replace(predicate=predicate)) for one in kept]
        yield _row(way, predicate, said, read, (predicate,))
    others = Counter(one.triple.predicate for one in found if one.triple.predicate not in JUDGED)
    yield from (f"| {way} | {predicate} | {count} | not judged | | | |" for predicate, count in sorted(others.items()))


def _row(way: str, name: str, found: Sequence[Found], read: Sequence[Abstract], of: Sequence[Predicate]) -> str:
    exact, near, partly = (sum(is_right(one, same) for one in found) for same in (strict, by_head, by_overlap))
    wanted = sum(one.predicate in of for abstract in read for sentence in abstract.sentences for one in sentence.stated)
    count = max(1, len(found))
    low, high = interval(partly, count)
    precisions = f"{partly / count:.3f} ({low:.2f}–{high:.2f}) | {near / count:.3f} | {exact / count:.3f}"
    return f"| {way} | {name} | {len(found)} | {precisions} | {partly / wanted:.3f} |"


def interval(right: int, count: int) -> tuple[float, float]:
    """Wilson's, 95 %."""
    share, square = right / count, 1.96**2
    middle, half = share + square / (2 * count), 1.96 * math.sqrt((share * (1 - share) + square / (4 * count)) / count)
    return (middle - half) / (1 + square / count), (middle + half) / (1 + square / count)


def cues(read: Sequence[Abstract]) -> Iterator[str]:
    by_cue: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for one in (one for abstract in read for one in carrel(abstract) if one.triple.predicate in JUDGED):
        by_cue[one.triple.predicate, one.cue].append(one)
    for (predicate, cue), found in sorted(by_cue.items()):
        yield f"{predicate:12} {cue:20} {len(found):4} {sum(is_right(one, by_head) for one in found) / len(found):.2f}"


def wrong(read: Sequence[Abstract], most: int) -> Iterator[str]:
    found = (one for abstract in read for one in carrel(abstract) if one.triple.predicate in JUDGED)
    for one in [one for one in found if not is_right(one, by_head)][:most]:
        yield f"{' | '.join(one.triple)}   ({one.cue})\n    {one.sentence}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", default="dev", choices=["train", "dev"])
    parser.add_argument("--cues", action="store_true", help="also show how often each cue is right")
    parser.add_argument(
        "--wrong", type=int, default=0, metavar="N", help="also show N triples that people did not mark"
    )
    chosen = parser.parse_args()
    read = list(abstracts(chosen.data, chosen.split))
    print(f"SciERC {chosen.split}: {len(read)} abstracts\n")
    print("| way | predicate | triples | precision: overlap (95 %) | head | strict | recall: overlap |")
    print("|---|---|---|---|---|---|---|")
    for way in WAYS:
        print("\n".join(rows(read, way)))
    print("\n".join([*(cues(read) if chosen.cues else ()), *wrong(read, chosen.wrong)]))


if __name__ == "__main__":
    main()
