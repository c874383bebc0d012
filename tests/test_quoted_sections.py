"""A quote names the section it stands in, also where a chunk covers several short ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel import Library
from carrel.testing import HashedWords

TEXT = """# Growing crystals

## 2 Method

Crystals were grown slowly from a saturated solution of alum, which was kept in the dark for three weeks.

## 3 Results

The largest crystal weighed 41 grams after three weeks in the dark.
"""
QUOTES = {"Crystals were grown slowly": ["2 Method"], "The largest crystal weighed": ["3 Results"]}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    # Vectors of hashed words make nobody sure.
    monkeypatch.setenv("CARREL_ANSWER__THRESHOLD", "0.01")
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        (tmp_path / "crystals.md").write_text(TEXT, encoding="utf-8")
        library.add(tmp_path / "crystals.md")
        yield library


def place_of(quote: str, library: Library) -> tuple[str, int]:
    """The only chunk there is, and where the quote begins in the text it is cut from."""
    (chunk,) = (one.chunk for one in library.search("crystals", mode="keyword").passages)
    assert chunk.section_path == ("2 Method",)
    return chunk.address, chunk.start + chunk.text.index(quote)


@pytest.mark.parametrize("quote", QUOTES)
def test_a_proof_names_the_section_of_its_quote(library: Library, quote: str) -> None:
    address, start = place_of(quote, library)
    assert library.proof(address, start, start + len(quote)).as_dict()["section_path"] == QUOTES[quote]


def test_a_saved_answer_names_it_for_its_quote(library: Library, tmp_path: Path) -> None:
    answer = library.ask("How much did the largest crystal weigh after three weeks?")
    saved = tmp_path / "answer.json"
    library.save(answer, saved)
    (cited,) = json.loads(saved.read_text("utf-8"))["citations"]
    assert cited["quote"].startswith("The largest crystal weighed")
    assert cited["section_path"] == ["3 Results"]
