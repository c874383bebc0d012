"""What Markdown and plain text show besides prose: pictures, captions, footnotes, bibliographies."""

from __future__ import annotations

import pytest

from carrel.parsers import Source
from carrel.parsers.markdown import Markdown
from carrel.parsers.text import PlainText
from carrel.types import BlockKind, Exhibit, ExhibitKind, Paper


def parse(text: str) -> Paper:
    return Markdown().parse(Source("paper.md", text.encode()))


def shown(paper: Paper, exhibit: Exhibit) -> str:
    return paper.text[exhibit.start : exhibit.end]


def kinds(paper: Paper) -> list[tuple[BlockKind, str]]:
    return [(block.kind, paper.text[block.start : block.end]) for block in paper.blocks]


def test_a_picture_alone_in_its_paragraph_is_a_figure_with_its_words() -> None:
    paper = parse('Before.\n\n![A tree](img/tree.png "Figure 2: A segment tree")\n\nAfter.')
    (figure,) = paper.exhibits
    assert (figure.kind, figure.label, figure.caption) == (
        ExhibitKind.FIGURE, "Figure 2", "Figure 2: A segment tree",
    )  # fmt: skip
    assert (figure.description, figure.image) == ("A tree", "img/tree.png")
    assert shown(paper, figure).startswith("![A tree]")
    assert [kind for kind, _ in kinds(paper)] == [BlockKind.TEXT, BlockKind.FIGURE, BlockKind.TEXT]


@pytest.mark.parametrize(
    ("text", "caption"),
    [
        ("![](a.png)\n\n**Figure 1.** Growth over time.", "Figure 1.** Growth over time."),
        ("Fig. 1: Growth.\n\n![](a.png)", "Fig. 1: Growth."),
        ("![](a.png)\n*Growth over time*", "Growth over time"),
        ("![](a.png)\nFigure 1: Growth", "Figure 1: Growth"),
        (
            '<figure><img src="a.png" alt="x"><figcaption>Fig 1. <b>Growth</b></figcaption></figure>',
            "Fig 1. Growth",
        ),
        ("![Growth over time](a.png)", "Growth over time"),
    ],
)
def test_a_caption_stands_before_after_or_in_the_picture(text: str, caption: str) -> None:
    paper = parse(f"Prose before.\n\n{text}\n\nProse after.")
    (figure,) = paper.exhibits
    assert (figure.caption, figure.image) == (caption, "a.png")
    assert shown(paper, figure) == text


def test_tables_and_listings_are_exhibits_only_with_a_caption() -> None:
    table, code = "| a | b |\n|---|---|\n| 1 | 2 |", "```c\nreturn 0;\n```"
    paper = parse(
        f"{table}\n\nProse.\n\nTable 1: Sums.\n\n{table}\n\nProse.\n\n{code}\n\nListing 2: The end.\n\n{code}"
    )
    assert [(one.kind, one.label) for one in paper.exhibits] == [
        (ExhibitKind.TABLE, "Table 1"),
        (ExhibitKind.ALGORITHM, "Listing 2"),
    ]
    assert shown(paper, paper.exhibits[0]) == f"Table 1: Sums.\n\n{table}"


def test_prose_that_speaks_of_a_figure_is_not_its_caption() -> None:
    paper = parse("![](a.png)\n\nFigure 1 shows that trees grow.")
    assert [kind for kind, _ in kinds(paper)] == [BlockKind.FIGURE, BlockKind.TEXT]
    assert parse("Look ![](a.png) here.").exhibits == ()


@pytest.mark.parametrize("address", ["https://x.org/a.png", "/etc/passwd", "../a.png", "data:image/png;base64,AA"])
def test_a_picture_that_lies_elsewhere_has_no_file(address: str) -> None:
    (figure,) = parse(f"![words]({address})").exhibits
    assert (figure.image, figure.caption) == ("", "words")


def test_footnotes_are_kept_where_they_are_written() -> None:
    paper = parse("Text[^1] goes on.\n\n[^1]: The note\n    on two lines.\n\n[^2]: Another.\n\nThe end.")
    assert kinds(paper)[1:3] == [
        (BlockKind.TEXT, "[^1]: The note\n    on two lines."),
        (BlockKind.TEXT, "[^2]: Another."),
    ]


BIBLIOGRAPHY = """\
## References

1. Smith, J. (2020). Trees that grow by themselves. Journal of Trees, 4.
2. Doe, A., & Roe, B. (2019). A second work. https://doi.org/10.1000/XYZ

[3] Poe, C. (2001). A paragraph of its own. Press.

## Appendix

Still searched.
"""


def test_a_bibliography_becomes_entries_and_ends_at_the_next_heading() -> None:
    paper = parse(f"# Title\n\nProse.\n\n{BIBLIOGRAPHY}")
    entries = [text for kind, text in kinds(paper) if kind == BlockKind.REFERENCE]
    assert [entry[:8] for entry in entries] == ["1. Smith", "2. Doe, ", "[3] Poe,"]
    assert [(one.title, one.year, one.doi) for one in paper.cited] == [
        ("Trees that grow by themselves", 2020, ""),
        ("A second work", 2019, "10.1000/xyz"),
        ("A paragraph of its own", 2001, ""),
    ]
    assert kinds(paper)[-1] == (BlockKind.TEXT, "Still searched.")


def test_plain_text_has_a_bibliography_too() -> None:
    entries = "[1] Smith, J. (2020). Trees that grow. Press.\n[2] Doe, A. (2021). More trees here. Press."
    text = f"Prose.\n\nReferences\n\n{entries}\n\nAppendix A\n\nMore prose."
    paper = PlainText().parse(Source("paper.txt", text.encode()))
    assert [kind for kind, _ in kinds(paper)] == [
        BlockKind.TEXT, BlockKind.HEADING, BlockKind.REFERENCE, BlockKind.REFERENCE, BlockKind.HEADING, BlockKind.TEXT,
    ]  # fmt: skip
    assert [one.title for one in paper.cited] == ["Trees that grow", "More trees here"]
