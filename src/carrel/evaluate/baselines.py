"""Figures that others have published for a collection, read from a BASELINES.tsv beside it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from carrel.evaluate import lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FILE = "BASELINES.tsv"
_ABOVE = 2
"""How many folders above the collection's the file may lie."""
_COLUMNS = {"nDCG@10": "ndcg@10", "R@10": "recall@10", "R@100": "recall@100", "MRR@10": "mrr@10", "MAP@100": "map"}


@dataclass(frozen=True, slots=True)
class Published:
    """Read, not measured."""

    name: str
    metrics: Mapping[str, float]


def find(folder: Path, *, documents: int, queries: int) -> tuple[Published, ...]:
    """The line of the collection that a folder holds, if it is told for as many documents and queries as there are."""
    home = folder.resolve()
    for place in (home, *home.parents[:_ABOVE]):
        if (place / FILE).is_file():
            return tuple(_read(place / FILE, home.name, documents, queries))
    return ()


def _read(path: Path, collection: str, documents: int, queries: int) -> Iterator[Published]:
    text = [line for _, line in lines.read(path)]
    system = text[0].lstrip("# ").split()[0] if text and text[0].startswith("#") else "baseline"
    for record in csv.DictReader((line for line in text if not line.startswith("#")), delimiter="\t"):
        size = (record.get("docs"), record.get("queries"))
        metrics = {
            ours: value for theirs, ours in _COLUMNS.items() if (value := _number(record.get(theirs))) is not None
        }
        if record.get("collection") == collection and size == (str(documents), str(queries)) and "ndcg@10" in metrics:
            yield Published(f"{system} (published)", metrics)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if isfinite(value) else None
