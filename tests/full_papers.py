"""Full papers to test with: chapters, figures on pages, a bibliography; put into a library as a parser would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from carrel import Library, chunking
from carrel.catalogs import Entry
from carrel.chunking import Limits
from carrel.parsers.building import Builder
from carrel.types import (
    Author,
    BlockKind,
    Box,
    Cited,
    Document,
    ExhibitKind,
    Paper,
    Part,
    Published,
    Reference,
)

LIMITS = Limits(least=1, target=20, most=40)
CITED = (
    Cited("Smith. A great work on graphs. 2019.", "A great work on graphs", "10.1000/GREAT", 2019),
    Cited("Jones. Another matter entirely. 2018.", "Another matter entirely", "", 2018),
    Cited("Personal communication."),
)


def reference(paper_id: str = "trees", title: str = "Segment trees in practice", **fields: Any) -> Reference:
    facts: dict[str, Any] = {
        "authors": (Author("Yu", "Tim"), Author("Müller", "Ana")),
        "published": Published(2021),
        "venue": "Journal of Trees",
        "tags": ("graphs", "read"),
        **fields,
    }
    return Reference(id=paper_id, title=title, **facts)


def paper(record: Reference, *, cited: Sequence[Cited] = CITED, image: str = "") -> Paper:
    """Three chapters of one to three sections, a figure, a table and an algorithm."""
    builder = Builder()
    builder.put_heading(record.title, 1)
    builder.put(BlockKind.TEXT, "Some words before any chapter begins.", boxes=[_box(1, 10)])
    builder.put_heading("Introduction", 2)
    builder.put(BlockKind.TEXT, "Trees answer range queries. They are drawn in Fig. 1.", boxes=[_box(1, 20)])
    builder.put_heading("Methods", 2)
    builder.put(BlockKind.TEXT, "Every node keeps a sum, says Figure 1. " * 3, boxes=[_box(2, 10)])
    builder.put(BlockKind.TEXT, "Updates walk from the leaf upwards to the root. " * 3, boxes=[_box(2, 20)])
    start = builder.position
    builder.put(BlockKind.FIGURE, "![A drawing of a tree](tree.png)")
    builder.put(BlockKind.CAPTION, "Figure 1: A segment tree over eight leaves.", boxes=[_box(2, 40)])
    builder.exhibit(
        ExhibitKind.FIGURE,
        start,
        caption="Figure 1: A segment tree over eight leaves.",
        description="A drawing of a tree",
        image=image,
        box=_box(2, 30),
    )
    builder.put_heading("Complexity", 3)
    builder.put(BlockKind.TEXT, "Both take logarithmic time, as Table 1 shows.", boxes=[_box(3, 10)])
    start = builder.position
    builder.put(BlockKind.CAPTION, "Table 1: Measured seconds.", boxes=[_box(3, 20)])
    builder.put(BlockKind.TABLE, "| n | seconds |\n|---|---|\n| 8 | 0.1 |", boxes=[_box(3, 30)])
    builder.exhibit(ExhibitKind.TABLE, start, caption="Table 1: Measured seconds.")
    builder.put_heading("Results", 2)
    builder.put(BlockKind.TEXT, "It is fast.", boxes=[_box(4, 10)])
    start = builder.position
    builder.put(BlockKind.CAPTION, "Algorithm 1: The update of a leaf.")
    builder.put(BlockKind.CODE, "while leaf: leaf = parent(leaf)")
    builder.exhibit(ExhibitKind.ALGORITHM, start, caption="Algorithm 1: The update of a leaf.")
    builder.put_heading("References", 2)
    for entry in cited:
        builder.put_cited(entry)
    return builder.paper(record, format="test", language="en")


def put(library: Library, *papers: Paper, source: str = "") -> None:
    """Into the catalog and every index."""
    library.stores.catalog.put([_entry(one, library, source) for one in papers])
    library.build_index()


def full_library(library: Library, *ids: str) -> Library:
    put(library, *(paper(reference(paper_id, f"Segment trees of {paper_id}")) for paper_id in ids))
    return library


def _entry(one: Paper, library: Library, source: str) -> Entry:
    chunks = chunking.split(one, count_tokens=library.embedder.count_tokens, limits=LIMITS)
    document = Document(one.reference.id, Part.BODY, one.text, f"digest of {one.reference.id}", source, one.format)
    return Entry(one.reference, document, chunks, exhibits=one.exhibits, cited=one.cited, places=one.places)


def _box(page: int, top: float) -> Box:
    return Box(page, 10.0, top, 90.0, top + 8)
