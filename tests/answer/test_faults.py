"""Whatever a generator does, the answer is proved, told apart from what failed, and comes to an end."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from carrel import answer as answering
from carrel.answer import Means
from carrel.errors import CarrelError, ContextTooLong, InvalidInput, ModelBusy, ModelNotInstalled
from carrel.generators import Generator
from carrel.generators.extractive import Extractive
from carrel.settings import Answer as Options
from carrel.testing import HashedWords, Script
from carrel.types import Answer, Confidence, Prompt
from tests.test_answer import EVIDENCE


def means(generator: Generator) -> Means:
    return Means(HashedWords(), generator, Options(), Extractive(), seconds=20)


def ask(generator: Generator) -> Answer:
    return answering.collect(answering.answer("How hard is granite?", EVIDENCE, means(generator)))


def test_one_that_dies_in_the_middle_leaves_what_it_had_proved_and_the_death_is_reported() -> None:
    answer = ask(Script("Granite is hard. [1]\n", "Basalt is", ConnectionError("hung up")))
    assert answer.answer == "Granite is hard. [1]"
    assert answer.generator == "script"
    assert [(part.arm, part.reason) for part in answer.degraded] == [
        ("generator", "script: ConnectionError: hung up"),
    ]


@pytest.mark.parametrize("error", [ModelBusy("too many"), OSError("no disk"), ValueError("not JSON: <html>")])
def test_where_it_fails_before_its_first_word_the_papers_own_sentences_stand_in(error: Exception) -> None:
    answer = ask(Script(error))
    assert answer.generator == "extractive"
    assert not answer.has_insufficient_evidence
    (part,) = answer.degraded
    assert part.arm == "generator"
    assert str(error) in part.reason


def test_where_nobody_can_stand_in_the_failure_is_reported_with_the_refusal() -> None:
    failing = replace(means(Script(OSError("no disk"))), stand_in=None)
    answer = answering.collect(answering.answer("How hard is granite?", EVIDENCE, failing))
    assert answer.has_insufficient_evidence
    assert [part.arm for part in answer.degraded] == ["generator"]


@pytest.mark.parametrize("error", [InvalidInput("no server"), ModelNotInstalled("no such model")])
def test_a_wrong_setting_is_the_users_to_hear_of_and_nobody_stands_in(error: CarrelError) -> None:
    with pytest.raises(type(error), match=error.message):
        ask(Script(error))


def test_one_that_hangs_is_given_up_and_reported() -> None:
    class Hanging(Script):
        def stream(self, prompt: Prompt) -> Iterator[str]:
            yield "Granite is hard. [1]\n"
            threading.Event().wait(30)

    began = time.monotonic()
    hurried = replace(means(Hanging()), seconds=1.5)
    answer = answering.collect(answering.answer("How hard is granite?", EVIDENCE, hurried))
    assert time.monotonic() - began < 20
    assert answer.answer == "Granite is hard. [1]"
    assert "still at work after 1.5 s" in answer.degraded[0].reason


def test_one_that_repeats_itself_forever_says_it_once_and_is_stopped() -> None:
    answer = ask(Script(*itertools.repeat("Granite is hard. [1]\n", 100_000)))
    assert answer.answer == "Granite is hard. [1]"
    assert len(answer.unsupported) < 10


@pytest.mark.parametrize(
    "nonsense",
    [
        "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>",
        "花崗岩は柔らかい。[1]\n",
        "Der Granit ist sehr weich und schmilzt bei Zimmertemperatur. [1]\n",
        "It is as [99] says. [99]\n",
        "\x1b[31mGranite\x00 sings\u202e [1]\n",
        "{}[]" * 5000,
        "",
    ],
)
def test_nothing_that_no_excerpt_says_survives(nonsense: str) -> None:
    answer = ask(Script(nonsense))
    assert answer.statements == ()
    assert answer.citations == ()
    assert answer.has_insufficient_evidence
    assert answer.confidence == Confidence.INSUFFICIENT


def test_a_prompt_that_is_too_long_is_made_shorter_until_it_is_read() -> None:
    class Small(Script):
        tried: list[int] = []  # noqa: RUF012

        def stream(self, prompt: Prompt) -> Iterator[str]:
            self.tried.append(sum(len(excerpt.shown) for excerpt in prompt.excerpts))
            if len(self.tried) < 3:
                raise ContextTooLong("4,096 tokens are too many")
            yield from super().stream(prompt)

    small = Small("Granite is hard. [1]\n", context_tokens=4096)
    assert ask(small).answer == "Granite is hard. [1]"
    assert len(small.tried) == 3


def test_one_to_which_every_prompt_is_too_long_is_reported_not_asked_forever() -> None:
    answer = ask(Script(ContextTooLong("too many tokens"), context_tokens=4096))
    assert answer.generator == "extractive"
    assert "too many tokens" in answer.degraded[0].reason


def test_closing_the_stream_stops_the_generator() -> None:
    closed, said = threading.Event(), itertools.count()

    class Endless(Script):
        def stream(self, prompt: Prompt) -> Iterator[str]:
            try:
                while next(said) < 1_000_000:
                    yield "Granite is hard. [1]\nBasalt is dark. [2]\n"
            finally:
                closed.set()

    stream = answering.answer("How hard is granite?", EVIDENCE, means(Endless()))
    for _ in range(3):
        next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert closed.wait(10)
    assert next(said) < 20


def test_how_long_the_first_word_took_is_told() -> None:
    answer = ask(Script("Granite is hard. [1]\n"))
    assert answer.timings["first_token"] > 0
    assert "first_token" not in ask(Script("Granite is soft. [1]\n")).timings
