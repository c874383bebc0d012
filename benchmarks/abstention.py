"""Whether the best passage's probability tells claims that have evidence from claims that have none.

    python -m benchmarks.abstention ../shared/data/retrieval/scifact [--work .bench]

SciFact's validation claims. Those without evidence are hard ones: the abstract that their authors cite is in the corpus
and on the very subject, but neither supports nor contradicts them. A claim is answered if its best passage reaches the
threshold. An answer is wrong if there is no evidence for the claim at all, or not in the paper of that passage.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import collections
from benchmarks.fit_fused import auroc
from carrel.rerankers.fused import Fused

THRESHOLDS = (0.4, 0.6, 0.8)
SPLIT = "validation"


class Claim(NamedTuple):
    text: str
    evidence: frozenset[str]
    """Documents that support or contradict it; none where there is not enough information."""


def claims(folder: Path) -> list[Claim]:
    with gzip.open(folder / "claims.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [record for record in map(json.loads, file) if record["split"] == SPLIT]
    return [Claim(one["claim"], frozenset(found["doc_id"] for found in one["evidence"])) for one in records]


class Asked(NamedTuple):
    probability: float
    has_evidence: bool
    is_right: bool


def ask(claim: Claim, index: collections.Index) -> Asked:
    best = index.search(claim.text, reranker=Fused()).passages[0]
    return Asked(best.score, bool(claim.evidence), best.chunk.paper_id in claim.evidence)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    options = parser.parse_args()
    index = collections.index(collections.load(options.data), options.work)
    asked = [ask(claim, index) for claim in claims(options.data)]
    yes, no = ([one.probability for one in asked if one.has_evidence is wanted] for wanted in (True, False))
    right, wrong = ([one.probability for one in asked if one.is_right is wanted] for wanted in (True, False))
    print(f"{len(yes)} claims with evidence, {len(no)} without")
    print(f"AUROC: with evidence or without {auroc(yes, no):.3f}; best passage right or not {auroc(right, wrong):.3f}")
    print("| threshold | answered, with evidence | answered, without | wrong among answered |\n|---:|---:|---:|---:|")
    for threshold in THRESHOLDS:
        answered = [one for one in asked if one.probability >= threshold]
        risk = np.mean([not one.is_right for one in answered]) if answered else float("nan")
        shares = [np.mean(np.array(part) >= threshold) for part in (yes, no)]
        print(f"| {threshold} | {shares[0]:.2f} | {shares[1]:.2f} | {risk:.2f} |")


if __name__ == "__main__":
    main()
