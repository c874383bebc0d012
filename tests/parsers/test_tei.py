"""TEI XML, mostly as GROBID writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.parsers import Source
from carrel.parsers.xml import Xml
from carrel.types import Author, BlockKind, Box, ExhibitKind, Paper, Published

DATA = Path(__file__).parents[3] / "shared" / "data" / "fulltext" / "acl_pdf_tei"
HEADER = """<teiHeader xml:lang="en"><fileDesc><titleStmt><title level="a" type="main">On Cats</title></titleStmt>
<publicationStmt><date type="published" when="2018-06-01">1 June 2018</date></publicationStmt>
<sourceDesc><biblStruct><analytic><author><persName><forename type="first">Tim</forename>
<forename type="middle">B</forename>
<surname>Yu</surname></persName><idno type="ORCID">0000-0002-4254-3009</idno></author>
<title level="a">On Cats</title></analytic>
<monogr><title level="j">Cats</title><imprint><date when="2018-05-07"/></imprint></monogr>
<idno type="DOI">10.1000/CAT</idno><idno type="arXiv">arXiv:1805.01234v2</idno></biblStruct></sourceDesc></fileDesc>
<profileDesc><abstract><div><p>Cats drink.</p><p>They do.</p></div></abstract></profileDesc></teiHeader>"""


def tei(body: str, *, header: str = HEADER, back: str = "") -> Paper:
    content = (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0">{header}<text xml:lang="en"><body>{body}</body>'
        f"<back>{back}</back></text></TEI>"
    )
    return Xml().parse(Source("paper.tei", content.encode()))


def shown(paper: Paper) -> list[tuple[str, str]]:
    return [(block.kind.value, paper.text[block.start : block.end]) for block in paper.blocks][4:]


def test_the_header_becomes_the_record() -> None:
    paper = tei("<div><head n='1'>Introduction</head><p>x</p></div>")
    reference = paper.reference
    assert (reference.title, reference.doi, reference.arxiv_id) == ("On Cats", "10.1000/cat", "1805.01234")
    assert reference.authors == (Author("Yu", "Tim B", "0000-0002-4254-3009"),)
    assert (reference.venue, reference.published) == ("Cats", Published(2018, 5, 7))
    assert reference.abstract == "Cats drink.\n\nThey do."
    assert (paper.format, paper.language) == ("tei", "en")


def test_headings_are_as_deep_as_their_numbers_say() -> None:
    paper = tei(
        "<div><head n='2.'>Model</head><p>a</p></div><div><head n='2.1'>Parts</head><p>b</p></div>"
        "<div><head>Outlook</head><div><head>Inner</head><p>c</p></div></div>"
    )
    headings = [(block.level, block.title) for block in paper.blocks if block.kind == BlockKind.HEADING][2:]
    assert headings == [(2, "2 Model"), (3, "2.1 Parts"), (2, "Outlook"), (3, "Inner")]


def test_figures_tables_formulas_and_lists_are_blocks() -> None:
    paper = tei(
        "<div><head>A</head><p>Before <formula>a = b<label>(1)</label></formula> after <ref type='bibr'>[2]</ref>."
        "<note place='foot' n='1'>A note.</note></p><list><item>one</item><item>two</item></list></div>"
        "<figure xml:id='f1'><head>Figure 1 :</head><label>1</label><figDesc>A cat.</figDesc>"
        "<graphic url='x.png'/></figure>"
        "<figure type='table'><head></head><label>2</label><figDesc>Sizes.</figDesc>"
        "<table><row role='label'><cell>Name</cell><cell>Size</cell></row><row><cell>Tom</cell><cell>1</cell>"
        "</row></table>"
        "</figure>"
    )
    assert shown(paper) == [
        ("heading", "A"),
        ("text", "Before"),
        ("formula", r"$$a = b \tag{1}$$"),
        ("text", "after [2]."),
        ("text", "A note."),
        ("list", "- one"),
        ("list", "- two"),
        ("caption", "Figure 1: A cat."),
        ("caption", "Table 2: Sizes."),
        ("table", "| Name | Size |\n| --- | --- |\n| Tom | 1 |"),
    ]
    assert [(exhibit.kind, exhibit.label, exhibit.image) for exhibit in paper.exhibits] == [
        (ExhibitKind.FIGURE, "Figure 1", ""), (ExhibitKind.TABLE, "Table 2", ""),
    ]  # fmt: skip


def test_coordinates_become_places_and_nonsense_does_not() -> None:
    paper = tei(
        "<div><head coords='1,10,20,100,12'>A</head><p coords='1,10,40,100,50;2,10,5,100,20'>Words.</p>"
        "<p coords='x;1,2;0,1,1,1,1;1,nan,1,1,1'>More.</p></div>"
    )
    places = [(paper.text[place.start : place.end], place.box) for place in paper.places]
    assert places == [
        ("A", Box(1, 10, 20, 110, 32)), ("Words.", Box(1, 10, 40, 110, 90)), ("Words.", Box(2, 10, 5, 110, 25)),
    ]  # fmt: skip


def test_the_bibliography_is_as_printed_where_grobid_kept_it() -> None:
    author = "<author><persName><forename type='first'>J</forename><surname>Smith</surname></persName></author>"
    entry = (
        "<biblStruct><analytic><title level='a'>On dogs</title>{0}</analytic><monogr>"
        "<title level='j'>Dogs</title><imprint>"
        "<biblScope unit='volume'>3</biblScope><biblScope unit='page' from='1' to='9'/><date when='2010'/>"
        "</imprint></monogr>"
        "<idno type='DOI'>10.1000/D</idno>{1}</biblStruct>"
    )
    raw = "<note type='raw_reference'>J. Smith. On dogs. Dogs 3, 2010.</note>"
    back = f"<div type='references'><listBibl>{entry.format(author, raw)}{entry.format(author, '')}</listBibl></div>"
    paper = tei("<div><p>x</p></div>", back=f"<div type='acknowledgement'><div><p>Thanks.</p></div></div>{back}")
    assert shown(paper)[1:] == [
        ("heading", "Acknowledgments"),
        ("text", "Thanks."),
        ("heading", "References"),
        ("reference", "J. Smith. On dogs. Dogs 3, 2010."),
        ("reference", "J Smith (2010). On dogs. Dogs 3: 1–9. 10.1000/D."),
    ]
    assert {(cited.title, cited.year, cited.doi) for cited in paper.cited} == {("On dogs", 2010, "10.1000/d")}


@pytest.mark.parametrize(("name", "entries"), [("N18-3011", 27), ("2020.acl-main.207", 57)])
def test_papers_from_grobid_are_read_whole(name: str, entries: int) -> None:
    path = DATA / f"{name}.tei.xml"
    if not path.exists():
        pytest.skip("the papers are not here: shared/data/fulltext/acl_pdf_tei beside the repository")
    paper = Xml().parse(Source(path.name, path.read_bytes(), path))
    headings = [block for block in paper.blocks if block.kind == BlockKind.HEADING]
    assert paper.reference.abstract
    assert len(headings) > 10
    assert [heading.title for heading in headings].count("References") == 1
    assert len(paper.cited) == entries
    assert all(cited.title for cited in paper.cited)
