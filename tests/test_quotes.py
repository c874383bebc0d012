from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import quotes

SOURCE = "We ﬁnd that state-of-the-art mod-\nels “hallucinate”  in 73.1 %\nof cases – often."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("73.1 %\nof cases", "73.1 %\nof cases"),
        ("We find that", "We ﬁnd that"),
        ("models", "mod-\nels"),
        ('"hallucinate" in 73.1 % of cases - often.', "“hallucinate”  in 73.1 %\nof cases – often."),
        ("state-of-the-art", "state-of-the-art"),
    ],
)
def test_a_quote_is_found_though_its_characters_are_encoded_otherwise(quote: str, found: str) -> None:
    span = quotes.locate(quote, SOURCE)
    assert span is not None
    assert SOURCE[span.start : span.end] == found


@pytest.mark.parametrize("quote", ["73.2 %", "models do not hallucinate", "We Find that", "", "   ", "ofcases"])
def test_a_quote_that_says_something_else_is_not_found(quote: str) -> None:
    assert quotes.locate(quote, SOURCE) is None


@given(st.text(min_size=1, max_size=80), st.data())
def test_every_slice_of_a_text_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = text[start:end]
    span = quotes.locate(quote, text)
    if quote.strip():
        assert span is not None
        assert text[span.start : span.end] == quote


@given(st.text(alphabet='abc -–“"\n\u00adﬁ', max_size=60))
def test_normalising_keeps_true_offsets_in_order(text: str) -> None:
    plain, offsets = quotes.normalise(text)
    assert len(plain) == len(offsets)
    assert list(offsets) == sorted(offsets)
    assert all(0 <= offset < len(text) for offset in offsets)
