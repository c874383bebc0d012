"""Labels of figures and tables, and printed bibliographies."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as some

from carrel.parsers import bibliography, captions
from carrel.types import ExhibitKind


@pytest.mark.parametrize(
    ("caption", "label"),
    [
        ("Fig. 3: A plot.", "Figure 3"),
        ("FIGURE 3. A plot.", "Figure 3"),
        ("**Figure 3-1** A plot.", "Figure 3-1"),
        ("Figure A.1: More.", "Figure A.1"),
        ("Fig. 3a shows", "Figure 3"),
        ("Tab. 2", "Table 2"),
        ("TABLE IV Results", "Table IV"),
        ("S1 Table. Sites.", "Table S1"),
        ("Supplementary Table 1 Sites", "Table S1"),
        ("Extended Data Fig. 2", "Extended Data Figure 2"),
        ("Listing 1: A loop", "Listing 1"),
        ("图3 结果", "Figure 3"),
        ("Abbildung 7: Verlauf", "Figure 7"),
        ("Tablet 3 is broken", ""),
        ("Figures show nothing", ""),
        ("", ""),
    ],
)
def test_a_label_has_one_spelling(caption: str, label: str) -> None:
    assert captions.label_of(caption) == label


def test_a_label_says_what_it_labels() -> None:
    kinds = [captions.kind_of(text) for text in ("Fig. 1", "Scheme 2", "Tab. 3", "Algorithm 4", "Box 5")]
    assert kinds == [ExhibitKind.FIGURE, ExhibitKind.FIGURE, ExhibitKind.TABLE, ExhibitKind.ALGORITHM, None]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("see Fig. 3 and Table 2.", ["Figure 3", "Table 2"]),
        ("Figs. 3 and 4", ["Figure 3", "Figure 4"]),
        ("Figures 2–4", ["Figure 2", "Figure 3", "Figure 4"]),
        ("Tables 1, 2, and S3", ["Table 1", "Table 2", "Table S3"]),
        ("(Fig. 3A,B and 4C)", ["Figure 3", "Figure 4"]),
        ("Fig S1–3", ["Figure S1", "Figure S2", "Figure S3"]),
        ("S2 Fig and Supplementary Table S1", ["Figure S2", "Table S1"]),
        ("in Table 1, 20 patients", ["Table 1"]),
        ("如图3和表2所示，代表2种", ["Figure 3", "Table 2"]),
        ("Algorithm 1 halts", ["Algorithm 1"]),
        ("Figures 1–900", ["Figure 1", "Figure 900"]),
    ],
)
def test_every_label_a_text_speaks_of_is_found(text: str, labels: list[str]) -> None:
    assert [label for label, _start, _end in captions.mentions(text)] == labels


def test_a_hyphen_may_be_a_chapters_or_a_range() -> None:
    assert [label for label, *_ in captions.mentions("Figure 2-4")] == [
        "Figure 2",
        "Figure 2-4",
        "Figure 3",
        "Figure 4",
    ]


@given(text=some.text(alphabet=" Figures.Tab0123456789-–,andS()abIV图表", max_size=80))
def test_mentions_lie_where_they_say(text: str) -> None:
    for label, start, end in captions.mentions(text):
        assert 0 <= start < end <= len(text)
        assert any(character.isdigit() or character in "IVX" for character in text[start:end])
        assert captions.label_of(label) == label


@pytest.mark.parametrize(
    "title",
    ["References", "7. References", "VII. REFERENCES", "Works cited", "**Bibliography**", "参考文献", "Literatur"],
)
def test_headings_of_bibliographies_are_known(title: str) -> None:
    assert bibliography.is_heading(title)


@pytest.mark.parametrize("title", ["Literature review", "Reference architecture", "", "1.", "Notes"])
def test_other_headings_are_not(title: str) -> None:
    assert not bibliography.is_heading(title)


TITLE = "Deep learning for cats"


@pytest.mark.parametrize(
    "entry",
    [
        f"[1] J. Smith, N. van der Berg, and I. Doe. {TITLE}. In ICCV, 2010.",
        f"Jane Smith, Noam A. Berg, and Michael I Jordan. 2010. {TITLE}. In Advances in Vision, pages 1998–2004.",
        f"J. Smith and A. Doe, “{TITLE},” IEEE Trans. Cats, vol. 3, pp. 1–10, 2010.",
        f"Smith, J., Doe, A.: {TITLE}. In: Proc. ICCV, pp. 1–10 (2010)",
        f"Smith, J., & O'Hara, A. (2010). {TITLE}. Journal of Cats, 3(2), 1–10.",
        f"[3] J. Smith, A. Doe, {TITLE}, J. Cats 12 (2010) 1–10.",
        f"12. Smith J, Doe AB, et al. {TITLE}. J Biol. 2010;3:1998-2004.",
        f"SMITH J (2010) {TITLE}. Cats 3: 1–10.",
    ],
)
def test_the_common_styles_give_title_and_year(entry: str) -> None:
    cited = bibliography.cited(entry)
    assert (cited.title, cited.year, cited.text) == (TITLE, 2010, entry)


@pytest.mark.parametrize(
    "entry",
    [
        "see http://example.org/2010/x",
        "Smith J",
        "Implications of “peak oil” for climate, 2008",
        "",
        "2010",
        "Ibid., p. 4.",
    ],
)
def test_a_title_that_is_not_plain_is_left_empty(entry: str) -> None:
    assert bibliography.cited(entry).title == ""


def test_a_doi_is_found_and_a_year_is_not_taken_from_an_address() -> None:
    cited = bibliography.cited("Smith J. On cats. J Biol. doi: 10.1000/J.2010.5.PMID:123 https://x.org/2011/a")
    assert (cited.doi, cited.year) == ("10.1000/j.2010.5", 0)


def test_entries_are_parted_at_their_numbers_or_their_paragraphs() -> None:
    numbered = "[1] One\nof two lines.\n[2] Two.\n"
    assert [numbered[start:end] for start, end in bibliography.entries(numbered)] == [
        "[1] One\nof two lines.",
        "[2] Two.",
    ]
    plain = "Adams, A.\nOne.\n\nBell, B. Two."
    assert [plain[start:end] for start, end in bibliography.entries(plain)] == ["Adams, A.\nOne.", "Bell, B. Two."]


@pytest.mark.parametrize("piece", ["A. ", "Smith J, ", "van der ", "“", "Smith, J., ", "a-b. ", "Fig. 1, ", "Figs 1–"])
def test_hostile_entries_take_no_longer_than_they_are_long(piece: str) -> None:
    start = time.process_time()
    bibliography.cited(piece * 20_000)
    assert len(list(captions.mentions(piece * 5_000))) <= 10_000
    assert time.process_time() - start < 3
