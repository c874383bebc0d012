"""What is read in a query, by itself and by the words of a small library."""

from __future__ import annotations

import re
import string
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

from carrel.queries import Fields, Lookup, Understood, acronyms, as_it_stands, language, parse, spelling, understand
from carrel.queries.parsing import Piece, readable
from carrel.types import Step, StepKind
from carrel.words import edits

TEXTS = (
    "We train a long short-term memory (LSTM) on news. The LSTM forgets.",
    "Dense retrieval beats sparse retrieval in most years.",
    "A review of open-domain question answering by Karpukhin and others.",
    "Deoxyribonucleic acid (DNA) is sequenced.",
)
QUOTES = some.sampled_from(['"', "“", "”", "«", "author:", "year:2019", 'tag:"', ":", " ", "x", "word", "\\", "(", "-"])


def says(*texts: str) -> Lookup:
    """A library of these texts, told without any index."""
    held = [text.casefold() for text in texts]

    def words(text: str) -> list[str]:
        return re.findall(r"[^\W_]+", text.casefold())

    def having(phrase: str, _beside: str = "") -> list[str]:
        wanted = f" {' '.join(words(phrase))} "
        return [text for text in texts if wanted in f" {' '.join(words(text))} "]

    return Lookup(
        frequencies=lambda asked: [sum(word.casefold() in words(text) for text in held) for word in asked],
        count=lambda phrases: len(set.intersection(*(set(having(phrase)) for phrase in phrases))),
        having=having,
        near=lambda _word, _distance, _beside: list(texts),
    )


def read(query: str, *texts: str) -> Understood:
    return understand(parse(query), says(*(texts or TEXTS)), correct=True, expand=True)


def steps(understood: Understood, kind: StepKind) -> list[tuple[str, str]]:
    return [(step.found, step.taken) for step in understood.steps if step.kind == kind]


@pytest.mark.parametrize(
    ("query", "fields", "rest"),
    [
        ("author:Yu graphs", Fields(authors=("Yu",)), "graphs"),
        ('graphs author:"Tim Yu"', Fields(authors=("Tim Yu",)), "graphs"),
        ("AUTHOR:“Tim Yu” trees", Fields(authors=("Tim Yu",)), "trees"),
        ("author:Yu author:O'Neil", Fields(authors=("Yu", "O'Neil")), ""),
        ("trees by author:Yu, please", Fields(authors=("Yu",)), "trees by please"),
        ("year:2019 trees", Fields(year_min=2019, year_max=2019), "trees"),
        ("year:2016-2019", Fields(year_min=2016, year_max=2019), ""),
        ("year:2016:2019", Fields(year_min=2016, year_max=2019), ""),
        ("year:2016–2019", Fields(year_min=2016, year_max=2019), ""),
        ("year:2019..2016", Fields(year_min=2016, year_max=2019), ""),
        ("year:2016-", Fields(year_min=2016), ""),
        ("year::2019", Fields(year_max=2019), ""),
        ("year:>2018", Fields(year_min=2019), ""),
        ("year:>=2018 year:<2021", Fields(year_min=2018, year_max=2020), ""),
        ("title:graph title:tree", Fields(title="graph tree"), ""),
        ('venue:ACL tag:"to read" tag:x', Fields(venues=("ACL",), tags=frozenset({"to read", "x"})), ""),
    ],
)
def test_a_field_chooses_papers_and_is_no_text(query: str, fields: Fields, rest: str) -> None:
    parsed = parse(query)
    assert (parsed.fields, parsed.text) == (fields, rest)
    assert [step.kind for step in parsed.steps] == [StepKind.FIELD] * len(parsed.steps)


@pytest.mark.parametrize(
    "query",
    [
        "foo:bar",
        "http://example.org/author:x",
        "C++: x",
        "Theorem: every tree has leaves",
        "author: Yu",
        "author:",
        "author:?!",
        'author:""',
        "year:soon",
        "year:19",
        "year:20199",
        "year:-",
        "year:>",
        "year:>2016-2019",
        "coauthor:Yu",
        "a ratio of 3:1",
        "std::vector",
    ],
)
def test_what_only_looks_like_a_field_is_text(query: str) -> None:
    assert parse(query).fields == Fields()
    assert parse(query, phrases=False).text == query


def test_what_a_field_was_taken_for_is_told() -> None:
    parsed = parse('author:"Tim Yu" year:>2018 trees')
    assert parsed.steps == (
        Step(StepKind.FIELD, "author:Tim Yu", "author Tim Yu"),
        Step(StepKind.FIELD, "year:>2018", "year 2019:"),
    )


@pytest.mark.parametrize(
    ("query", "phrases", "text"),
    [
        ('"dense retrieval" works', ("dense retrieval",), "dense retrieval works"),
        ("why “dense  retrieval”?", ("dense retrieval",), "why dense retrieval?"),
        ("„dichte Suche“ «dense»", ("dichte Suche", "dense"), "dichte Suche dense"),
        ('("dense retrieval")', ("dense retrieval",), "(dense retrieval)"),
        ('"LSTM"', ("LSTM",), "LSTM"),
        ('a 5" disk and a 6" disk', (), 'a 5" disk and a 6" disk'),
        ('an open " mark', (), 'an open " mark'),
        ('nothing "" and "?!"', (), 'nothing "" and "?!"'),
        ("it's the user's query", (), "it's the user's query"),
        ('author:"Tim Yu" "graph theory"', ("graph theory",), "graph theory"),
    ],
)
def test_what_stands_in_quotation_marks_is_a_phrase(query: str, phrases: tuple[str, ...], text: str) -> None:
    assert (parse(query).phrases, parse(query).text) == (phrases, text)


def test_steps_that_are_switched_off_leave_the_text_alone() -> None:
    query = 'author:Yu "dense retrieval" retreival LSTM'
    assert parse(query, fields=False, phrases=False).pieces == (Piece(query),)
    understood = understand(parse(query), says(*TEXTS), correct=False, expand=False)
    assert (understood.text, understood.also) == ("dense retrieval retreival LSTM", ())


def test_a_phrase_that_is_there_is_insisted_on() -> None:
    understood = read('does "dense retrieval" work')
    assert (understood.text, understood.phrases) == ("does dense retrieval work", ("dense retrieval",))
    assert steps(understood, StepKind.PHRASE) == [('"dense retrieval"', "must stand there")]


def test_a_phrase_that_nobody_has_is_its_words_and_that_is_told() -> None:
    understood = read('"retrieval dense" and "sparse retrieval"')
    assert understood.phrases == ("sparse retrieval",)
    absent = next(step for step in understood.steps if step.kind == StepKind.PHRASE)
    assert (absent.found, absent.is_told) == ('"retrieval dense"', True)
    assert absent.taken == "its words: no passage that is searched has the phrase"


def test_phrases_that_nobody_has_together_are_not_insisted_on() -> None:
    understood = read('"dense retrieval" "question answering"')
    assert understood.phrases == ()
    assert {taken for _, taken in steps(understood, StepKind.PHRASE)} == {
        "its words: no passage that is searched has all phrases"
    }


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("retreival", "retrieval"),
        ("Retrievl", "retrieval"),
        ("quesiton", "question"),
        ("karpukin", "karpukhin"),
        ("yaers", "years"),
        ("answring", "answering"),
        ("deoxyribonuclleic", "deoxyribonucleic"),
        ("mots", "most"),
        ("nws", ""),
        ("moxt", ""),
        ("ense", ""),
        ("outtrain", ""),
        ("zebra", ""),
        ("xb25", ""),
        ("GTP", ""),
        ("ReTreival", ""),
        ("检索方法", ""),
    ],
)
def test_a_word_the_library_does_not_have_is_put_right_by_one_that_it_has(wrong: str, right: str) -> None:
    understood = read(f"the {wrong} of it")
    assert understood.text == f"the {right or wrong} of it"
    assert steps(understood, StepKind.SPELLING) == ([(wrong, right)] if right else [])


def test_a_word_the_library_has_is_right_however_near_another_is() -> None:
    assert read("dens retrieval", "dens", *TEXTS).text == "dens retrieval"


def test_words_in_phrases_and_fields_are_never_put_right() -> None:
    understood = read('"retreival" author:Karpukin sparse')
    assert understood.text == "retreival sparse"
    assert steps(understood, StepKind.SPELLING) == []


@pytest.mark.parametrize(
    ("wrong", "texts", "right"),
    [
        ("breat", ["treat treat", "treat", "breast"], "breast"),
        ("caues", ["cases", "cases", "cause"], "cause"),
        ("stabe", ["stable", "stable", "state"], "stable"),
        ("reprresentatoin", ["representation", "representations"], "representation"),
    ],
)
def test_of_several_words_the_likeliest_is_meant(wrong: str, texts: list[str], right: str) -> None:
    assert spelling.nearest(wrong, says(*texts), beside="") == right


def test_no_more_than_a_few_words_of_a_query_are_looked_up() -> None:
    asked: list[str] = []

    def near(word: str, _distance: int, _beside: str) -> list[str]:
        asked.append(word)
        return []

    words = [a + b + "qqqq" for a in string.ascii_lowercase for b in "xyz"]
    nothing = Lookup(lambda some: [0] * len(some), lambda _: 0, lambda *_: [], near)
    assert understand(parse(" ".join(words)), nothing, correct=True, expand=True).text == " ".join(words)
    assert len(asked) == 4


WORDS = some.text("abcde", min_size=1, max_size=7)


@given(one=WORDS, other=WORDS, third=WORDS)
def test_edits_are_a_distance_between_words(one: str, other: str, third: str) -> None:
    apart = edits(one, other)
    assert apart == edits(other, one)
    assert (apart == 0) == (one == other)
    assert abs(len(one) - len(other)) <= apart <= max(len(one), len(other))
    assert edits(one, other, most=2) == min(apart, 3)
    assert third == other or edits(one + third, other + third) <= apart


@given(word=some.text("abcdefgh", min_size=3, max_size=9), place=some.integers(0, 7), letter=some.sampled_from("xyz"))
def test_each_slip_of_the_pen_is_one_edit(word: str, place: int, letter: str) -> None:
    assume(place < len(word) - 1 and word[place] != word[place + 1])
    before, after = word[:place], word[place:]
    for slip in (before + letter + after, before + after[1:], before + letter + after[1:]):
        assert edits(word, slip) == 1
    assert edits(word, before + after[1] + after[0] + after[2:]) == 1


@pytest.mark.parametrize(
    ("short", "text", "long"),
    [
        ("LSTM", "A long short-term memory (LSTM) network", "long short-term memory"),
        ("LSTM", "Long Short-Term Memory [LSTM]", "long short-term memory"),
        ("CNN", "We use convolutional neural networks (CNNs).", "convolutional neural networks"),
        ("cnn", "We use convolutional neural networks (CNN; see below).", "convolutional neural networks"),
        ("DNA", "the deoxyribonucleic acid (DNA) of", "deoxyribonucleic acid"),
        ("AUC", "by the area under the curve (AUC)", "area under the curve"),
        ("CRP", "serum C-reactive protein (CRP) levels", "c-reactive protein"),
        ("LSTM", "as before (LSTM)", ""),
        ("LSTM", "the LSTM model (LSTM)", ""),
        ("LSTM", "LSTM without brackets", ""),
        ("LSTM", "Lists. Some trees matter (LSTM)", ""),
        ("OH", "of the (OH) group", ""),
        ("A", "", ""),
    ],
)
def test_an_acronym_stands_for_what_the_words_before_its_brackets_spell(short: str, text: str, long: str) -> None:
    assert acronyms.long_form(short, [text]) == long


def test_of_several_meanings_the_one_that_most_texts_have_is_taken() -> None:
    texts = ["machine learning (ML)", "maximum likelihood (ML)", "on maximum likelihood (ML)"]
    assert acronyms.long_form("ML", texts) == "maximum likelihood"


@pytest.mark.parametrize(
    ("query", "also"),
    [
        ("LSTM for parsing", (("LSTM", "long short-term memory"),)),
        ("LSTMs for parsing", (("LSTMs", "long short-term memory"),)),
        ("a lstm", (("lstm", "long short-term memory"),)),
        ("why long short-term memory works", (("long short term memory", "lstm"),)),
        ("sequencing DNA", (("DNA", "deoxyribonucleic acid"),)),
        ("long short-term memory (LSTM)", ()),
        ("short-term memory", ()),
        ('"LSTM" for parsing', ()),
        ("CNN for parsing", ()),
        ("section II", ()),
        ("dna", ()),
    ],
)
def test_acronyms_are_looked_up_both_ways_by_the_librarys_own_definitions(
    query: str, also: tuple[tuple[str, str], ...]
) -> None:
    understood = read(query)
    assert understood.also == also
    assert steps(understood, StepKind.ACRONYM) == list(also)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("does dense retrieval work", "en"),
        ("LSTM", "en"),
        ("no such words", "en"),
        ("Wie funktioniert ein neuronales Netz mit Gedächtnis?", "de"),
        ("quelle est la différence entre les deux", "fr"),
        ("cómo funciona la búsqueda en los textos", "es"),
        ("wat is het verschil met een boom", "nl"),
        ("自然语言处理", "zh"),
        ("自然言語処理とは", "ja"),
        ("자연언어처리", "ko"),
        ("нейронные сети", "ru"),
        ("the α of β", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_query(text: str, code: str) -> None:
    assert language.of(text) == code
    assert as_it_stands(parse(text)).steps[0] == Step(StepKind.LANGUAGE, "", code)


@given(query=some.one_of(some.text(max_size=300), some.lists(QUOTES, max_size=60).map("".join)))
def test_any_text_is_a_query_and_no_word_of_it_is_lost(query: str) -> None:
    parsed = parse(query)
    plain = parse(query, fields=False, phrases=False)
    assert re.findall(r"\w+", plain.text) == re.findall(r"\w+", readable(query))
    if not parsed.fields:
        assert re.findall(r"\w+", parsed.text) == re.findall(r"\w+", plain.text)
    understood = understand(parsed, says(*TEXTS), correct=True, expand=True)
    assert set(understood.phrases) <= set(parsed.phrases)


@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\ud800", "line\nline", "\x1b[31mred"])
def test_what_cannot_be_written_is_left_out(text: str) -> None:
    parsed = parse(text).text
    assert parsed == parsed.encode().decode()
    assert not re.search(r"[\x00-\x1f]", parsed)


@pytest.mark.parametrize(
    "query",
    ['"' * 2000, ":" * 2000, '" ' * 1000, 'author:"' * 250, "year:2019 " * 200, '"a" ' * 500, "(" * 2000, " " * 2000],
)
def test_two_thousand_hostile_characters_are_read_at_once(query: str) -> None:
    start = time.perf_counter()
    assert len(parse(query).phrases) <= 8
    assert time.perf_counter() - start < 5
