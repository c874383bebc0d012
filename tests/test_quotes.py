"""A quote is found where it stands and nothing that says something else is taken for it."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from carrel import quotes

SOURCE = "We ﬁnd that state-of-the-art mod-\nels “hallucinate”  in 73.1 %\nof cases – often."


def found(quote: str, source: str) -> str | None:
    span = quotes.locate(quote, source)
    return None if span is None else source[span.start : span.end]


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("73.1 %\nof cases", "73.1 %\nof cases"),
        ("We find that", "We ﬁnd that"),
        ("models", "mod-\nels"),
        ("mod- els", "mod-\nels"),
        ('"hallucinate" in 73.1 % of cases - often.', "“hallucinate”  in 73.1 %\nof cases – often."),
        ("state-of-the-art", "state-of-the-art"),
    ],
)
def test_a_quote_is_found_though_its_characters_are_encoded_otherwise(quote: str, words: str) -> None:
    assert found(quote, SOURCE) == words


@pytest.mark.parametrize(
    ("quote", "source", "words"),
    [
        ("state-of-the-art models", "a state-\nof-the-art mod-\nels b", "state-\nof-the-art mod-\nels"),
        ("COVID-19 spreads", "COVID-\n19 spreads", "COVID-\n19 spreads"),
        ("Jean-Paul wrote", "Jean-\nPaul wrote", "Jean-\nPaul wrote"),
        ("naïve café", "a nai\u0308ve cafe\u0301.", "nai\u0308ve cafe\u0301"),
        ("nai\u0308ve cafe\u0301", "a naïve café.", "naïve café"),
        ("한글 문장", unicodedata.normalize("NFD", "그 한글 문장."), unicodedata.normalize("NFD", "한글 문장")),
        ("10 μg of it", "gave 10 µg of it", "10 µg of it"),
        ("25 °C", "at 25 ℃", "25 ℃"),
        ("soft words", "so\u00adft wo\u200brds", "so\u00adft wo\u200brds"),
        ("often, so", "cases—often, so", "often, so"),
        ("cases - often", "cases—often", "cases—often"),
        ("“so‘ called”", '"so\' called"', '"so\' called"'),
        ('"hard" words', "``hard'' words", "``hard'' words"),
        ("Granite is hard.", "**Granite** is hard.", "Granite** is hard."),
        ("１５ mg", "15 mg", "15 mg"),
        ("花岗岩很硬。", "玄武岩很黑。花岗\n岩很硬。", "花岗\n岩很硬。"),
        ("5 mg is safe", "15 mg is safe, 5 mg is safe", "5 mg is safe"),
        ("of the treatment.", "of the treatment.¹² Next", "of the treatment."),
        ("Next one.", "of the treatment.12 Next one.", "Next one."),
    ],
)
def test_what_is_written_in_another_way_is_the_same(quote: str, source: str, words: str) -> None:
    assert found(quote, source) == words


@pytest.mark.parametrize(
    "quote", ["73.2 %", "models do not hallucinate", "We Find that", "", "   ", "ofcases", "\u200b"]
)
def test_a_quote_that_says_something_else_is_not_found(quote: str) -> None:
    assert quotes.locate(quote, SOURCE) is None


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        ("102", "10²"),
        ("10 cells", "10² cells"),
        ("x2 is", "x₂ is"),
        ("x is", "x₂ is"),
        ("12 of it", "½ of it"),
        ("1/2 of it", "½ of it"),
        ("1 is first", "① is first"),
        ("5 mg is safe", "15 mg is safe"),
        ("5 mg is safe", "1.5 mg is safe"),
        ("5 mg is safe", ".5 mg is safe"),
        ("5 mg is safe", "3-5 mg is safe"),
        ("5 mg is safe", "3 – 5 mg is safe"),
        ("5 mg is safe", "≥ 5 mg is safe"),
        ("5 mg is safe", "<5 mg is safe"),
        ("5 mg is safe", "1,5 mg is safe"),
        ("-5 mg is safe", "3-5 mg is safe"),
        ("5 °C", "−5 °C"),
        ("5 °C", "at - 5 °C"),
        ("it is 73", "it is 73.1"),
        ("it is 73.", "it is 73.1"),
        ("it is 73.1", "it is 73.1 %"),
        ("it is 73.1", "it is 73.1%"),
        ("it is 5", "it is 5 × 10³"),
        ("it is 5", "it is 5–10"),
        ("it is 5", "it is 5 - 10"),
        ("able", "unable"),
        ("able", "un-able"),
        ("effective", "non-effective"),
        ("effective", "non-\neffective"),
        ("smoke", "smoke-free"),
        ("can", "can't"),
        ("t work", "don't work"),
        ("cafe", "cafe\u0301"),
        ("e", "e\u0301"),
        ("Na", "Na+ rises"),
        ("S. law", "U.S. law"),
        ("unionised", "un-ionised"),
        ("un-ionised", "unionised"),
        ("1020", "10-\n20"),
        ("1020", "10\u00ad20"),
        ("1020", "10\u200b20"),
        ("约5", "约5毫克"),
        ("2 10", "2 ** 10"),
        ("👩", "👩\u200d🔬"),
        ("wait.", "wait…"),
    ],
)
def test_a_part_of_a_word_or_number_and_another_power_is_not_the_quote(quote: str, source: str) -> None:
    assert quotes.locate(quote, source) is None


WORD = st.sampled_from(
    "the final effect naïve café state-of-the-art models office waffles well-known in we “so-called” don't Müller "
    "AB-12 β-blockers mice, fluid".split()
)
NUMBER = st.sampled_from(["5", "15", "1.5", "0.05", "1,215", "73.1 %", "10²", "-5 °C", "3–5", "2019"])
SENTENCE = st.lists(WORD | NUMBER, min_size=3, max_size=12).map(lambda words: " ".join(["Result", *words, "end."]))
LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "fi": "ﬁ", "fl": "ﬂ", "ff": "ﬀ"}


@st.composite
def noisy(draw: st.DrawFn, text: str) -> str:
    """The same sentence as a file might have it."""
    written = ""
    for word in text.split(" "):
        letters = word
        if word.isalpha() and word.isascii() and len(word) > 4 and draw(st.booleans()):
            cut = draw(st.integers(2, len(word) - 2))
            letters = f"{word[:cut]}{draw(st.sampled_from(['-', '‐', chr(0xAD)]))}\n{word[cut:]}"
        elif "-" in word and word[0].isalpha() and draw(st.booleans()):
            letters = word.replace("-", "-\n", 1)
        elif draw(st.booleans()):
            for plain, joined in LIGATURES.items():
                letters = letters.replace(plain, joined)
        written += letters + draw(st.sampled_from([" ", "\n", "  ", "\u00a0", " \u200b"]))
    marks = str.maketrans({"'": draw(st.sampled_from("'’")), "–": draw(st.sampled_from("–-")), "“": '"', "”": '"'})
    written = (written.translate(marks) if draw(st.booleans()) else written).rstrip(" \n\u200b\u00a0")
    return unicodedata.normalize("NFD", written) if draw(st.booleans()) else written


@given(SENTENCE, SENTENCE, SENTENCE, st.data())
def test_a_sentence_is_found_at_its_true_place_whatever_a_file_did_to_it(
    before: str, sentence: str, after: str, data: st.DataObject
) -> None:
    assume(sentence not in before)
    first, as_printed = data.draw(noisy(before)), data.draw(noisy(sentence))
    source = f"{first} {as_printed} {after}"
    assert found(sentence, source) == as_printed
    assert quotes.locate(sentence, source) == quotes.locate(as_printed, source)


@given(SENTENCE, st.data())
def test_one_changed_digit_is_never_overlooked(sentence: str, data: st.DataObject) -> None:
    places = [place for place, character in enumerate(sentence) if character.isdecimal()]
    assume(places)
    place = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != sentence[place]]))
    assert quotes.locate(sentence[:place] + digit + sentence[place + 1 :], sentence) is None


CHANGES = [("not ", ""), ("Müller", "Möller"), ("Müller", "Muller"), ("mg", "µg"), ("5 mg", "5 g"), ("mg", "mg/kg")]


@given(SENTENCE, SENTENCE, st.sampled_from(CHANGES), st.booleans(), st.data())
def test_a_changed_negation_name_or_unit_is_never_overlooked(
    before: str, after: str, change: tuple[str, str], turned: bool, data: st.DataObject
) -> None:
    sentence = f"{before} Müller did not give 5 mg of it. {after}"
    changed = sentence.replace(change[0], change[1], 1)
    assume(changed != sentence)
    quote, source = (sentence, changed) if turned else (changed, sentence)
    assert quotes.locate(quote, data.draw(noisy(source))) is None


@given(st.text(min_size=1, max_size=80), st.data())
def test_whatever_a_text_is_made_of_a_span_says_what_the_quote_says(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    quote = text[start : data.draw(st.integers(start + 1, len(text)))]
    span = quotes.locate(quote, text)
    if span is not None:
        assert 0 <= span.start < span.end <= len(text)
        assert quotes.normalise(text[span.start : span.end]).text.strip() == quotes.normalise(quote).text.strip()
    whole = quotes.locate(text, text)
    assert (whole is not None) == bool(quotes.normalise(text).text.strip())


@given(st.text(alphabet='abc1 -–—“"\n\u00ad\u200b\u0301ﬁ中文*', max_size=60))
def test_normalising_keeps_true_offsets_in_order(text: str) -> None:
    plain = quotes.normalise(text)
    assert len(plain.text) == len(plain.starts) == len(plain.ends) == len(plain.hyphens)
    assert list(plain.starts) == sorted(plain.starts)
    assert list(plain.ends) == sorted(plain.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(plain.starts, plain.ends, strict=True))


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        ("a" * 1000 + "b", "a" * 300_000),
        ("a-" * 500 + "b", "a-" * 150_000),
        ("a-a " * 300 + "aa", "a-a " * 80_000),
        ("e\u0301 b", "e" + "\u0301" * 150_000),
        ("x y", "x" + " \u200b" * 150_000 + "z"),
        ("able", "unable" * 30_000),
    ],
)
def test_a_huge_text_made_to_be_slow_is_answered_soon(quote: str, source: str) -> None:
    started = time.perf_counter()
    assert quotes.locate(quote, source) is None
    assert time.perf_counter() - started < 10
