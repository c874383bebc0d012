"""Whether Carrel refuses what a library cannot answer, and answers what it can.

    python -m benchmarks.abstention ../shared/data/retrieval [--work .bench] [--sample N] [--plot FILE]

Asked are parts that no numbers were fitted on; features, the assumed share of answerable questions and the threshold
were settled with their figures in view. Answerable: SciFact's validation claims with evidence, and the second half of
pubmedqa_train. Near: the same questions without the documents that answer them, and SciFact's claims without
evidence, whose cited abstract is there and on the very subject. Unrelated: the queries of cp_algorithms, asked of both;
every other one had a part in the fitting, and the rest are shown apart.

A question is answered if the probability that what was found holds an answer reaches the threshold. An answer is wrong
if no document that answers the question is among the passages it draws on.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks import collections
from benchmarks.fit_certainty import evidence
from benchmarks.fit_fused import auroc, load
from carrel.answer.certainty import certainty
from carrel.answer.evidence import select
from carrel.evaluate import plots
from carrel.evaluate.intervals import bootstrap
from carrel.rerankers.fused import Fused
from carrel.settings import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.8)
TOP = Answer().top_k
COVERAGES = (0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
NOTHING = frozenset[str]()


class Asked(NamedTuple):
    likely: float
    holds: bool
    """Whether a document that answers it is among the passages."""


class Group(NamedTuple):
    """Questions of one kind, asked of one library."""

    name: str
    asked: Sequence[Asked]

    @property
    def library(self) -> str:
        return self.name.split(":")[0]

    @property
    def is_answerable(self) -> bool:
        return self.name.endswith(": answerable")


def ask(index: collections.Index, text: str, answering: frozenset[str], without: frozenset[str] = NOTHING) -> Asked:
    passages = index.search(text, reranker=Fused(), without=without).passages[:TOP]
    excerpts = select(text, passages, index.embedder)
    likely = certainty(text, passages, excerpts, embedder=index.embedder.name).probability or 0.0
    return Asked(likely, any(one.chunk.paper_id in answering for one in passages))


def groups(
    index: collections.Index, answers: Mapping[str, frozenset[str]], strangers: Mapping[str, str]
) -> Iterable[Group]:
    """The questions of a collection with their answers and without, and those of another."""
    name, texts = index.collection.name, index.collection.queries
    having = {query: answering for query, answering in answers.items() if answering}
    yield Group(f"{name}: answerable", [ask(index, texts[one], found) for one, found in having.items()])
    left_out = [ask(index, texts[one], found, found) for one, found in having.items()]
    yield Group(f"{name}: answer left out", left_out)
    if lacking := [query for query in answers if query not in having]:
        yield Group(f"{name}: no evidence", [ask(index, texts[one], NOTHING) for one in lacking])
    foreign = [ask(index, text, NOTHING) for text in strangers.values()]
    yield Group(f"{name}: unrelated", foreign)
    yield Group(f"{name}: unrelated, not fitted on", foreign[1::2])


def gather(data: Path, work: Path, sample: int | None) -> list[Group]:
    scifact, pubmedqa, strangers = (load(data, name) for name in ("scifact", "pubmedqa_train", "cp_algorithms"))
    claims = {query: found for query, found in evidence(data / "scifact").items() if query in scifact.queries}
    half = list(pubmedqa.queries)[len(pubmedqa.queries) // 2 :]
    questions = {query: frozenset(pubmedqa.relevant[query]) for query in half}
    return [
        group
        for collection, answers in ((scifact, claims), (pubmedqa, questions))
        for group in groups(collections.index(collection, work), _drawn(answers, sample), strangers.queries)
    ]


def _drawn(answers: Mapping[str, frozenset[str]], sample: int | None) -> dict[str, frozenset[str]]:
    order = np.random.default_rng(0).permutation(len(answers))[:sample]
    chosen = [list(answers)[place] for place in sorted(order.tolist())]
    return {query: answers[query] for query in chosen}


def refusals(found: Sequence[Group]) -> None:
    thresholds = " | ".join(f"{threshold:g}" for threshold in THRESHOLDS)
    print(f"Share refused at each threshold; 95 % interval at {Answer().threshold:g}, the default.\n")
    print(f"| questions | asked | {thresholds} | 95 % |\n|---|---:|{'---:|' * len(THRESHOLDS)}---|")
    for group in found:
        refused = [[float(one.likely < threshold) for one in group.asked] for threshold in THRESHOLDS]
        low, high = bootstrap(refused[THRESHOLDS.index(Answer().threshold)])
        shares = " | ".join(f"{np.mean(one):.3f}" for one in refused)
        print(f"| {group.name} | {len(group.asked)} | {shares} | {low:.3f}–{high:.3f} |")


def areas(found: Sequence[Group]) -> None:
    """How often an answerable question is called likelier than one of each other kind."""
    print("\n| answerable or | AUROC |\n|---|---:|")
    for group in found:
        yes = next(one for one in found if one.is_answerable and one.library == group.library)
        if not group.is_answerable:
            print(f"| {group.name} | {auroc(*([one.likely for one in part.asked] for part in (yes, group))):.3f} |")


def risks(found: Sequence[Group]) -> list[plots.Line]:
    """Of the surest questions, how many are answered wrongly: answerable and near ones together, as many of each."""
    drawn: list[plots.Line] = []
    print("\n| share answered, surest first | " + " | ".join(f"{one:g}" for one in COVERAGES) + " |")
    print(f"|---|{'---:|' * len(COVERAGES)}")
    for group in found:
        if group.is_answerable or "unrelated" in group.name:
            continue
        yes = next(one for one in found if one.is_answerable and one.library == group.library)
        mixed = [*yes.asked, *group.asked]
        risk = _risk(mixed)
        shown = [risk[max(0, round(share * len(risk)) - 1)] for share in COVERAGES]
        print(f"| {group.name} | " + " | ".join(f"{one:.2f}" for one in shown) + " |")
        points = [((place + 1) / len(risk), value) for place, value in enumerate(risk)]
        drawn.append(plots.Line(group.name, tuple(points[len(points) // 20 :])))
    return drawn


def _risk(asked: Sequence[Asked]) -> list[float]:
    surest = sorted(asked, key=lambda one: -one.likely)
    wrong = np.cumsum([not one.holds for one in surest])
    return list((wrong / np.arange(1, len(surest) + 1)).tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--sample", type=int, help="questions of each collection, drawn at random")
    parser.add_argument("--plot", type=Path, help="draw the risk–coverage curve of the near questions")
    options = parser.parse_args()
    found = gather(options.data, options.work, options.sample)
    refusals(found)
    areas(found)
    drawn = risks(found)
    if options.plot:
        options.plot.write_text(plots.lines("wrong among answered", "share answered", drawn), encoding="utf-8")


if __name__ == "__main__":
    main()
