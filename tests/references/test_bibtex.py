"""Reading BibTeX and biblatex."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.errors import SourceError
from carrel.references import Found, bibtex
from carrel.types import Author, Published, Reference

Write = Callable[[str, str | bytes], Path]

FULL = r"""
% Encoding: UTF-8
@string{jor = "Journal of " # {Results}}
@comment{jabref-meta: groupstree: {nested}}
@Article{ yu-2020 ,
  author    = {Yu, Tim and {\'E}mile Zola},
  title     = {On <i>E. coli</i> \& {S}ons},
  subtitle  = "Part {"}one{"}",
  journal   = jor # { and More},
  date      = {2020-05-21/2020-06},
  doi       = {https://doi.org/10.1000/A\_B},
  eprint    = {arXiv:2001.00001v2}, archiveprefix = {arXiv},
  pmid      = {PMID: 0123}, pmcid = {pmc77},
  keywords  = {graphs, neural networks},
  groups    = {mine},
  abstract  = {First.

  Second,
  with $x^2$.},
  note      = {Read it.}, annotation = {Again.},
  file      = {Main:papers/yu 2020.pdf:PDF;:papers/data.zip:ZIP},
}
"""


def read(write: Write, text: str | bytes) -> Found:
    return bibtex.read(write("refs.bib", text))


def one(write: Write, text: str | bytes) -> Reference:
    found = read(write, text)
    assert (found.problems, found.remarks) == ([], [])
    (reference,) = found.references
    return reference


def test_every_field_that_a_record_knows_is_read(write: Write) -> None:
    assert one(write, FULL) == Reference(
        id="yu-2020",
        title='On E. coli & Sons: Part "one"',
        doi="10.1000/a_b",
        authors=(Author("Yu", "Tim"), Author("Zola", "Émile")),
        abstract="First.\n\nSecond, with $x^2$.",
        venue="Journal of Results and More",
        note="Read it.\n\nAgain.",
        published=Published(2020, 5, 21),
        pdf_path="papers/yu 2020.pdf",
        supplement_paths=("papers/data.zip",),
        tags=("graphs", "neural networks", "mine"),
        pmid="123",
        pmcid="PMC77",
        arxiv_id="2001.00001",
    )


@pytest.mark.parametrize(
    ("fields", "published"),
    [
        ("year = 1999, month = feb", Published(1999, 2)),
        ("year = {1999}, month = {2}", Published(1999, 2)),
        ('year = 1999, month = "10~" # jan', Published(1999, 1, 10)),
        ("year = {{2018}}, month = {{OCT 1}}", Published(2018, 10, 1)),
        ("year = 2010, month = May, day = 22", Published(2010, 5, 22)),
        ("year = {c. 1850--1860}", Published(1850)),
        ("date = {../2004-01-01}", Published(2004, 1, 1)),
        ("date = {2004-22}", Published(2004)),
        ("date = {199u}", Published(1990)),
        ("date = {-0876}", Published()),
        ("year = {in press}", Published()),
        ("date = {30/5/2011}", Published(2011, 5, 30)),
        ("date = {4/7/2011}", Published(2011)),
    ],
)
def test_dates_are_read_as_far_as_they_are_certain(write: Write, fields: str, published: Published) -> None:
    assert one(write, f"@misc{{k, title={{T}}, {fields}}}").published == published


def test_a_part_has_from_its_whole_what_it_does_not_say_itself(write: Write) -> None:
    text = """
    @inproceedings{part, title={Part}, author={A, B}, crossref={WHOLE}, xdata={common}}
    @proceedings{whole, title={Proceedings}, year=2006, month=oct, doi={10.1000/whole}, abstract={Of the whole}}
    @xdata{common, keywords={shared}}
    """
    part, whole = read(write, text).references
    assert (part.venue, part.published, part.tags) == ("Proceedings", Published(2006, 10), ("shared",))
    assert (part.doi, part.abstract, whole.doi) == ("", "", "10.1000/whole")


def test_entries_that_inherit_from_each_other_do_not_go_round_forever(write: Write) -> None:
    circle = "@book{a,title={A},crossref={b}}\n@book{b,title={B},crossref={a}}\n"
    fan = "".join(f"@xdata{{x{n}, xdata={{{','.join(f'x{m}' for m in range(20))}}}}}\n" for n in range(20))
    found = read(write, f"{circle}{fan}@book{{c,title={{C}},xdata={{x0}}}}")
    assert [reference.id for reference in found.references] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("field", "path", "supplements"),
    [
        ("file = {:a.epub:ePUB;:a.pdf:PDF}", "a.pdf", ("a.epub",)),
        ("file = {plain;name.pdf}", "plain;name.pdf", ()),
        (r"file = {desc:sub\\dir\\a\:b.pdf:PDF}", "sub/dir/a:b.pdf", ()),
        ('file = ":x.epub:EPUB, :y.pdf:PDF"', "y.pdf", ("x.epub",)),
        (r"files = {K\"uhne.pdf:Q/K\"uhne.pdf:application/pdf}", "Q/Kühne.pdf", ()),
        ("Local-Zo-Url-1 = {./attachments/1.pdf}", "attachments/1.pdf", ()),
        ("file = {https://example.org/a.pdf}", "", ()),
    ],
)
def test_attachments_are_found_in_the_ways_of_every_program(
    write: Write, field: str, path: str, supplements: tuple[str, ...]
) -> None:
    reference = one(write, f"@misc{{k, title={{T}}, {field}}}")
    assert (reference.pdf_path, reference.supplement_paths) == (path, supplements)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.pdf",
        "a/../../b.pdf",
        "/etc/x.pdf",
        r"C\:\\x\\y.pdf",
        r"\\\\server\\x.pdf",
        "//server/x.pdf",
        "~/x.pdf",
    ],
)
def test_a_path_out_of_the_folder_is_refused_and_the_entry_kept(write: Write, path: str) -> None:
    found = read(write, f"@misc{{k, title={{T}}, file = {{:{path}:PDF;:good.pdf:PDF}}}}")
    (reference,) = found.references
    assert (reference.pdf_path, reference.supplement_paths) == ("good.pdf", ())
    assert found.problems == []
    (problem,) = found.remarks
    assert problem.source.endswith("refs.bib:k")
    assert problem.reason.endswith("the entry is kept without it")


def test_an_absolute_path_inside_of_the_folder_is_made_relative(write: Write, tmp_path: Path) -> None:
    assert one(write, f"@misc{{k, title={{T}}, file = {{{tmp_path.as_posix()}/a/b.pdf}}}}").pdf_path == "a/b.pdf"


def test_another_paper_of_the_same_key_gets_a_number_and_the_same_paper_does_not(write: Write) -> None:
    text = "".join(f"@misc{{k, title={{{title}}}, doi={{{doi}}}}}\n" for title, doi in [
        ("A", "10.1000/a"), ("A again", "10.1000/A"), ("B", "10.1000/b"), ("C", ""), ("C", ""),
    ])  # fmt: skip
    references = read(write, text).references
    assert [(reference.id, reference.title) for reference in references[:4]] == [
        ("k", "A"), ("k", "A again"), ("k-2", "B"), ("k-3", "C"),
    ]  # fmt: skip


def test_keys_that_look_like_addresses_of_passages_are_respelt(write: Write) -> None:
    assert one(write, "@misc{a/abstract, title={T}}").id == "a:abstract"
    assert one(write, "@misc{conf/icdm/2009w, title={T}}").id == "conf/icdm/2009w"


def test_an_entry_without_a_key_is_named_by_author_year_and_title(write: Write) -> None:
    text = "@article{\n  author = {Huang, Y.},\n title = {Mechanisms: and therapy, new}, year = 2012}"
    assert one(write, text).id == "Huang2012-Mechanisms-and-therapy"


def test_an_entry_without_a_title_is_kept_and_marked_and_an_empty_one_is_not(write: Write) -> None:
    found = read(write, "@book{a, author={A, B}}\n@misc{b,\n}\n")
    (reference,) = found.references
    assert (reference.title, reference.tags) == ("[no title]", ("bibtex:incomplete",))
    assert [problem.reason for problem in found.problems] == ["it has no title, author, year or DOI"]


@pytest.mark.parametrize(
    ("text", "titles", "fault"),
    [
        ("@misc{a, title={A}, note={open\n\n@misc{b, title={B}}", ["A", "B"], "'note' is never closed"),
        ("@misc{a, title={A}\n\n@misc{b, title={B}}", ["A", "B"], "closing brace is missing"),
        (
            "@misc(a, author={Thi\\{'e and X},\n title={A},\n)\n@misc(b, title={B})",
            ["A", "B"],
            "'author' is never closed",
        ),
        ("@misc{a, title={A}},\n year=2000}\n@misc{b, title={B}}", ["A", "B"], ""),
        ("@comment{never closed\n@misc{b, title={B}}", ["B"], ""),
        ("write to me@home{here}\n@misc{b, title={B}}", ["B"], ""),
        ("%@misc{out, title={Out}}\n@misc{b, title={B}}", ["B"], ""),
        ("@misc{a, title={A}}@misc{b, title={B}}", ["A", "B"], ""),
        ("@misc{a\n title={A} year=2000}", ["A"], ""),
    ],
)
def test_broken_braces_cost_no_more_than_their_own_field(
    write: Write, text: str, titles: list[str], fault: str
) -> None:
    found = read(write, text)
    assert [reference.title for reference in found.references] == titles
    assert found.problems == []
    assert (fault in found.remarks[0].reason) if fault else not found.remarks


def test_macros_that_grow_without_end_are_stopped_and_named(write: Write) -> None:
    laughs = "".join(f"@string{{a{n} = {' # '.join([f'a{n - 1}'] * 10)}}}\n" for n in range(1, 30))
    found = read(write, f"@string{{a0 = {{lol}}}}\n{laughs}@misc{{k, title = a29}}\n@misc{{l, title = a1}}")
    assert [reference.title for reference in found.references] == ["a28" * 10, "lol" * 10]
    assert any("more than 10,000" in problem.reason for problem in found.problems)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_a_file_is_read_in_whatever_encoding_it_is(write: Write, encoding: str) -> None:
    assert one(write, "@misc{k, title={Größe – “été”}}\r\n".encode(encoding)).title == "Größe – “été”"


def test_a_declared_encoding_counts_where_the_bytes_are_not_utf_8(write: Write) -> None:
    assert one(write, "% Encoding: ISO8859_2\n@misc{k, title={Łódź}}".encode("iso8859_2")).title == "Łódź"
    assert one(write, "% Encoding: ISO8859_2\n@misc{k, title={Łódź}}".encode()).title == "Łódź"


def test_nul_bytes_and_controls_are_taken_out(write: Write) -> None:
    assert one(write, b"@misc{k\0, title={A\0B\x07 C}}").title == "AB C"


def test_html_is_taken_for_what_it_shows(write: Write) -> None:
    title = r"H<sub>2</sub>O &amp; &lt;i&gt;a&lt;/i&gt; {\textless}b{\textgreater}x: 1 < 2 and 3 > 2"
    assert one(write, f"@misc{{k, title={{{title}}}}}").title == "H2O & a x: 1 < 2 and 3 > 2"


def test_a_field_of_a_megabyte_is_left_out_and_named(write: Write) -> None:
    found = read(
        write, f"@misc{{k, title={{T}}, abstract={{{'x ' * 500_000}}}}}\n@misc{{l, title={{{'y' * 1_000_000}}}}}"
    )
    assert [reference.id for reference in found.references] == ["k"]
    assert [remark.reason for remark in found.remarks] == ["the abstract has 999,999 characters, too many; left out"]
    assert [problem.reason.rsplit(", ", 1)[1] for problem in found.problems] == ["most of them title"]


def test_a_record_that_refs_jsonl_could_not_read_back_is_refused(write: Write) -> None:
    quotes = '{"}' * 390_000
    (problem,) = read(write, f"@misc{{k, title={{T}}, abstract={{{quotes}}}, note={{{quotes}}}}}").problems
    assert problem.reason.startswith("its record has 1,560,")


@pytest.mark.parametrize(
    "junk", ["{", "}", "$", "\\(", "\\'", "<i ", " ", "a and ", "\\url{", "\n", "@a{", "@a{k,\n", "--"]
)
def test_hostile_text_takes_no_more_time_than_its_length(write: Write, junk: str) -> None:
    many = junk * (30_000 // len(junk))
    for text in (f"@misc{{k, title={{T}}, abstract={{{many}}}}}", f"@misc{{k, author={{{many}}}, {many}", many):
        for reference in read(write, text).references:
            assert reference.id


def test_a_large_file_is_read_in_little_memory_and_time(write: Write) -> None:
    path = write("big.bib", "".join(f"@misc{{k, title={{T {number}}}, year=2000}}\n" for number in range(20_000)))
    found = bibtex.read(path)
    assert (found.references[0].id, found.references[-1].id, len(found.references)) == ("k", "k-20000", 20_000)


def test_a_file_of_one_line_is_read_as_fast_as_one_of_many(write: Write) -> None:
    found = read(write, "".join(f"@misc{{k{number}, title={{T}}}}" for number in range(5_000)))
    assert [reference.id for reference in found.references[-2:]] == ["k4998", "k4999"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"cannot read .*absent\.bib"):
        bibtex.read(tmp_path / "absent.bib")
