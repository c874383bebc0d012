"""The concepts of one paper and where it speaks of them."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.acronyms import Pair, pairs
from carrel.concepts.definitions import LONGEST
from carrel.concepts.gathering import Place, Term
from carrel.concepts.terms import MOST_MENTIONS, Terms, extract, weights
from carrel.naming import key
from carrel.types import Chunk, ChunkKind, Concept, Mention, Part, Reference, Role


def chunk(text: str, *headings: str, position: int = 1, kind: ChunkKind = ChunkKind.PASSAGE) -> Chunk:
    address = f"p/ch0/s0/p{position}"
    return Chunk(
        address,
        "p",
        Part.BODY,
        kind,
        text,
        0,
        len(text),
        position=position,
        section_path=headings,
        title="",
    )


def concepts(*texts: str, record: Reference | None = None) -> dict[str, Concept]:
    found = extract([chunk(text, position=number) for number, text in enumerate(texts)], record)
    return {concept.name: concept for concept in found.concepts}


def mentions(found: Terms, name: str) -> list[Mention]:
    return [mention for mention in found.mentions if mention.concept == name]


# Where candidates come from


def test_noun_phrases_and_names_are_concepts_and_filler_is_not() -> None:
    found = concepts(
        "In this paper we show a novel method for sparse parsing, used by Grace Hopper. The results are good."
    )
    assert set(found) == {"sparse parsing", "Grace Hopper"}


@pytest.mark.parametrize(
    "text",
    [
        "This paper presents several results.",
        "See Figure 3 and Table 2.",
        "Smith et al. [12] agree with it.",
        "We set x = y_1 and call `do_it()`.",
        "In July 2015 the first experiments began.",
        "However, it is.",
        "",
    ],
)
def test_pointers_pronouns_and_generic_nouns_are_no_concepts(text: str) -> None:
    assert concepts(text) == {}


def test_a_word_in_small_letters_has_to_come_twice() -> None:
    assert "gasoline" not in concepts("The car runs on gasoline.")
    assert "gasoline" in concepts("The car runs on gasoline.", "More gasoline was bought.")


def test_words_joined_by_of_are_a_term_if_the_paper_has_them_again_and_again() -> None:
    text = "The chain has six degrees of freedom. A number of atoms moved."
    assert "degrees of freedom" not in concepts(text)
    assert "degrees of freedom" in concepts(text, text, text)
    assert "number of atoms" not in concepts(text, text, text)


def test_a_short_title_is_a_concept_as_a_whole_and_a_long_one_by_its_phrases() -> None:
    short = Reference("p", "Lord of the Dance (musical)")
    assert "Lord of the Dance" in concepts("It opened in Dublin.", record=short)
    long = Reference("p", "On the use of suffix arrays for finding repeats in very long genomes of plants")
    assert {"suffix arrays", "long genomes"} <= set(concepts("Nothing else.", record=long))


def test_an_introduction_to_something_is_about_that() -> None:
    assert "Lattice Theory" in concepts("Read on.", record=Reference("p", "An Introduction to Lattice Theory"))


def test_what_stands_before_a_titles_colon_is_its_name() -> None:
    assert "Quickfind" in concepts(
        "We built it.", record=Reference("p", "Quickfind: fast lookup of rare words in large files")
    )


def test_headings_are_concepts_unless_any_paper_has_them() -> None:
    one, other = chunk("It is so.", "2.1 Lazy propagation"), chunk("It is so.", "3. Introduction", position=2)
    assert [concept.name for concept in extract([one, other], None).concepts] == ["Lazy propagation"]


def test_keywords_are_concepts_whatever_parts_them() -> None:
    assert {"suffix tree", "tries"} <= set(concepts("Keywords: suffix tree; tries"))
    assert {"suffix tree", "tries"} <= set(concepts("Some text.\n\n**Key words:** suffix tree, tries.\n"))


def test_tags_are_keywords() -> None:
    assert "string matching" in concepts(
        "We use string matching.", record=Reference("p", "T", tags=("String matching",))
    )


@pytest.mark.parametrize(
    ("text", "term", "category"),
    [
        ("A Fenwick tree is a data structure that adds numbers.", "Fenwick tree", "data structure"),
        ("The **skip list** is a probabilistic structure for search.", "skip list", "structure"),
        ("In graph theory, a bridge is an edge that holds two parts together.", "bridge", "edge"),
        ("Tree compression refers to the flattening of a tree.", "tree compression", ""),
        ("Such an edge is called a bridge edge.", "bridge edge", ""),
        ("We call this quantity the edit distance.", "edit distance", ""),
        ("This cost is also known as edit distance, for short.", "edit distance", ""),
        ("The girth, i.e. the length of the shortest cycle, grows.", "girth", ""),
        ("后缀数组是一种数据结构。", "后缀数组", ""),
    ],
)
def test_a_definition_is_kept_as_it_stands_with_its_place(text: str, term: str, category: str) -> None:
    found = concepts(f"Nothing here.\n\n{text}")
    assert (found[term].definition, found[term].defined_at, found[term].category) == (text, "p/ch0/s0/p0", category)


@pytest.mark.parametrize(
    "text", ["It is a tree.", "This is a tree that grows.", "There are the trees we saw.", "Here the answer is a tree."]
)
def test_a_sentence_about_nothing_named_defines_nothing(text: str) -> None:
    assert all(not concept.definition for concept in concepts(text, text).values())


def test_a_definition_too_long_to_show_is_left_out() -> None:
    long = "A skip list is a structure that " + "very " * LONGEST + "often helps."
    assert concepts(long)["skip list"].definition == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use hidden Markov models (HMMs) here.", [Pair("HMM", "hidden Markov models")]),
        ("We use HMM (hidden Markov model) here.", [Pair("HMM", "hidden Markov model")]),
        ("It is part-of-speech (POS) tagging.", [Pair("POS", "part-of-speech")]),
        ("The **[Disjoint Set Union](dsu.md)** (DSU) is fast.", [Pair("DSU", "Disjoint Set Union")]),
        ("Nothing (USA) fits and (see below) neither.", []),
        ("Wrong words (XYZ).", []),
    ],
)
def test_acronyms_are_told_with_what_they_stand_for(text: str, expected: list[Pair]) -> None:
    assert list(pairs(text)) == expected


def test_an_acronym_is_an_alias_of_its_long_form_and_counts_as_a_mention_of_it() -> None:
    found = extract([chunk("A suffix array (SA) is small. The SA fits."), chunk("Two SAs differ.", position=2)], None)
    concept = next(concept for concept in found.concepts if concept.name == "suffix array")
    assert concept.aliases == ("SA",)
    assert [mention.count for mention in mentions(found, "suffix array")] == [3, 1]


def test_an_acronym_that_is_a_small_word_is_looked_for_in_capitals_and_is_no_alias() -> None:
    found = extract([chunk("The odds ratio (OR) or the risk, or both. The OR was high.")], None)
    concept = next(concept for concept in found.concepts if concept.name == "odds ratio")
    assert concept.aliases == ()
    assert mentions(found, "odds ratio")[0].count == 3


# Names


def test_spellings_are_one_concept_named_as_the_text_writes_it_most() -> None:
    found = concepts("Segment trees are old. A segment tree adds. The segment-tree adds. One segment tree is enough.")
    assert "segment tree" in found
    assert sum(key(name) == "segment tree" for name in found) == 1


def test_the_capital_of_a_sentence_is_undone_and_that_of_a_name_is_not() -> None:
    found = concepts("Lazy propagation helps. We know lazy updates. Berlin is far.", "Berlin was far.")
    assert {"lazy propagation", "Berlin"} <= set(found)


# Weight and relevance


def test_weight_is_place_times_specificity_times_how_often_a_term_stands_for_itself() -> None:
    terms = {one: Term(spellings=Counter([one])) for one in ("neural network", "deep neural network", "network cable")}
    weighed = weights(terms, [{"neural network": 6, "deep neural network": 5, "network cable": 1}])
    assert weighed["neural network"] == pytest.approx(1.585 * 1, abs=1e-3)
    assert weighed["deep neural network"] == pytest.approx(2 * 2.585, abs=1e-3)
    assert weighed["network cable"] == weighed["neural network"]
    titled = {**terms, "network cable": replace_place(terms["network cable"], Place.TITLE)}
    assert weights(titled, [{"network cable": 1}])["network cable"] == pytest.approx(4 * weighed["network cable"])


def replace_place(term: Term, place: Place) -> Term:
    return Term(place, spellings=term.spellings)


def test_a_title_counts_more_than_a_heading_a_definition_a_keyword_a_name_and_plain_text() -> None:
    places = [Place.TITLE, Place.HEADING, Place.DEFINITION, Place.KEYWORD, Place.NAME, Place.TEXT]
    assert [place.value for place in places] == sorted((place.value for place in Place), reverse=True)


def test_concepts_come_by_falling_weight() -> None:
    record = Reference("p", "Suffix automata")
    names = [one.name for one in extract([chunk("A suffix automaton reads one long text.")], record).concepts]
    assert names[0] == "suffix automaton"


def test_a_short_documents_only_chunk_discusses_its_title_with_a_relevance_near_one() -> None:
    found = extract([chunk("He was born in Ulm.", position=0)], Reference("p", "Albert Einstein"))
    (einstein,) = mentions(found, "Albert Einstein")
    assert (einstein.role, einstein.relevance > 0.9) == (Role.DISCUSSES, True)
    (ulm,) = mentions(found, "Ulm")
    assert (ulm.role, ulm.relevance < 0.5) == (Role.MENTIONS, True)


def test_a_chunk_discusses_its_own_heading_even_if_it_never_says_it() -> None:
    (row,) = mentions(extract([chunk("It is done at once.", "Trees", "Lazy propagation")], None), "Lazy propagation")
    assert (row.role, row.count, row.relevance > 0.8) == (Role.DISCUSSES, 1, True)


def test_a_chunk_discusses_what_it_speaks_of_most() -> None:
    found = extract([chunk("We found an Euler tour. " * 5 + "It is no Hamilton path.")], None)
    assert mentions(found, "Euler tour")[0].role is Role.DISCUSSES
    assert mentions(found, "Hamilton path")[0].role is Role.MENTIONS


def test_the_rest_of_an_article_is_about_its_title() -> None:
    found = extract([chunk("We sum.", "Implementation")], Reference("p", "Fenwick tree"))
    assert mentions(found, "Fenwick tree")[0].role is Role.DISCUSSES


def test_code_and_formulas_are_shown_for_what_their_chunk_discusses() -> None:
    shown = replace(chunk("```\nint t;\n```\n$$ s $$", "Fenwick tree"), has_code=True, has_formula=True)
    roles = [row.role for row in mentions(extract([shown], None), "Fenwick tree")]
    assert roles == [Role.DISCUSSES, Role.CODE_EXAMPLE_FOR, Role.FORMULA_FOR]


def test_words_of_code_are_not_counted() -> None:
    found = extract([chunk("The prefix sum.\n\n```\nprefix sum = prefix sum\n```")], None)
    assert mentions(found, "prefix sum")[0].count == 1


def test_reference_lists_give_no_concepts() -> None:
    assert extract([chunk("Jane Doe. Binary trees. Springer.", "References")], None).concepts == ()


def test_a_reader_s_note_defines_nothing() -> None:
    noted = chunk("A skip list is a nice idea. The skip list is mine.", kind=ChunkKind.NOTE)
    assert [(one.name, one.definition) for one in extract([noted], None).concepts] == [("skip list", "")]


# Whatever comes

WORDS = st.lists(
    st.sampled_from(
        "Segment tree trees (ST) is a the of Kruskal's 12 [3] $x$ ** ``` 树是一种 . \n\n - which uses".split(" ")
    ),
    max_size=40,
).map(" ".join)


@given(st.lists(st.one_of(WORDS, st.text(max_size=80)), max_size=4), st.text(max_size=30))
def test_every_chunk_has_at_most_sixteen_rows_and_every_row_a_concept(texts: list[str], heading: str) -> None:
    chunks = [chunk(text, heading, position=number) for number, text in enumerate(texts)]
    found = extract(chunks, Reference("p", heading))
    assert found == extract(chunks, Reference("p", heading))
    names = {concept.name for concept in found.concepts}
    assert {mention.concept for mention in found.mentions} == names
    assert len({key(name) for name in names}) == len(names)
    assert max(Counter(mention.address for mention in found.mentions).values(), default=0) <= MOST_MENTIONS
    assert all(0 < mention.relevance <= 1 and mention.count > 0 for mention in found.mentions)
    assert all(len(concept.definition) <= LONGEST for concept in found.concepts)
    assert all(any(concept.definition in text for text in texts) for concept in found.concepts)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 5_000_000,
        "(" * 100_000 + ")" * 100_000,
        "Ab Cd (AC) " * 5_000,
        "." * 100_000,
        "\n " * 30_000,
        "a-" * 50_000,
    ],
    ids=["no blanks", "brackets", "acronyms", "stops", "lines", "hyphens"],
)
def test_hostile_texts_take_seconds(text: str) -> None:
    started = time.process_time()
    extract([chunk(text)], None)
    assert time.process_time() - started < 10
