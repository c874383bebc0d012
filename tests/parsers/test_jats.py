"""Articles in JATS XML, and what every XML file must not do."""

from __future__ import annotations

import re
import tarfile
import time
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from lxml import etree

from carrel.errors import EmptyDocument, SourceError
from carrel.parsers import Source
from carrel.parsers.xml import Xml
from carrel.types import Author, BlockKind, ExhibitKind, Paper, Published

DATA = Path(__file__).parents[3] / "shared" / "data" / "fulltext"
FRONT = """<front><journal-meta><journal-title-group><journal-title>Cats</journal-title></journal-title-group>
</journal-meta><article-meta>
<article-id pub-id-type="doi">10.1000/CAT.1</article-id><article-id pub-id-type="pmid">123</article-id>
<article-id pub-id-type="pmc">456</article-id>
<title-group><article-title>On <italic>Felis</italic> and H<sub>2</sub>O</article-title></title-group>
<contrib-group><contrib contrib-type="author"><contrib-id contrib-id-type="orcid">https://orcid.org/0000-0002-4254-300X
</contrib-id><name><surname>Yu</surname><given-names>Tim</given-names></name><xref ref-type="aff"><sup>1</sup></xref>
</contrib><contrib contrib-type="author"><collab>The Cat Group</collab></contrib>
<contrib contrib-type="editor"><name><surname>Editor</surname></name></contrib></contrib-group>
<pub-date pub-type="collection"><year>2019</year></pub-date>
<pub-date pub-type="epub"><day>7</day><month>5</month><year>2020</year></pub-date>
<pub-date pub-type="pmc-release"><day>1</day><month>1</month><year>2021</year></pub-date>
<abstract><sec><title>Background:</title><p>Cats drink.</p></sec>
<sec><title>Results</title><p>They do.</p></sec></abstract>
<kwd-group><kwd>cats</kwd><kwd>water</kwd></kwd-group>
</article-meta></front>"""


def read(content: str | bytes, name: str = "paper.xml", path: Path | None = None) -> Paper:
    return Xml().parse(Source(name, content.encode() if isinstance(content, str) else content, path))


def article(body: str = "", *, front: str = "<front/>", back: str = "", floats: str = "") -> Paper:
    names = 'xmlns:mml="http://www.w3.org/1998/Math/MathML" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return read(f"<article {names}>{front}<body>{body}</body><back>{back}</back>{floats}</article>")


def shown(paper: Paper) -> list[tuple[str, str]]:
    return [(block.kind.value, paper.text[block.start : block.end]) for block in paper.blocks][1:]


def assert_sound(paper: Paper) -> None:
    assert all(0 <= block.start < block.end <= len(paper.text) for block in paper.blocks)
    assert all(before.end <= after.start for before, after in pairwise(paper.blocks))
    starts, ends = {block.start for block in paper.blocks}, {block.end for block in paper.blocks}
    assert all(exhibit.start in starts and exhibit.end in ends for exhibit in paper.exhibits)
    assert all(before.end <= after.start for before, after in pairwise(paper.exhibits))
    paper.text.encode()


def test_the_front_matter_becomes_the_record() -> None:
    paper = article("<sec><title>Intro</title><p>Hello.</p></sec>", front=FRONT)
    reference = paper.reference
    assert (reference.title, reference.doi, reference.venue) == ("On Felis and H2O", "10.1000/cat.1", "Cats")
    assert (reference.pmid, reference.pmcid) == ("123", "PMC456")
    assert reference.authors == (Author("Yu", "Tim", "0000-0002-4254-300X"), Author("The Cat Group"))
    assert reference.published == Published(2020, 5, 7)
    assert reference.abstract == "Background: Cats drink.\n\nResults: They do."
    assert (reference.tags, paper.format) == ((), "jats")


def test_the_text_begins_with_title_abstract_and_keywords() -> None:
    paper = article("<p>Hello.</p>", front=FRONT)
    assert paper.text == (
        "On Felis and H2O\n\nAbstract\n\nBackground:\n\nCats drink.\n\nResults\n\nThey do.\n\nKeywords: cats, water\n\n"
        "Main text\n\nHello."
    )
    assert [block.level for block in paper.blocks if block.kind == BlockKind.HEADING] == [1, 2, 3, 3, 2]


def test_sections_keep_their_numbers_and_their_depth() -> None:
    paper = article(
        "<sec><label>1</label><title>One</title><sec><title>Inner</title><p>a</p></sec></sec><sec>"
        "<title>Two</title></sec>"
    )
    headings = [(block.level, block.title) for block in paper.blocks if block.kind == BlockKind.HEADING]
    assert headings == [(1, "paper"), (2, "1 One"), (3, "Inner"), (2, "Two")]


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("H<sub>2</sub>O", "H2O"),
        ("cm<sup>2</sup>, 10<sup>−5</sup>, Ca<sup>2+</sup>", "cm2, 10^−5, Ca2+"),
        ('shown<sup><xref ref-type="bibr">1</xref>,<xref ref-type="bibr">2</xref></sup>.', "shown[1,2]."),
        ('shown<xref ref-type="bibr"><sup>12</sup></xref> now', "shown[12] now"),
        ('shown [<xref ref-type="bibr">12</xref>]', "shown [12]"),
        ('shown<xref ref-type="bibr">12</xref>', "shown[12]"),
        ("one<break/>two", "one two"),
        ("<italic>ag</italic><italic>gregation</italic>", "aggregation"),
        ("let <inline-formula><tex-math>$x &lt; y$</tex-math></inline-formula> be", "let $x < y$ be"),
        ("<inline-formula><italic>x</italic><sub>i</sub></inline-formula>", "xi"),
    ],
)
def test_tags_neither_glue_words_nor_split_them(markup: str, words: str) -> None:
    assert shown(article(f"<p>{markup}</p>")) == [("text", words)]


def test_blocks_inside_a_paragraph_part_it_and_floats_stand_behind_it() -> None:
    paper = article(
        "<p>Before<disp-formula><label>(1)</label><tex-math>a^2</tex-math></disp-formula>between"
        "<fig><label>Fig 1</label><caption><title>A cat.</title><p>It sits.</p></caption></fig> after."
        "<fn><p>A note.</p></fn></p>"
    )
    assert shown(paper) == [
        ("text", "Before"),
        ("formula", r"$$a^2 \tag{1}$$"),
        ("text", "between after."),
        ("caption", "Fig 1. A cat. It sits."),
        ("text", "A note."),
    ]
    assert [(exhibit.kind, exhibit.label) for exhibit in paper.exhibits] == [(ExhibitKind.FIGURE, "Figure 1")]


def test_mathml_is_read_as_latex() -> None:
    math = (
        "<mml:math><mml:mrow><mml:mfrac><mml:mi>a</mml:mi><mml:msqrt><mml:mi>b</mml:mi></mml:msqrt></mml:mfrac>"
        "<mml:mo>=</mml:mo><mml:msubsup><mml:mi>x</mml:mi><mml:mn>1</mml:mn><mml:mn>2</mml:mn></mml:msubsup>"
        "<mml:mover><mml:mi>y</mml:mi><mml:mo>^</mml:mo></mml:mover></mml:mrow></mml:math>"
    )
    assert shown(article(f"<disp-formula>{math}</disp-formula>")) == [
        ("formula", r"$$\frac{a}{\sqrt{b}}=x_{1}^{2}\hat{y}$$")
    ]


def test_a_formula_that_is_only_a_picture_is_told() -> None:
    paper = article('<p>See<disp-formula><graphic xlink:href="e1.gif"/></disp-formula></p>')
    assert paper.remarks == ("formulas that are only pictures and could not be read: 1",)


def test_a_table_stands_between_its_caption_and_its_notes() -> None:
    paper = article(
        "<table-wrap><label>Table 2</label><caption><p>Cats.</p></caption><alternatives><graphic xlink:href='t.png'/>"
        "<table><thead><tr><th rowspan='2'>Name</th><th colspan='2'>Size</th></tr><tr><th>min</th>"
        "<th>max</th></tr></thead><tbody><tr><td>Tom</td><td>1</td><td>2<break/>3</td></tr></tbody></table>"
        "</alternatives>"
        "<table-wrap-foot><fn><p>In kg.</p></fn></table-wrap-foot></table-wrap>"
    )
    assert shown(paper) == [
        ("caption", "Table 2. Cats."),
        ("table", "| Name | Size min | Size max |\n| --- | --- | --- |\n| Tom | 1 | 2 3 |"),
        ("caption", "In kg."),
    ]
    (exhibit,) = paper.exhibits
    assert (exhibit.kind, exhibit.label, exhibit.caption) == (ExhibitKind.TABLE, "Table 2", "Table 2. Cats.")
    assert paper.text[exhibit.start : exhibit.end].endswith("In kg.")


def test_lists_are_nested_and_numbered() -> None:
    paper = article(
        "<list list-type='order'><list-item><p>one</p><list list-type='bullet'><list-item><p>inner</p>"
        "</list-item></list>"
        "</list-item><list-item><label>b)</label><p>two</p></list-item></list>"
        "<def-list><def-item><term>Cat</term><def><p>An animal.</p></def></def-item></def-list>"
    )
    assert shown(paper) == [
        ("list", "1. one"), ("list", "   - inner"), ("list", "b) two"), ("list", "- Cat: An animal."),
    ]  # fmt: skip


def test_a_box_and_a_quotation_begin_no_section_and_code_keeps_its_lines() -> None:
    paper = article(
        "<boxed-text><label>Box 1</label><caption><title>Aside</title></caption><sec><title>Inside</title>"
        "<p>x</p></sec>"
        "</boxed-text><disp-quote><p>Said.</p></disp-quote><code>if x:\n    y()</code>"
    )
    assert shown(paper) == [
        ("text", "Box 1. Aside"), ("text", "Inside"), ("text", "x"), ("text", "Said."), ("code", "if x:\n    y()"),
    ]  # fmt: skip


def test_figures_at_the_end_of_a_file_stand_where_the_text_first_speaks_of_them() -> None:
    fig = "<fig id='{0}'><label>Figure {0}</label><caption><p>Seen.</p></caption></fig>"
    paper = article(
        "<sec><title>A</title><p>See <xref ref-type='fig' rid='2'>Fig 2</xref>.</p><p>More.</p></sec>",
        floats=f"<floats-group>{fig.format(1)}{fig.format(2)}</floats-group>",
    )
    assert [text for _kind, text in shown(paper)] == [
        "A", "See Fig 2.", "Figure 2. Seen.", "More.", "Figures and tables", "Figure 1. Seen.",
    ]  # fmt: skip


def test_a_picture_is_named_only_if_it_lies_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "g1.jpg").write_bytes(b"x")
    outside = tmp_path.parent / "outside.jpg"
    outside.write_bytes(b"x")
    (tmp_path / "link.jpg").symlink_to(outside)
    figures = "".join(
        f"<fig><caption><p>c</p></caption><graphic xlink:href='{name}' xmlns:xlink='x'/></fig>"
        for name in ("g1", "../outside.jpg", "link.jpg", "/etc/passwd", "g2")
    )
    paper = read(f"<article><body>{figures}</body></article>", path=tmp_path / "paper.xml")
    assert [exhibit.image for exhibit in paper.exhibits] == ["images/g1.jpg", "", "", "", ""]


def test_a_bibliography_is_printed_and_told() -> None:
    name = "<name><surname>Yu</surname><given-names>T</given-names></name>"
    paper = article(
        "<p>x</p>",
        back="<ack><p>Thanks.</p></ack><ref-list><title>Literature</title>"
        f"<ref><label>1</label><element-citation publication-type='journal'><person-group>{name}<etal/></person-group>"
        "<article-title>On cats</article-title><source>Cats</source><year>2010</year><volume>3</volume><fpage>1</fpage>"
        "<lpage>9</lpage><pub-id pub-id-type='doi'>10.1/not</pub-id></element-citation></ref>"
        f"<ref>"
        f"<mixed-citation>{name}, Doe A (<year>2011a</year>) <article-title>More cats</article-title>. <source>Cats"
        "</source> 4. doi:<pub-id pub-id-type='doi'>10.1000/M</pub-id></mixed-citation></ref>"
        "<ref><mixed-citation>Smith J. On dogs. Dogs. 2012;1:2.</mixed-citation></ref></ref-list>",
    )
    assert shown(paper)[1:] == [
        ("heading", "Acknowledgments"),
        ("text", "Thanks."),
        ("heading", "Literature"),
        ("reference", "1. Yu T, et al (2010). On cats. Cats 3: 1–9. doi:10.1/not."),
        ("reference", "Yu T, Doe A (2011a) More cats. Cats 4. doi:10.1000/M"),
        ("reference", "Smith J. On dogs. Dogs. 2012;1:2."),
    ]
    assert [(cited.title, cited.year, cited.doi) for cited in paper.cited] == [
        ("On cats", 2010, ""), ("More cats", 2011, "10.1000/m"), ("On dogs", 2012, ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        "<pmc-articleset><article><body><p>Hello.</p></body></article></pmc-articleset>",
        "<a:article xmlns:a='urn:x'><a:body><a:p>Hello.</a:p></a:body></a:article>",
        "<ARTICLE><BODY><P>Hello.</P></BODY></ARTICLE>",
        "<?xml version='1.0'?><!DOCTYPE article PUBLIC '-//NLM//DTD' 'x.dtd'><article><body><p>Hello.</p>"
        "</body></article>",
    ],
)
def test_wrappers_namespaces_and_cases_are_all_the_same(content: str) -> None:
    assert shown(read(content)) == [("text", "Hello.")]


def test_an_unknown_root_is_named_with_what_is_known() -> None:
    with pytest.raises(SourceError, match="its root element is 'html'") as caught:
        read("<html><body>x</body></html>")
    assert "<article>" in caught.value.hint
    assert "<TEI>" in caught.value.hint


def test_entities_of_publishers_survive_without_their_dtd() -> None:
    paper = read(
        '<!DOCTYPE article [<!ENTITY co "Company"><!ENTITY big "&co;&co;">]><article><body>'
        "<p>a&ndash;b &alpha; AT&T &co; &big; &unknown; <![CDATA[&amp;]]></p></body></article>"
    )
    assert shown(paper) == [("text", "a–b α AT&T Company &big; &unknown; &amp;")]
    assert paper.remarks == ()


HOSTILE = {
    "laughs": '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "' + "&b;" * 50 + '"><!ENTITY d "' + "&c;" * 50 + '">]>'
    "<article><body><p>x &d;</p></body></article>",
    "quadratic": f'<!DOCTYPE a [<!ENTITY b "{"b" * 100_000}">]><article><body><p>x{"&b;" * 10_000}</p></body>'
    "</article>",
    "file": '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><article><body><p>x &b;</p></body></article>',
    "remote": '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><article><body><p>x</p></body></article>',
    "deep": "<article><body><p>x</p>" + "<sec>" * 100_000,
    "deep words": "<article><body><p>" + "<italic>" * 240 + "x" + "</italic>" * 240 + "</p></body></article>",
    "open": "<article><body><p>x</p><p>" + "<![CDATA[" * 50_000,
    "ampersands": "<article><body><p>x" + "&" * 200_000,
    "tags": "<article><body><p>x</p>" + "<" * 200_000,
    "types": "<article><body><p>x</p></body></article>" + "<!DOCTYPE " * 20_000,
    "paragraphs": "<article><body>" + "<p>x</p>" * 20_000 + "</body></article>",
    "spans": "<article><body><p>x</p><table>" + "<tr><td colspan='9999' rowspan='9999'>y</td></tr>" * 2_000
    + "</table></body></article>",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_cost_little_and_open_nothing(name: str) -> None:
    start = time.process_time()
    paper = read(HOSTILE[name])
    assert time.process_time() - start < 5
    assert_sound(paper)
    assert "x" in paper.text
    assert "root:" not in paper.text
    assert len(paper.text) < 3_000_000


def test_a_broken_file_is_read_as_far_as_it_goes_with_a_remark() -> None:
    paper = read("<article><body><p>one</p><p>two")
    assert shown(paper) == [("text", "one"), ("text", "two")]
    assert "the XML is broken" in paper.remarks[0]


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [("UTF-8", "utf-8"), ("ISO-8859-1", "latin-1"), ("ISO-8859-1", "utf-8"), ("UTF-16", "utf-8"), ("UTF-16", "utf-16"),
     ("UTF-8", "cp1252"), ("zip", "utf-8"), ("unicode_escape", "utf-8")],
)  # fmt: skip
def test_a_wrong_declaration_of_the_encoding_does_no_harm(declared: str, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{declared}"?><article><body><p>Größe ü</p></body></article>'
    assert shown(read(text.encode(encoding))) == [("text", "Größe ü")]


@pytest.mark.parametrize("content", ["<article/>", "<article><body><p> </p></body></article>", "<TEI/>"])
def test_an_article_without_words_is_empty(content: str) -> None:
    with pytest.raises(EmptyDocument, match=r"'paper\.xml' is empty"):
        read(content)


PIECES = (
    "<sec>", "</sec>", "<title>T</title>", "<p>", "</p>", "words ", "<fig>", "</fig>", "<caption><p>c</p></caption>",
    "<label>Fig 1</label>", "<table-wrap>", "</table-wrap>", "<table><tr><td rowspan='3'>a</td><td>b</td></tr></table>",
    "<list><list-item><p>i</p></list-item></list>", "<disp-formula>x</disp-formula>", "<sup>1</sup>", "&amp;", "&x;",
    "<boxed-text>", "</boxed-text>", "<ref-list><ref><mixed-citation>A</mixed-citation></ref></ref-list>", "<!-- c -->",
    "<fn><p>n</p></fn>", "<xref rid='f'>F</xref>", "<code>c\n</code>", "\n", "🙂", "<?pi?>", "<![CDATA[<]]>", "<",
)  # fmt: skip


@given(body=some.lists(some.sampled_from(PIECES), max_size=30).map("".join))
def test_any_body_gives_sound_blocks_and_exhibits(body: str) -> None:
    try:
        paper = article(body)
    except SourceError as error:
        assert "'paper.xml'" in error.message  # noqa: PT017
    else:
        assert_sound(paper)


def grams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text)
    return {tuple(words[place : place + 5]) for place in range(max(len(words) - 4, 1))}


@pytest.mark.parametrize("collection", ["plos_jats", "pmc_jats_dev"])
def test_no_words_of_real_articles_are_lost(collection: str) -> None:
    packed = DATA / collection / f"{collection}.tar.xz"
    if not packed.exists():
        pytest.skip(f"the articles are not here: shared/data/fulltext/{collection} beside the repository")
    with tarfile.open(packed) as archive:
        files = islice((member for member in archive if member.name.endswith("ml")), 5)
        contents = [
            (Path(member.name).name, found.read()) for member in files if (found := archive.extractfile(member))
        ]
    for name, content in contents:
        paper = Xml().parse(Source(name, content))
        assert_sound(paper)
        assert paper.reference.doi
        root = etree.fromstring(content)
        assert len(paper.cited) >= sum(1 for _ in root.iter("ref"))
        body = next(root.iter("body"))
        paragraphs = {gram for p in body.iter("p") if not len(p) for gram in grams(p.text or "") if len(gram) == 5}
        assert len(paragraphs - grams(paper.text)) <= 0.01 * len(paragraphs)
        assert len(paper.exhibits) == sum(1 for _ in root.iter("fig", "table-wrap"))
