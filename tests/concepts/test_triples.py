"""What sentences state of how concepts stand to each other, and what they do not."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import chunking, naming
from carrel.chunking import Limits
from carrel.concepts import names, terms
from carrel.concepts.triples import LEAST_CONFIDENCE, MOST_IN_A_CHUNK, extract, validate, validate_content
from carrel.concepts.triples.checks import best
from carrel.concepts.triples.plain import plain
from carrel.errors import InvalidInput
from carrel.parsers import Parser, Source
from carrel.parsers.markdown import Markdown
from carrel.parsers.xml import Xml
from carrel.types import Chunk, ChunkKind, Predicate, Triple
from tests.builders import make_chunk

DATA = Path(__file__).parents[3] / "shared" / "data"

SAID = [
    # USES
    ("The suffix tree builder uses dynamic programming.", "suffix tree builder USES dynamic programming"),
    ("Kruskal's algorithm, which relies on disjoint sets, is fast.", "Kruskal's algorithm USES disjoint sets"),
    ("Our speech recognizer is based on neural networks.", "speech recognizer USES neural networks"),
    ("We present a graph parser using neural networks.", "graph parser USES neural networks"),
    ("Word graphs are built by means of beam search.", ""),
    ("The segmentation algorithm makes use of dynamic programming.", "segmentation algorithm USES dynamic programming"),
    ("Binary search is used for root finding.", "root finding USES binary search"),
    ("A genetic algorithm for word alignment was built.", "word alignment USES genetic algorithm"),
    ("We need a greedy algorithm to solve knapsack problems.", "knapsack problems USES greedy algorithm"),
    ("Beam search can be used to generate word graphs.", "word graphs USES beam search"),
    ("The Fourier transform is often applied to speech signals.", "speech signals USES Fourier transform"),
    ("We take a probabilistic approach to word alignment.", "word alignment USES probabilistic approach"),
    # PART_OF
    ("The noun chunker is an important part of the grammar checker.", "noun chunker PART_OF grammar checker"),
    ("A suffix automaton consists of string states, suffix links and final states.",
     "string states PART_OF suffix automaton; suffix links PART_OF suffix automaton; "
     "final states PART_OF suffix automaton"),
    # EXAMPLE_OF
    ("Graph searches such as breadth-first search and depth-first search are simple.",
     "breadth-first search EXAMPLE_OF graph searches; depth-first search EXAMPLE_OF graph searches"),
    ("A red-black tree is a data structure.", "red-black tree EXAMPLE_OF data structure"),
    ("A fibonacci heap is a kind of priority queue.", "fibonacci heap EXAMPLE_OF priority queue"),
    ("Merge sort and other sorting routines were tried.", "merge sort EXAMPLE_OF sorting routines"),
    ("We use language models like BERT.", "BERT EXAMPLE_OF language models"),
    ("Parsing algorithms (e.g., the CYK algorithm) are old.", "CYK algorithm EXAMPLE_OF parsing algorithms"),
    ("We built a question parser called QPARSE.", "QPARSE EXAMPLE_OF question parser"),
    ("WordNet, a lexical analysis tool, was used.", "WordNet EXAMPLE_OF lexical analysis tool"),
    # COMPARED_TO
    ("The speech recognition system outperforms the statistical model.",
     "speech recognition system COMPARED_TO statistical model"),
    ("The beam search algorithm is faster than the greedy algorithm.",
     "beam search algorithm COMPARED_TO greedy algorithm"),
    ("We discuss the difference between hash maps and search trees.", "hash maps COMPARED_TO search trees"),
    ("Unlike hash maps, search trees keep the order.", "hash maps COMPARED_TO search trees"),
    # IMPLEMENTS
    ("The Edmonds-Karp algorithm is an implementation of the Ford-Fulkerson method.",
     "Edmonds-Karp algorithm IMPLEMENTS Ford-Fulkerson method"),
    # PREREQUISITE: what is to be understood first is the subject
    ("Heavy-light decomposition requires some knowledge of segment trees.",
     "segment trees PREREQUISITE heavy-light decomposition"),
    ("Modular arithmetic is a prerequisite for public-key cryptography.",
     "modular arithmetic PREREQUISITE public-key cryptography"),
    ("Dinic's algorithm builds on breadth-first search.", "breadth-first search PREREQUISITE Dinic's algorithm"),
    # RELATED_TO
    ("Continued fractions are closely related to Euclid's algorithm.",
     "continued fractions RELATED_TO Euclid's algorithm"),
    ("There is a connection between binary search and ternary search.", "binary search RELATED_TO ternary search"),
]  # fmt: skip


def chunk_of(text: str, **facts: Any) -> Chunk:
    return make_chunk(text=text, **facts)


def known_of(text: str) -> dict[str, str]:
    """The paper's concepts: whatever the expected triples name."""
    ends = [end for triple in text.split(";") if triple for end in _parts(triple)[::2]]
    return {naming.key(end): end for end in ends}


def _parts(triple: str) -> tuple[str, str, str]:
    predicate = next(word for word in triple.split() if word in set(Predicate))
    subject, object_ = triple.split(f" {predicate} ")
    return subject.strip(), predicate, object_.strip()


def told(triples: list[Triple]) -> set[tuple[str, str, str]]:
    return {(naming.key(triple.subject), str(triple.predicate), naming.key(triple.object)) for triple in triples}


def keys(expected: str) -> set[tuple[str, str, str]]:
    parts = [_parts(triple) for triple in expected.split(";") if triple]
    return {(naming.key(subject), predicate, naming.key(object_)) for subject, predicate, object_ in parts}


@pytest.mark.parametrize(("text", "expected"), SAID, ids=[text[:50] for text, _ in SAID])
def test_an_explicit_statement_becomes_a_triple_in_its_direction(text: str, expected: str) -> None:
    assert told(extract(chunk_of(text), known_of(expected))) == keys(expected)


@pytest.mark.parametrize(
    "text",
    [
        "The suffix tree builder does not use dynamic programming.",
        "The suffix tree builder never uses dynamic programming.",
        "The suffix tree builder could use dynamic programming.",
        "Does the suffix tree builder use dynamic programming?",
        "If the suffix tree builder uses dynamic programming, it is slow.",
        "No suffix tree builder uses dynamic programming.",
        "We solve it without a suffix tree builder using dynamic programming.",
        "Instead of a suffix tree builder using dynamic programming, we wrote a loop.",
        "There is a lack of a graph parser using neural networks.",
        "Fibonacci heaps are not priority queues such as binary heaps.",
        "It is not an implementation of the Ford-Fulkerson method.",
        "A relationship between neural networks and decision trees could not be shown.",
        "We would use beam search for word alignment.",
    ],
)
def test_what_is_denied_possible_or_asked_is_not_stated(text: str) -> None:
    assert extract(chunk_of(text), {}) == []


@pytest.mark.parametrize(
    "text",
    [
        "This method uses a new approach.",
        "It is a good idea.",
        "The algorithm is based on these techniques.",
        "We use them for that.",
        "The first is part of the second.",
        "Results such as these are an important example.",
        "The vertex is a leaf vertex.",
    ],
)
def test_pronouns_and_words_that_name_nothing_are_no_ends(text: str) -> None:
    assert extract(chunk_of(text), {}) == []


def test_known_names_are_given_as_the_paper_spells_them() -> None:
    known = {naming.key("HMM"): "Hidden Markov model", naming.key("POS tagging"): "Part-of-speech tagging"}
    (triple,) = extract(chunk_of("HMMs are used for POS-tagging."), known)
    assert (triple.subject, triple.object) == ("Part-of-speech tagging", "Hidden Markov model")


def test_ends_that_the_paper_makes_nothing_of_make_a_triple_less_sure() -> None:
    text = "Binary search is used for root finding."
    (sure,) = extract(chunk_of(text), known_of("root finding USES binary search"))
    (unsure,) = extract(chunk_of(text), known_of("binary search USES beam search"))
    assert sure.confidence > unsure.confidence >= LEAST_CONFIDENCE


def test_a_pronoun_means_the_topic_only_where_the_article_is_named_and_is_less_sure() -> None:
    text = "A lazy solver keeps lists of trees. It is based on beam search."
    known = known_of("Lazy solver USES beam search")
    assert extract(chunk_of(text), known) == []
    (triple,) = extract(chunk_of(text, title="Lazy solver"), known)
    (plainly,) = extract(chunk_of("A lazy solver is based on beam search."), known)
    assert (triple.subject, triple.object) == ("Lazy solver", "beam search")
    assert triple.confidence < plainly.confidence
    assert extract(chunk_of("Stacks are simple. It is based on beam search.", title="Lazy solver"), known) == []


def test_a_list_ends_where_another_clause_begins() -> None:
    text = "The noun chunker uses beam search, and the verb tagger uses graph analysis."
    expected = "noun chunker USES beam search; verb tagger USES graph analysis"
    assert told(extract(chunk_of(text), known_of(expected))) == keys(expected)


def test_an_end_has_at_most_eight_words_and_a_hundred_letters() -> None:
    long = "alpha beta gamma delta epsilon zeta eta theta iota machine"
    assert extract(chunk_of(f"The noun chunker uses {long}."), {naming.key(long): long}) == []
    assert extract(chunk_of(f"The noun chunker uses {'x' * 90} {'y' * 90}."), {}) == []


def test_a_chunk_gives_ten_triples_at_most_the_surest_first() -> None:
    sentences = [f"The tool alpha{letter} chunker uses beam{letter} search." for letter in "abcdefghijkl"]
    sentences.append("Language models such as BERT are large.")
    found = extract(chunk_of(" ".join(sentences)), {})
    assert len(found) == MOST_IN_A_CHUNK
    assert (found[0].subject, found[0].predicate) == ("BERT", Predicate.EXAMPLE_OF)
    confidences = [triple.confidence for triple in found]
    assert confidences == sorted(confidences, reverse=True)
    assert [triple.subject[:10] for triple in found[1:3]] == ["tool alpha", "tool alpha"]
    assert found[1].start < found[2].start


def test_more_or_surer_ones_are_given_when_asked_for() -> None:
    text = "The noun chunker uses beam search. Language models such as BERT are large."
    assert len(extract(chunk_of(text), {}, most=1)) == 1
    assert [triple.object for triple in extract(chunk_of(text), {}, least=0.7)] == ["Language models"]


def test_a_statement_made_twice_is_given_once_and_of_a_contradiction_the_surer() -> None:
    one = Triple("Inner Node", Predicate.PART_OF, "Tree", 0.6, "x", "first", 0, 5)
    same = Triple("inner-nodes", Predicate.PART_OF, "trees", 0.7, "x", "second", 9, 15)
    turned = Triple("Tree", Predicate.PART_OF, "Inner Node", 0.65, "x", "third", 20, 25)
    assert best([one, same, turned]) == [same]
    assert best([one], least=0.61) == []
    related = Triple("Tree", Predicate.RELATED_TO, "Inner Node", 0.9, "x", "fourth", 30, 36)
    assert best([one, related]) == [one]
    assert best([related]) == [related]


def test_code_tables_notes_and_figures_are_not_read() -> None:
    text = "The noun chunker uses beam search."
    code = f"```\n{'x = 1; ' * 100}\n```\n\n{text}"
    assert extract(chunk_of(code), {}) == []
    assert len(extract(chunk_of(f"```\nx = 1\n```\n\n{text}"), {})) == 1
    assert extract(chunk_of(text, kind=ChunkKind.NOTE), {}) == []
    assert extract(chunk_of(text, kind=ChunkKind.EXHIBIT), {}) == []
    assert extract(chunk_of("| The noun chunker uses beam search. |"), {}) == []
    assert extract(chunk_of("   "), {}) == []


def test_formulas_and_mark_up_do_not_become_names() -> None:
    text = "The **noun parser** uses [beam search](beam.md) and `list search`. It uses $O(n \\log n)$ time."
    found = extract(chunk_of(text), {})
    assert told(found) == keys("noun parser USES beam search; noun parser USES list search")
    assert found[0].evidence == "The **noun parser** uses [beam search](beam.md) and `list search`."


@given(st.text(max_size=300))
def test_a_text_without_its_mark_up_is_as_long_as_with_it(text: str) -> None:
    assert len(plain(text)) == len(text)


FILLERS = (
    "Nothing here.",
    "1. An item",
    "## Heading",
    "$x$ is small.",
    "Çava 漢字 🙂.",
    "- a\n- b",
    "> quoted",
    "```\ncode\n```",
)


@given(
    st.lists(st.sampled_from([text for text, _ in SAID] + list(FILLERS)), max_size=8), st.integers(0, 1000), st.data()
)
def test_the_evidence_is_the_very_text_at_its_offsets(pieces: list[str], start: int, data: st.DataObject) -> None:
    text = "".join(piece + data.draw(st.sampled_from([" ", "\n", "\n\n", "  \n"])) for piece in pieces)
    part = "x" * start + text
    for triple in extract(chunk_of(text, start=start, end=len(part), title="Lazy heap"), {}):
        assert part[triple.start : triple.end] == triple.evidence == triple.evidence.strip()
        assert triple.evidence in text
        assert triple.subject
        assert triple.object
        assert naming.key(triple.subject) != naming.key(triple.object)
        assert max(len(triple.subject.split()), len(triple.object.split())) <= 8
        assert LEAST_CONFIDENCE <= triple.confidence <= 1


@given(st.text(alphabet="ab ,.()[]$*`\n-'is uses such as for and", max_size=400))
def test_no_text_breaks_it(text: str) -> None:
    assert len(extract(chunk_of(text, title=text[:50]), {})) <= MOST_IN_A_CHUNK


@pytest.mark.parametrize(
    "piece",
    [
        "uses ",
        "such as a, ",
        "the very ",
        "[a](",
        "$",
        "(",
        "a, ",
        "`",
        "is often really ",
        "\\(",
        "<a ",
        "word ",
        "# a         b",
        "- **a",
        "- see [x](y) ",
    ],
)
def test_a_megabyte_without_a_full_stop_is_read_in_linear_time(piece: str) -> None:
    small, large = (piece * (size // len(piece)) for size in (50_000, 1_000_000))
    began = time.process_time()
    extract(chunk_of(small, title="Lazy heap"), {})
    middle = time.process_time()
    extract(chunk_of(large, title="Lazy heap"), {})
    assert time.process_time() - middle < 60 * (middle - began) + 2


def test_a_long_sentence_within_the_limit_costs_little() -> None:
    text = ("The noun chunker uses " * 45)[:990] + "."
    began = time.process_time()
    extract(chunk_of(text), {})
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("triple", "message"),
    [
        (("", "USES", "B", 0.9), "Subject cannot be empty"),
        ((" \n", "USES", "B", 0.9), "Subject cannot be empty"),
        (("A", "LIKES", "B", 0.9), "Invalid predicate type"),
        (("A", "uses", "B", 0.9), "Invalid predicate type"),
        (("A", "USES", "", 0.9), "Object cannot be empty"),
        (("A", "USES", "B", 0.49), "Triple confidence too low"),
        (("A", "USES", "B", float("nan")), "Triple confidence too low"),
    ],
)
def test_what_is_wrong_with_a_triple_is_said(triple: tuple[str, str, str, float], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        validate(*triple)
    assert caught.value.message == message
    assert caught.value.hint


def test_a_good_triple_is_valid_and_an_empty_chunk_is_not() -> None:
    assert validate("A", "USES", "B", 0.5) is Predicate.USES
    validate_content("text")
    with pytest.raises(InvalidInput, match="Chunk content cannot be empty"):
        validate_content(" ")


def papers(name: str, parser: Parser, pattern: str, count: int) -> list[tuple[str, list[Chunk]]]:
    import tarfile

    archives = sorted((DATA / "fulltext" / name).glob("*.tar.*"))
    if not archives:
        pytest.skip(f"the shared data ({name}) is not here")
    read: list[tuple[str, list[Chunk]]] = []
    with tarfile.open(archives[0]) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(pattern) and len(read) < count:
                file = archive.extractfile(member)
                assert file is not None
                paper = parser.parse(Source(Path(member.name).name, file.read()))
                cut = chunking.split(paper, count_tokens=_tokens, limits=Limits(least=100, target=512, most=1024))
                read.append((paper.text, [chunk.with_facts(paper.reference) for chunk in cut]))
    return read


def _tokens(texts: Sequence[str]) -> list[int]:
    return [len(text) // 4 + 1 for text in texts]


@pytest.mark.parametrize(
    ("name", "parser", "pattern", "least"),
    [("cp_algorithms_tree", Markdown(), ".md", 40), ("plos_jats", Xml(), ".xml", 10)],
)
def test_the_evidence_of_real_papers_stands_where_it_is_said_to(
    name: str, parser: Parser, pattern: str, least: int
) -> None:
    count = 0
    for text, chunks in papers(name, parser, pattern, 25 if pattern == ".md" else 4):
        known = names(terms.extract(chunks, None).concepts)
        for triple in (triple for chunk in chunks for triple in extract(chunk, known)):
            assert text[triple.start : triple.end] == triple.evidence
            count += 1
    assert count >= least
