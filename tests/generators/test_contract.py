"""What every generator promises. Truth is not among it: answers are checked."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from carrel import registry
from carrel.generators import Generator
from carrel.generators.extractive import Extractive
from carrel.generators.openai import OpenAI
from carrel.testing import Script
from carrel.types import Excerpt, Prompt, Span
from tests.generators.chat import APIS, smollm2
from tests.generators.conftest import Serve

FIRST = "Aspirin lowers the risk. It costs little."
SECOND = "Aspirin prevents\nsome tumours. Cats purr."
PROMPT = Prompt(
    "What does aspirin do?",
    (
        Excerpt(1, "One", FIRST, ((Span(0, 24), 0.9), (Span(25, 41), 0.2))),
        Excerpt(2, "Two", SECOND, ((Span(0, 31), 0.95), (Span(32, 42), 0.1))),
    ),
)
HONEST = "Aspirin prevents some tumours. [2]\nAspirin lowers the risk. [1]\n"
STATEMENT = re.compile(r"\S.*[.!?。] (?:\[\d+\] ?)+")


HONEST_ONES: dict[str, Callable[[], Generator]] = {
    "extractive": Extractive,
    "script": lambda: Script(HONEST),
    "stammer": lambda: Script(*HONEST),
}


def truthful(name: str, serve: Serve) -> Generator:
    """One that says the truth, or has it said by a server."""
    if name in HONEST_ONES:
        return HONEST_ONES[name]()
    api = APIS[name]
    return api.make(serve(api.answering(*(HONEST[at : at + 7] for at in range(0, len(HONEST), 7)))).url)


@pytest.fixture(params=[*HONEST_ONES, *APIS])
def honest(request: pytest.FixtureRequest, serve: Serve) -> Generator:
    return truthful(request.param, serve)


@pytest.fixture(params=[*HONEST_ONES, *APIS, "gguf", "llama.cpp"])
def generator(request: pytest.FixtureRequest, serve: Serve) -> Generator:
    """The same, and a real model by both ways that lead to it."""
    if request.param == "gguf":
        return registry.make("generators", f"gguf:{smollm2()}", max_tokens=24)  # type: ignore[no-any-return]
    if request.param == "llama.cpp":
        return OpenAI("smollm2", base_url=request.getfixturevalue("llama"), max_tokens=24)
    return truthful(request.param, serve)


def said(generator: Generator, prompt: Prompt = PROMPT) -> list[str]:
    return "".join(generator.stream(prompt)).splitlines()


def test_it_is_a_generator_with_a_name_and_room_for_a_prompt(generator: Generator) -> None:
    assert isinstance(generator, Generator)
    assert generator.name
    assert generator.context_tokens > 1000


def test_it_streams_text_in_pieces(generator: Generator) -> None:
    pieces = list(generator.stream(PROMPT))
    assert {type(piece) for piece in pieces} == {str}
    assert len(pieces) >= 1
    assert all(pieces)


def test_every_sentence_ends_with_the_numbers_of_the_excerpts_it_rests_on(honest: Generator) -> None:
    assert said(honest) == ["Aspirin prevents some tumours. [2]", "Aspirin lowers the risk. [1]"]
    assert all(STATEMENT.fullmatch(line) for line in said(honest))


def test_asked_again_it_answers_again(generator: Generator) -> None:
    assert said(generator) == said(generator)


def test_a_stream_can_be_left_in_the_middle(generator: Generator) -> None:
    stream = generator.stream(PROMPT)
    assert next(stream)
    close = getattr(stream, "close", None)
    assert close is None or close() is None
    assert next(stream, None) is None or close is None
    assert said(generator)


def test_the_extractive_one_says_nothing_without_sentences() -> None:
    assert said(Extractive(), Prompt("Why?", ())) == []
    assert said(Extractive(), Prompt("Why?", (Excerpt(1, "One", FIRST),))) == []


def test_the_extractive_one_says_each_sentence_once_and_only_the_good_ones() -> None:
    same = Excerpt(3, "Three", FIRST, ((Span(0, 24), 0.94),))
    lines = said(Extractive(), Prompt(PROMPT.question, (*PROMPT.excerpts, same)))
    assert lines == ["Aspirin prevents some tumours. [2]", "Aspirin lowers the risk. [3] [1]"]


def test_the_extractive_one_stops_after_as_many_statements_as_asked() -> None:
    assert said(Extractive(max_statements=1)) == ["Aspirin prevents some tumours. [2]"]


def test_a_script_says_what_it_is_told_to_and_remembers_what_it_was_asked() -> None:
    liar = Script("Cats fly. [9]\nNo so", "urce\n", "")
    assert list(liar.stream(PROMPT)) == ["Cats fly. [9]\nNo so", "urce\n", ""]
    assert next(liar.stream(Prompt("Why?", ()))).startswith("Cats")
    assert [prompt.question for prompt in liar.prompts] == ["What does aspirin do?", "Why?"]


def test_a_script_breaks_off_where_it_is_told_to() -> None:
    stream = Script("It does", ConnectionError("gone")).stream(PROMPT)
    assert next(stream) == "It does"
    with pytest.raises(ConnectionError, match="gone"):
        next(stream)
