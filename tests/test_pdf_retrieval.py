"""What a question finds in papers read from PDF, beside the same papers read from XML.

Words only, as no model is needed for them: `python -m benchmarks.pdf_retrieval` measures every mode on all the papers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from benchmarks import pdf_retrieval
from benchmarks.pdf_retrieval import Article, Question, Section, Side, equalised

from carrel.testing import HashedWords
from carrel.types import Mode

DATA = Path(__file__).parents[2] / "shared" / "data"
PAPERS = 4
PARAGRAPH = (
    "Segment trees answer sums over any range of an array in logarithmic time, and they keep doing so while single "
    "elements change, which a table of prefix sums cannot do without being written anew."
)
OTHER = (
    "Fenwick trees need less memory than segment trees and are shorter to write down, but sums over a range are all "
    "that they answer, and a reader who meets their binary indices for the first time will wonder."
)
UNRELATED = "Potatoes grow best in loose soil; water makes them rot. " * 3


@pytest.fixture(scope="module")
def files() -> dict[str, tuple[Path, Path]]:
    found = pdf_retrieval.pairs(DATA)
    if not found:
        pytest.skip("the papers as PDF and XML are not here: shared/data/fulltext beside the repository")
    return dict(list(found.items())[-PAPERS:])


@pytest.fixture(scope="module")
def sides(files: dict[str, tuple[Path, Path]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    folder, embedder = tmp_path_factory.mktemp("sides"), HashedWords()
    pdf = pdf_retrieval.side({paper: one for paper, (one, _) in files.items()}, folder / "pdf", embedder=embedder)
    xml = pdf_retrieval.side({paper: one for paper, (_, one) in files.items()}, folder / "xml", embedder=embedder)
    yield pdf, xml
    pdf.library.close()
    xml.library.close()


@pytest.fixture(scope="module")
def asked(files: dict[str, tuple[Path, Path]]) -> list[Question]:
    return pdf_retrieval.questions([pdf_retrieval.article(xml) for _, xml in files.values()])


def test_every_paragraph_that_is_asked_for_is_nearly_whole_in_one_chunk_of_the_pdf(
    sides: tuple[Side, Side], asked: list[Question]
) -> None:
    best = [max(sides[0].relevant(question).values(), default=0) for question in asked]
    assert min(best) >= pdf_retrieval.LEAST
    assert np.mean(best) >= 97


def test_words_find_in_pdfs_what_they_find_in_xml(sides: tuple[Side, Side], asked: list[Question]) -> None:
    pdf, xml = pdf_retrieval.measure(asked, sides, Mode.KEYWORD).passages.mean(axis=0)
    assert xml > 0.8
    assert pdf == pytest.approx(xml, abs=0.03)


def test_a_chunk_counts_by_the_share_of_the_paragraph_it_holds_whatever_stands_around_it() -> None:
    question = Question("trees", "words", "sums", (equalised([PARAGRAPH]),))
    half = PARAGRAPH[: PARAGRAPH.index(", and they")]
    assert question.grade(equalised([f"{OTHER}\n\n{PARAGRAPH}"])) == 100
    assert question.grade(equalised([half])) == 30
    assert question.grade(equalised([OTHER])) == 0


def test_a_hyphen_that_a_line_end_made_or_took_changes_nothing() -> None:
    printed = "a tree that an\u00adswers well-known questions about long-\nlived data"
    assert equalised([printed]) == equalised(["a tree that answers wellknown questions about long-lived data"])


def test_questions_are_telling_words_headings_and_captions_of_the_xml_alone() -> None:
    caption = "A tree over eight leaves"
    speed, memory = Section("Speed", ((PARAGRAPH,), (OTHER,))), Section("", ((UNRELATED,),))
    made = pdf_retrieval.questions([Article("trees", "Segment trees", (speed, memory), (caption,))])
    assert [(question.kind, question.text) for question in made] == [
        ("words", "sums and answer over range segment"),
        ("words", "and trees answer over range segment"),
        ("heading", "Speed segment trees"),
        ("caption", caption),
    ]
    assert made[2].wanted == (equalised([PARAGRAPH]), equalised([OTHER]))


def test_the_interval_of_a_steady_difference_is_that_difference() -> None:
    assert pdf_retrieval.interval(np.full(20, -0.02), [str(n) for n in range(20)]) == pytest.approx((-0.02, -0.02))
