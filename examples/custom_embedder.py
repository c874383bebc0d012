"""An embedder in one file, as docs/architecture.md describes: texts compared by their letters.

    python examples/custom_embedder.py

It finds little of interest, but it is whole: it can be used by `Library.open(…, embedder=LetterEmbedder())`, or
published in a package under the entry-point group `carrel.embedders` and chosen by
`carrel config set embedder letters`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from carrel import Library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Matrix, Vector


class LetterEmbedder:
    """How often each letter of the alphabet occurs."""

    name = "letters"
    dim = 27
    max_tokens = 1_000_000

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        rows = [self.embed_query(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dim), dtype=np.float32)

    def embed_query(self, text: str) -> Vector:
        letters = [ord(letter) - ord("a") for letter in text.lower() if "a" <= letter <= "z"]
        # The last place is never empty, so that a text without letters has a direction too.
        counts = np.bincount([*letters, self.dim - 1], minlength=self.dim).astype(np.float32)
        vector: Vector = counts / np.linalg.norm(counts)
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


def main() -> None:
    embedder = LetterEmbedder()
    with tempfile.TemporaryDirectory() as folder, Library.init(folder, embedder=embedder) as library:
        notes = Path(folder) / "zebras.md"
        notes.write_text("# Zebras\n\nA zebra gazes lazily at a dozen buzzing bees.\n", encoding="utf-8")
        library.add(notes)
        for passage in library.search("zzz", mode="vector").passages:
            similarity = passage.fused.arms["vector"].score
            print(f"{similarity:.3f}  {passage.chunk.address}")


if __name__ == "__main__":
    main()
