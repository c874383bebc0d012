"""The library that docs/images shows: the demo's papers, that of the page's tests, and a primer with figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import Image, ImageDraw
from tests.web import shelf

from carrel import Library

if TYPE_CHECKING:
    from pathlib import Path

CONCEPT = "dense retrieval"
_TEXT = """---
id: finding-papers-primer
title: "Finding Papers: A Primer on Retrieval for Researchers"
authors: ["Ada Stone", "Bo Rock"]
year: 2024
venue: "Notes on Reading"
tags: [retrieval, evaluation, primer]
---

# Finding Papers: A Primer on Retrieval for Researchers

## Abstract

A researcher's library is small enough to be searched exactly and large enough to be forgotten. This primer explains
how passages are found by their words and by their meaning, and how the two are put together. It closes with how to tell
whether a search is any good.

## 1 Searching by words

Lexical retrieval uses an inverted index. An inverted index consists of posting lists. BM25 is a ranking function that
weighs how often a word occurs. BM25 is based on term frequency and on inverse document frequency. Stemming is part of
text analysis. Text analysis consists of tokenisation and stemming. Lexical retrieval is used for known-item search.
Query expansion uses relevance feedback.

![Figure 1: Share of questions whose answer is among the first k passages](found.png)

Figure 1: Share of questions whose answer is among the first k passages, by words, by meaning and by both

As Figure 1 shows, neither way is enough by itself, and the two miss different questions.

## 2 Searching by meaning

Dense retrieval uses sentence embeddings. Dense retrieval is based on nearest neighbour search. Sentence embeddings are
based on pretrained language models. Contrastive learning is used for sentence embeddings. Contrastive learning uses
hard negatives. Nearest neighbour search is based on cosine similarity. HNSW is an implementation of approximate nearest
neighbour search. Product quantization is part of vector compression. Late interaction models such as ColBERT keep a
vector for each token. Unlike lexical retrieval, dense retrieval finds passages that share no word with the question.

![Figure 2: Milliseconds for a query against the number of passages](time.png)

Figure 2: Milliseconds for a query against the number of passages, for exact and approximate search

Figure 2 shows that a library of ten thousand papers needs no approximation at all.

## 3 Putting them together

Hybrid retrieval consists of dense retrieval and lexical retrieval. Hybrid retrieval uses rank fusion. Reciprocal rank
fusion is an example of rank fusion. Reranking uses a cross-encoder. A cross-encoder is based on pretrained language
models. Understanding reranking requires knowledge of hybrid retrieval. Question answering builds on hybrid retrieval.
Question answering uses reranking. Dense retrieval requires knowledge of sentence embeddings.

Table 1: What each step adds

| Step | Recall at 10 | Time |
|---|---|---|
| words | 0.71 | 2 ms |
| meaning | 0.78 | 9 ms |
| both | 0.88 | 12 ms |
| both, reranked | 0.93 | 31 ms |

## 4 Judging a search

Recall is part of retrieval evaluation. Retrieval evaluation uses relevance judgements. Pooling is used for relevance
judgements. Mean reciprocal rank is a measure that looks at the first good passage only. Normalised discounted
cumulative gain is compared to mean reciprocal rank.

![Figure 3: What became of two hundred questions](fate.png)

Figure 3: What became of two hundred questions, by how sure the answer was said to be

A search that says how sure it is can be trusted where it is sure. Figure 3 counts how often it should not have been.
"""
_INK, _LINE, _PAPER = "#1d2126", "#d9d5ca", "#ffffff"
_COLOURS = ("#0b5cad", "#c2410c", "#0a7d5a")
_SCALE = 3
_WIDTH, _HEIGHT, _MARGIN = 640, 400, 48


def fill(folder: Path) -> None:
    shelf.fill(folder)
    _curves([(0.42, 0.58, 0.66, 0.71, 0.73), (0.36, 0.57, 0.69, 0.76, 0.8), (0.5, 0.71, 0.81, 0.87, 0.9)]).save(
        folder / "found.png"
    )
    _curves([(0.03, 0.08, 0.2, 0.45, 0.95), (0.04, 0.06, 0.08, 0.1, 0.12)]).save(folder / "time.png")
    _bars([(0.92, 0.05), (0.7, 0.2), (0.3, 0.42)]).save(folder / "fate.png")
    (folder / "primer.md").write_text(_TEXT, encoding="utf-8")
    with Library.open(folder) as library:
        library.add(folder / "primer.md")


def _canvas() -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """Three times as large as it will be, so that its lines become smooth; with an axis at the left and at the foot."""
    image = Image.new("RGB", (_WIDTH * _SCALE, _HEIGHT * _SCALE), _PAPER)
    draw = ImageDraw.Draw(image)
    for level in range(5):
        draw.line([_at(0, level / 4), _at(1, level / 4)], _LINE, _SCALE)
    draw.line([_at(0, 1), _at(0, 0), _at(1, 0)], _INK, 2 * _SCALE)
    return image, draw


def _at(right: float, up: float) -> tuple[float, float]:
    inner = (_WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN)
    return (_MARGIN + right * inner[0]) * _SCALE, (_HEIGHT - _MARGIN - up * inner[1]) * _SCALE


def _curves(series: list[tuple[float, ...]]) -> Image.Image:
    image, draw = _canvas()
    for colour, values in zip(_COLOURS, series, strict=False):
        points = [_at(0.06 + 0.88 * place / (len(values) - 1), value) for place, value in enumerate(values)]
        draw.line(points, colour, 3 * _SCALE, joint="curve")
        for point in points:
            draw.circle(point, 5 * _SCALE, _PAPER, colour, 3 * _SCALE)
    return image.resize((_WIDTH, _HEIGHT), Image.Resampling.LANCZOS)


def _bars(groups: list[tuple[float, ...]]) -> Image.Image:
    image, draw = _canvas()
    for place, group in enumerate(groups):
        for beside, (colour, value) in enumerate(zip(_COLOURS, group, strict=False)):
            left = 0.1 + place * 0.3 + beside * 0.1
            draw.rectangle([_at(left, value), _at(left + 0.085, 0)], colour)
    return image.resize((_WIDTH, _HEIGHT), Image.Resampling.LANCZOS)
