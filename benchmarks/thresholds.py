"""Where another model is as strict as MiniLM is at 0.3 (loose), 0.5 (moderate) and 0.7 (strict).

    python -m benchmarks.thresholds ../shared/data/retrieval

As strict means: as many pairs of a question and a document taken at random reach the threshold. Beside it, how many of
the pairs that were judged relevant do.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import collections
from carrel.embedders.granite import Granite
from carrel.embedders.minilm import MiniLM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from carrel.embedders import Embedder

COLLECTIONS = ("scifact", "cranfield", "cp_algorithms")
DOCUMENTS = 600
QUERIES = 150
LEVELS = (0.3, 0.5, 0.7)


def similarities(
    collection: collections.Collection, embedder: Embedder
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Of every question with every document, and which pairs are relevant."""
    random = np.random.default_rng(0)
    queries = [sorted(collection.relevant)[i] for i in random.permutation(len(collection.relevant))[:QUERIES]]
    wanted = {document for query in queries for document in collection.relevant[query]}
    others = [chunk for chunk in collection.chunks if chunk.address not in wanted]
    chunks = [chunk for chunk in collection.chunks if chunk.address in wanted]
    chunks += [others[i] for i in random.permutation(len(others))[: max(0, DOCUMENTS - len(chunks))]]
    passages = embedder.embed_passages([chunk.embedded_text[:2000] for chunk in chunks])
    asked = np.stack([embedder.embed_query(collection.queries[query]) for query in queries])
    relevant = [[chunk.address in collection.relevant[query] for chunk in chunks] for query in queries]
    return asked @ passages.T, np.array(relevant)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    random: dict[str, list[NDArray[np.float32]]] = {"minilm": [], "granite": []}
    judged: dict[str, list[NDArray[np.float32]]] = {"minilm": [], "granite": []}
    for name in COLLECTIONS:
        collection = collections.load(options.data / name)
        for model, embedder in (("minilm", MiniLM()), ("granite", Granite())):
            found, relevant = similarities(collection, embedder)
            random[model].append(found[~relevant])
            judged[model].append(found[relevant])
        print(name, f"{len(random['minilm'][-1]):,} pairs", flush=True)
    print("minilm  granite   random pairs above   relevant pairs above: minilm  granite")
    for level in LEVELS:
        share = np.mean([np.mean(found >= level) for found in random["minilm"]])
        other = float(np.mean([np.quantile(found, 1 - share) for found in random["granite"]]))
        kept = [
            np.mean([np.mean(found >= at) for found in judged[m]]) for m, at in (("minilm", level), ("granite", other))
        ]
        print(f"{level:6.2f} {other:8.3f} {share:20.5f} {kept[0]:28.3f} {kept[1]:8.3f}")


if __name__ == "__main__":
    main()
