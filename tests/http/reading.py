"""A library with something of everything that can be read: texts, figures with pictures, tags, concepts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from carrel import Library
from carrel.testing import HashedWords
from tests.atlas.graphs import Written
from tests.saved_answers import put_records, record

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
SEDIMENT = """---
id: slash/sediment
title: On sediment
tags: [layers, water]
---

# Beds

## Origin

Sediment is what water leaves behind. A bed is a layer of sediment, and it may be as thin as a sheet of paper.

Figure 1 shows how a bed grows in still water, where nothing disturbs what sinks and every year leaves a layer.

![A river bed, cut open](bed.svg)

Figure 1: How a bed grows, layer by layer.

## Age

A lower bed is older than an upper bed. Stratigraphy is the study of beds. Stratigraphy uses beds to tell time.

Table 1: Ages of beds.

| bed | age |
|---|---|
| upper | 10 |
| lower | 20 |

# Ends

Erosion takes a bed away. Erosion is part of the rock cycle, and the rock cycle has no end.
"""
ROCKS = ("granite", "basalt", "gneiss", "marble", "slate", "chalk", "flint")


def written_into(library: Library) -> Written:
    """Who puts papers that make these statements of concepts into a library."""
    made = Written(library.stores.graph)
    made.catalog = library.stores.catalog  # type: ignore[assignment]
    return made


@contextmanager
def shelf(folder: Path, **settings: Any) -> Iterator[Library]:
    """Seven papers by their abstracts, one with its text and its figures."""
    small = {"chunking.min_tokens": 1, "chunking.target_tokens": 20, "chunking.max_tokens": 40}
    with Library.init(folder, embedder=HashedWords(), overrides=small | settings) as library:
        abstract = "{} is a rock that geologists find in beds and describe at length, by its colour and its weight."
        records = [
            record(name, abstract.format(name.capitalize()), tags=["rock", name[0]], published={"year": 2000 + number})
            for number, name in enumerate(ROCKS)
        ]
        put_records(library, *records)
        (folder / "sediment.md").write_text(SEDIMENT, encoding="utf-8")
        (folder / "bed.svg").write_text(SVG, encoding="utf-8")
        library.add(folder / "sediment.md")
        yield library
