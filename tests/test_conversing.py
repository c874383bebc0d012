"""A follow-up is asked with what it is about; a question that stands alone is left alone."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import Library
from carrel.catalogs.conversations import Turn
from carrel.conversing import checked_name, depends, standalone
from carrel.errors import InvalidInput, NotFound
from carrel.testing import HashedWords, Script
from tests.saved_answers import opened

COLLECTIONS = Path(__file__).parent.parent.parent / "shared" / "data" / "retrieval"

FOLLOW_UPS = """
    Does it also work in mice?
    Why?
    And for adults?
    What about BM25?
    How about rapamycin?
    Is that true for older patients?
    What are its side effects?
    How does it compare with BERT?
    What were the results?
    In mice?
    Which datasets were used?
    What are the limitations?
    How large is the effect?
    Does the drug cross the blood-brain barrier?
    Who wrote that paper?
    Are they safe during pregnancy?
    What did the authors conclude?
    Is the same true for type 2 diabetes?
    How is this measured?
    Do these methods need labelled data?
    Which one is faster?
    What is the evidence for that?
    Can you give an example?
    But does that hold for small datasets?
    How was the model trained?
    Why not use gradient descent instead?
    What else reduces mortality?
    Does the latter scale to long documents?
    Is it better than dropout?
    And its complexity?
    Only for children?
    What is the mechanism?
    How do they differ?
    Is a larger dose better then?
    Were those patients followed up?
    With dropout?
    Does this also apply to rats?
    Tell me more
    Do any studies disagree?
    How does that work?
    When was it published?
    So is smoking a risk factor too?
    What is their prognosis?
    Does such a model overfit?
    Which of them is cheaper?
    What happens if it fails?
    On ImageNet?
    How many participants were there?
    Is there a faster alternative?
    How accurate is it on open-domain questions?
    Which diseases does it cause?
"""
STAND_ALONE = """
    Does metformin extend lifespan in mice?
    What is dropout?
    How do neurons regulate their own excitability?
    Is it true that aspirin prevents stroke?
    Does BERT outperform its predecessors on GLUE?
    Which genes are associated with Alzheimer's disease?
    Is there evidence that vitamin D reduces mortality?
    What are the side effects of metformin?
    How long does it take to train a transformer?
    Do cells die when they are heated?
    BM25
    dense retrieval
    Who proposed the attention mechanism?
    What is the time complexity of Dijkstra's algorithm?
    How does the drug metformin lower glucose?
    Are patients with diabetes at higher risk than those without?
    Does statin therapy in elderly patients reduce the risk of stroke?
    What is the role of p53 in apoptosis?
    Is the treatment of sepsis with steroids effective?
    Which proteins bind to DNA that is damaged?
    How is a segment tree built?
    Can children with asthma take ibuprofen?
    Is it possible to predict relapse from gene expression?
    Autophagy declines in aged organisms.
    What do we know about the transmission of SARS-CoV-2?
    How can a graph be searched in linear time?
    Which algorithm finds the shortest path in a weighted graph?
    What is evaluation?
    Are viruses alive?
    How do I compute the convex hull of a set of points?
    What nationality was the director of the film Titanic?
    Do parents who smoke affect their children's asthma?
    Is the virus SARS-CoV-2 airborne?
    Should all patients with chest pain be admitted?
    Who discovered penicillin and when?
    Is it safe to give aspirin to children?
    Does the paper of Vaswani use recurrence?
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def turn(question: str, answer: str = "") -> Turn:
    return Turn(question, question, answer)


def test_follow_ups_are_told_from_questions_that_stand_alone() -> None:
    missed = [question for question in lines(FOLLOW_UPS) if not depends(question)]
    taken = [question for question in lines(STAND_ALONE) if depends(question)]
    assert len(missed) <= 2, missed
    assert len(taken) <= 1, taken


@pytest.mark.parametrize("name", ["scifact", "pubmedqa_train", "hotpot100", "musique100", "cranfield", "cp_algorithms"])
def test_real_questions_are_left_alone(name: str) -> None:
    path = COLLECTIONS / name / "queries.jsonl.gz"
    if not path.exists():
        pytest.skip("the collections are not here")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        questions = [json.loads(line)["text"] for line in file]
    taken = [question for question in questions if depends(question)]
    assert len(taken) <= len(questions) / 100, taken


@pytest.mark.parametrize(
    ("earlier", "question", "asked"),
    [
        ("Does metformin extend lifespan in mice?", "Is it safe?", "Is it safe? (metformin extend lifespan mice)"),
        ("Does metformin extend lifespan in mice?", "And in rats?", "And in rats? (metformin extend lifespan mice)"),
        ("What is the mechanism of metformin?", "What are its risks?", "What are its risks? (metformin)"),
        ("What is the mechanism of metformin?", "Why?", "Why? (mechanism metformin)"),
        ("Does BERT beat BM25?", "How does it beat BM25?", "How does it beat BM25? (BERT)"),
        ("Does BERT beat BM25?", "Does metformin help mice?", "Does metformin help mice?"),
        ("Why?", "How so?", "How so?"),
    ],
)
def test_what_was_spoken_of_is_added_once(earlier: str, question: str, asked: str) -> None:
    assert standalone(question, [turn(earlier)]) == asked


def test_the_first_question_is_asked_as_it_stands() -> None:
    assert standalone("Why?", []) == "Why?"


def test_a_chain_of_follow_ups_leads_back_to_the_question_that_stood_alone() -> None:
    earlier = [
        turn("Do statins cause dementia?"),
        turn("Does metformin extend lifespan?"),
        turn("What about rapamycin?"),
    ]
    asked = standalone("Is it toxic?", earlier)
    assert asked == "Is it toxic? (rapamycin metformin extend lifespan)"


def test_what_an_answer_names_is_what_a_question_for_a_thing_was_about() -> None:
    earlier = [turn("Which drug extends lifespan in mice?", "The drug Metformin extends their lifespan. [1]")]
    assert "Metformin" in standalone("Is it safe in humans?", earlier)
    earlier = [turn("Does exercise help?", "Yes, says Smith. [1]")]
    assert "Smith" not in standalone("Is it safe in humans?", earlier)


@given(st.text(max_size=200), st.lists(st.text(max_size=100), max_size=3))
def test_whatever_was_asked_the_question_itself_is_kept(question: str, earlier: list[str]) -> None:
    asked = standalone(question, [turn(one, one) for one in earlier])
    assert asked == question or asked.startswith(f"{question.strip()} (")


def test_a_page_of_text_is_no_work() -> None:
    start = time.perf_counter()
    standalone("it " * 200_000, [turn("that " * 200_000)] * 50)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("name", ["", " ", " a", "a ", "a\nb", "a\x1b[31m", "\u202ea", "x" * 101])
def test_a_name_that_cannot_be_one_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="session's name"):
        checked_name(name)


@pytest.mark.parametrize("name", ["s1", "my thesis", "../../etc", "'; DROP TABLE turns --", "日本語", "x" * 100])
def test_any_line_that_can_be_seen_is_a_name(name: str) -> None:
    assert checked_name(name) == name


# In a library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with opened(tmp_path / "papers", "Granite is hard. [1]\n", **{"answer.threshold": 0.0}) as library:
        yield library


def test_a_session_goes_on_where_it_was_and_outlives_the_process(library: Library, tmp_path: Path) -> None:
    assert library.ask("How hard is granite?", session="rocks").asked == ""
    assert library.ask("Why?", session="rocks").asked == "Why? (hard granite)"
    library.close()
    with Library.open(tmp_path / "papers", embedder=HashedWords(), generator=Script("x")) as again:
        assert [one.question for one in again.turns("rocks")] == ["How hard is granite?", "Why?"]
        assert again.made_whole("How dark is it?", session="rocks") == "How dark is it? (hard granite)"
        assert [(one.name, one.turns) for one in again.sessions()] == [("rocks", 2)]


def test_only_what_is_asked_for_is_kept(library: Library) -> None:
    library.ask("How hard is granite?")
    library.ask("Why?", earlier=[turn("How hard is granite?")])
    assert library.sessions() == []
    assert b"How hard is granite" not in library.layout.database.read_bytes()


def test_sessions_do_not_know_of_each_other_and_can_be_forgotten(library: Library) -> None:
    library.ask("How hard is granite?", session="a")
    assert library.ask("Why?", session="b").asked == ""
    assert library.forget_session("a") == 1
    assert [one.name for one in library.sessions()] == ["b"]
    with pytest.raises(NotFound, match="no session 'a'"):
        library.forget_session("a")


def test_the_question_is_searched_for_whole_and_answered_as_it_was_asked(library: Library) -> None:
    generator = library.generator
    assert isinstance(generator, Script)
    answer = library.ask("Why is that?", earlier=[turn("How hard is granite?")])
    assert answer.question == "Why is that?"
    assert answer.as_dict()["asked"] == answer.asked == "Why is that? (hard granite)"


def test_an_answer_that_was_stopped_is_no_turn(library: Library) -> None:
    events = library.stream("How hard is granite?", session="a")
    next(events)
    events.close()
    assert library.sessions() == []


def test_a_bad_name_is_refused_before_anything_is_asked(library: Library) -> None:
    with pytest.raises(InvalidInput):
        library.ask("How hard is granite?", session="a\nb")
