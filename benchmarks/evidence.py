"""Whether what an answer quotes is what experts would have pointed at.

    python -m benchmarks.evidence ../shared/data/retrieval [--work .bench] [--sample N] [--part train]

SciFact: claims of the validation part that have evidence, asked of all 5,183 abstracts; right if one of the first three
quotes of the extractive answer has a sentence that experts marked. `--part train` takes the train claims, which
the weights in `carrel/answer/evidence.py` were chosen on.

COVID-QA: questions asked within their paper, cut into chunks; right if the first three quotes contain the whole
answer, by its place in the text. Nothing was chosen by these.

Beside it: the first three sentences of the chunk that the search puts first, of the one that BM25 puts first, and that
one's best three by BM25.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks import collections
from carrel import sentences, words
from carrel.answer import evidence
from carrel.answer.certainty import certainty
from carrel.evaluate.intervals import bootstrap
from carrel.generators.extractive import Extractive
from carrel.rerankers.fused import Fused
from carrel.settings import Answer
from carrel.types import EVERYTHING, Chunk, Filter, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from carrel.types import Excerpt, Passage

QUOTED = 3
TOP = Answer().top_k
_K1, _B = 1.2, 0.75


class Quote(NamedTuple):
    """A sentence that would be shown."""

    chunk: Chunk
    span: Span


class Question(NamedTuple):
    text: str
    gold: Mapping[str, Sequence[Span]]
    """Paper → where it says so; any of them is right."""
    where: Filter = EVERYTHING


def quoted(passages: Sequence[Passage], excerpts: Sequence[Excerpt]) -> list[list[Quote]]:
    """The extractive answer's quotes, in its order: a sentence each, or two where one leans on the other."""
    return [_sentences(passages[one.excerpt.number - 1].chunk, one.span) for one in Extractive().chosen(excerpts)]


def _sentences(chunk: Chunk, span: Span) -> list[Quote]:
    inside = (one for one in sentences.prose(chunk.text) if span.start <= one.start and one.end <= span.end)
    return [Quote(chunk, one) for one in inside]


def first_of(chunk: Chunk) -> list[Quote]:
    return [Quote(chunk, span) for span in sentences.prose(chunk.text)[:QUOTED]]


def best_of(question: str, chunk: Chunk) -> list[Quote]:
    """By BM25 among its sentences."""
    spans = sentences.prose(chunk.text)
    counts = [Counter(words.stems(chunk.text[span.start : span.end])) for span in spans]
    usual = sum(count.total() for count in counts) / max(len(counts), 1)
    scores = [sum(_bm25(stem, one, counts, usual) for stem in set(words.stems(question))) for one in counts]
    order = sorted(range(len(spans)), key=lambda place: (-scores[place], place))
    return [Quote(chunk, spans[place]) for place in order[:QUOTED]]


def _bm25(stem: str, one: Counter[str], counts: Sequence[Counter[str]], usual: float) -> float:
    having = sum(stem in count for count in counts)
    rarity = math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))
    return rarity * one[stem] * (_K1 + 1) / (one[stem] + _K1 * (1 - _B + _B * one.total() / usual))


def marked(question: Question, shown: Sequence[Quote]) -> bool:
    """Whether a sentence is one that was marked: sentences may be cut differently here and there."""
    return any(
        2 * (min(gold.end, one.span.end) - max(gold.start, one.span.start)) >= gold.end - gold.start
        for one in shown
        for gold in question.gold.get(one.chunk.paper_id, ())
    )


def contained(question: Question, shown: Sequence[Quote]) -> bool:
    """Whether the sentences together have every letter of a gold span."""
    for one in shown:
        for gold in question.gold.get(one.chunk.paper_id, ()):
            kept = {place for each in shown for place in range(*_placed(each))}
            text = {place for place in range(gold.start, gold.end) if not _blank(one.chunk, place)}
            if text <= kept:
                return True
    return False


def _placed(quote: Quote) -> tuple[int, int]:
    return quote.chunk.start + quote.span.start, quote.chunk.start + quote.span.end


def _blank(chunk: Chunk, place: int) -> bool:
    return chunk.start <= place < chunk.end and chunk.text[place - chunk.start].isspace()


def measure(
    index: collections.Index, asked: Sequence[Question], right: Callable[[Question, Sequence[Quote]], bool]
) -> dict[str, list[float]]:
    """Way → whether it was right, question by question."""
    found: dict[str, list[float]] = {}
    for question in asked:
        result = index.search(question.text, reranker=Fused(), where=question.where)
        passages = result.passages[:TOP]
        excerpts = evidence.select(question.text, passages, index.embedder)
        told = quoted(passages, excerpts)
        shown = list(chain(*told[:QUOTED]))
        many = max(result.counts.values(), default=0)
        known = certainty(question.text, passages, excerpts, embedder=index.embedder.name, candidates=many)
        sure = known.probability or 0.0
        first = index.keywords.search(question.text, limit=1, where=question.where)
        by_words = index.by_address[first[0].address] if first else passages[0].chunk
        ways = {
            "first three quotes of the answer": shown,
            "the same, refusals counted as wrong": shown if sure >= Answer().threshold else [],
            "first three sentences of these": list(chain(*told))[:QUOTED],
            "first three of the top chunk": first_of(passages[0].chunk),
            "first three of BM25's top chunk": first_of(by_words),
            "best three of BM25's top chunk": best_of(question.text, by_words),
            "bound: the right passage is among those used": [
                Quote(one.chunk, span) for one in passages for span in sentences.spans(one.chunk.text)
            ],
        }
        for name, quotes_shown in ways.items():
            found.setdefault(name, []).append(float(right(question, quotes_shown)))
    return found


def report(title: str, found: Mapping[str, Sequence[float]]) -> None:
    print(f"\n{title}: {len(next(iter(found.values())))} questions\n\n| quotes | right | 95 % |\n|---|---:|---|")
    for name, scores in found.items():
        low, high = bootstrap(scores)
        print(f"| {name} | {np.mean(scores):.3f} | {low:.3f}–{high:.3f} |")


def scifact(folder: Path, part: str) -> list[Question]:
    texts = {record["_id"]: record["text"] for record in _records(folder / "corpus.jsonl.gz")}
    cut = {record["_id"]: record["sentences"] for record in _records(folder / "sentences.jsonl.gz")}
    return [
        Question(
            claim["claim"],
            {
                one["doc_id"]: [_spans(texts[one["doc_id"]], cut[one["doc_id"]])[number] for number in one["sentences"]]
                for one in claim["evidence"]
            },
        )
        for claim in _records(folder / "claims.jsonl.gz")
        if claim["split"] == part and claim["evidence"]
    ]


def _spans(text: str, cut: Sequence[str]) -> list[Span]:
    spans, end = [], 0
    for sentence in map(str.strip, cut):
        start = text.index(sentence, end)
        end = start + len(sentence)
        spans.append(Span(start, end))
    return spans


def covidqa(folder: Path, known: Mapping[str, str]) -> list[Question]:
    return [
        Question(
            record["question"],
            {record["gold_doc"]: [Span(record["answer_start"], record["answer_end"])]},
            Filter(paper_ids=frozenset({record["gold_doc"]})),
        )
        for record in _records(folder / "qa.jsonl.gz")
        if record["id"] in known
    ]


def _records(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(map(json.loads, file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--sample", type=int, help="as many questions of each, drawn at random")
    parser.add_argument("--part", choices=["train", "validation"], default="validation", help="of SciFact's claims")
    options = parser.parse_args()

    def drawn(asked: Sequence[Question]) -> list[Question]:
        order = np.random.default_rng(0).permutation(len(asked))[: options.sample]
        return [asked[place] for place in sorted(order.tolist())]

    claims = collections.index(collections.load(options.data / "scifact"), options.work)
    name = f"SciFact, {options.part} claims with evidence"
    report(name, measure(claims, drawn(scifact(options.data / "scifact", options.part)), marked))
    if options.part == "train":
        return
    papers = collections.load_passages(options.data / "covidqa_dev")
    asked = drawn(covidqa(options.data / "covidqa_dev", papers.queries))
    report("COVID-QA, within the paper", measure(collections.index(papers, options.work), asked, contained))


if __name__ == "__main__":
    main()
