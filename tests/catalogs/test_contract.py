"""What every catalog promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from carrel.catalogs import Catalog, CitationRow, Embedding, Entry, ExhibitRow, QueryRecord, Sizes, Unfinished
from carrel.catalogs.conversations import Conversations, Session, Turn
from carrel.catalogs.locations import KnownEntry, KnownFile, Location, Locations
from carrel.types import (
    Author,
    Box,
    Chunk,
    ChunkKind,
    Cited,
    Document,
    Exhibit,
    ExhibitKind,
    Origin,
    Part,
    Place,
    Published,
    Reference,
    SectionStart,
)
from tests.catalogs.conftest import Kind

FULL_REFERENCE = Reference(
    id="smith2020",
    title="On “Everything”",
    doi="10.1000/abc",
    authors=(Author("Smith", "Ann", "0000-0001"), Author("王")),
    abstract="We show it.",
    venue="Nature",
    note="read\ntwice",
    published=Published(2020, 5, 17),
    pdf_path="pdf/smith.pdf",
    supplement_paths=("a.pdf", "b.pdf"),
    source=Origin("zotero", "XYZ"),
    tags=("graph", "to read"),
    supersedes="smith2019",
    pmid="1",
    pmcid="PMC2",
    arxiv_id="2001.00001",
    s2_id="s2",
)
FULL_CHUNK = Chunk(
    address="smith2020/ch2/s3/p1",
    paper_id="smith2020",
    part=Part.BODY,
    kind=ChunkKind.PASSAGE,
    text="Naïve 漢字 🙂 'quoted' \"too\"",
    start=5,
    end=32,
    position=4,
    chapter=2,
    section=3,
    section_path=("Methods", "A — B"),
    sections=(SectionStart(5, ("Methods", "A — B")), SectionStart(19, ("Results", "漢字"))),
    topic="retrieval",
    language="en",
    token_count=9,
    has_code=True,
    has_formula=True,
    has_table=True,
    page_start=3,
    page_end=4,
    exhibits=("smith2020/fig1", "smith2020/fig2"),
).with_facts(FULL_REFERENCE)
FULL_DOCUMENT = Document(
    "smith2020", Part.BODY, "the text\nof it", "digest", "papers/smith.md", "markdown", ("page 3: 漢字 “hidden”", "two")
)


def entry(paper_id: str, part: Part = Part.BODY, *texts: str, listed: bool = False, source: str = "") -> Entry:
    """A paper with one text, cut into the given pieces."""
    reference = Reference(id=paper_id, title=f"Title of {paper_id}")
    kind = ChunkKind.ABSTRACT if part == Part.ABSTRACT else ChunkKind.PASSAGE
    chunks = tuple(
        Chunk(f"{paper_id}/{part}/{number}", paper_id, part, kind, text, 0, len(text), position=number)
        for number, text in enumerate(texts)
    )
    document = Document(paper_id, part, " ".join(texts), f"digest of {paper_id} {part}", source)
    return Entry(reference, document, tuple(chunk.with_facts(reference) for chunk in chunks), listed)


def ids(catalog: Catalog) -> list[str]:
    return [row.reference.id for row in catalog.papers()]


def states(catalog: Catalog) -> dict[str, str]:
    left = catalog.unfinished()
    active = {row.reference.id: "active" for row in catalog.papers() if row.indexed}
    return {**active, **dict.fromkeys(left.pending, "pending"), **dict.fromkeys(left.retired, "retired")}


def test_it_is_a_catalog_and_empty_at_first(catalog: Catalog) -> None:
    assert isinstance(catalog, Catalog)
    assert (catalog.papers(), catalog.chunks(["a"]), catalog.chunks_of(["a"])) == ([], [], [])
    assert (catalog.addresses(), catalog.digests(), catalog.sources()) == (set(), {}, {})
    assert catalog.document("a", Part.BODY) is None
    assert (catalog.exhibits(["a"]), catalog.places("a", Part.BODY), catalog.citations()) == ([], (), [])
    assert (catalog.unfinished(), catalog.embeddings()) == (Unfinished({}, ()), {})


def test_every_field_comes_back_as_it_went_in(catalog: Catalog) -> None:
    catalog.put([Entry(FULL_REFERENCE, FULL_DOCUMENT, (FULL_CHUNK,), listed=True)])
    (row,) = catalog.papers()
    assert row.reference == FULL_REFERENCE
    assert (row.listed, row.indexed, row.parts, row.sources, row.chunk_count) == (
        True,
        False,
        (Part.BODY,),
        ("papers/smith.md",),
        1,
    )
    assert catalog.chunks([FULL_CHUNK.address]) == catalog.chunks_of(["smith2020"]) == [FULL_CHUNK]
    assert catalog.document("smith2020", Part.BODY) == FULL_DOCUMENT
    assert catalog.document("smith2020", Part.ABSTRACT) is None


def test_a_bare_record_comes_back_as_it_went_in(catalog: Catalog) -> None:
    bare = entry("a", Part.ABSTRACT, "text")
    catalog.put([bare])
    (row,) = catalog.papers()
    assert (row.reference, row.listed, row.sources) == (bare.reference, False, ())
    assert catalog.chunks_of(["a"]) == list(bare.chunks)
    assert catalog.chunks_of(["a"])[0].page_start is None


def test_a_paper_without_chunks_is_a_paper(catalog: Catalog) -> None:
    catalog.put([entry("a")])
    assert [(row.reference.id, row.chunk_count) for row in catalog.papers()] == [("a", 0)]
    assert catalog.unfinished() == Unfinished({"a": 0}, ())


def test_a_put_replaces_the_record_and_that_text_and_leaves_the_other_text(catalog: Catalog) -> None:
    catalog.put([entry("a", Part.ABSTRACT, "abstract", listed=True), entry("a", Part.BODY, "one", "two", "three")])
    renamed = replace(entry("a", Part.BODY, "new"), reference=Reference(id="a", title="New", venue="Cell"), listed=True)
    catalog.put([renamed])
    assert [chunk.text for chunk in catalog.chunks_of(["a"])] == ["abstract", "new"]
    assert {(chunk.title, chunk.venue) for chunk in catalog.chunks_of(["a"])} == {("New", "Cell")}
    (row,) = catalog.papers()
    assert (row.reference.title, row.listed, set(row.parts)) == ("New", True, {Part.ABSTRACT, Part.BODY})
    assert catalog.addresses() == {"a/abstract/0", "a/body/0"}


def test_a_paper_enters_pending_with_its_size_and_becomes_active(catalog: Catalog) -> None:
    catalog.put([entry("a", Part.ABSTRACT, "four"), entry("a", Part.BODY, "sixsix", "ü漢🙂"), entry("b")])
    assert catalog.unfinished() == Unfinished({"a": 13, "b": 0}, ())
    assert [row.indexed for row in catalog.papers()] == [False, False]
    catalog.activate(["a"])
    assert catalog.unfinished() == Unfinished({"b": 0}, ())
    assert [row.indexed for row in catalog.papers()] == [True, False]


def test_a_put_makes_an_active_paper_pending_again(catalog: Catalog) -> None:
    catalog.put([entry("a"), entry("b")])
    catalog.activate(["a", "b"])
    catalog.put([entry("a", Part.ABSTRACT)])
    assert states(catalog) == {"a": "pending", "b": "active"}


def test_a_retired_paper_is_gone_but_for_the_list_of_what_is_left_to_do(catalog: Catalog) -> None:
    catalog.put([entry("a", Part.BODY, "text"), entry("b", Part.BODY, "text")])
    catalog.activate(["a", "b"])
    catalog.retire(["a"])
    assert catalog.unfinished() == Unfinished({}, ("a",))
    assert ids(catalog) == ["b"]
    assert (catalog.papers(["a"]), catalog.chunks(["a/body/0"]), catalog.chunks_of(["a"])) == ([], [], [])
    assert catalog.addresses() == {"b/body/0"}


def test_removing_takes_the_texts_and_chunks_along(catalog: Catalog) -> None:
    catalog.put([entry("a", Part.BODY, "text", source="a.md"), entry("b", Part.BODY, "text", source="b.md")])
    catalog.retire(["a"])
    catalog.remove(["a"])
    assert catalog.unfinished() == Unfinished({"b": 4}, ())
    assert catalog.document("a", Part.BODY) is None
    assert (catalog.digests(), catalog.sources()) == ({("b", Part.BODY): "digest of b body"}, {"b.md": "b"})
    catalog.put([entry("a", Part.BODY, "again")])
    assert [chunk.text for chunk in catalog.chunks_of(["a"])] == ["again"]


def test_a_retired_paper_that_is_put_again_is_pending(catalog: Catalog) -> None:
    catalog.put([entry("a", Part.BODY, "text")])
    catalog.retire(["a"])
    catalog.put([entry("a", Part.BODY, "text")])
    assert states(catalog) == {"a": "pending"}


def test_files_move_all_at_once_and_nothing_else_about_their_papers_changes(catalog: Catalog) -> None:
    names = ("a", "b", "c")
    catalog.put([entry(name, Part.BODY, f"text of {name}", source=f"{name}.md") for name in names])
    catalog.activate(names)
    before = catalog.chunks_of(names)
    catalog.move({"a.md": "b.md", "b.md": "new/a.md", "gone.md": "c.md"})
    assert catalog.sources() == {"b.md": "a", "new/a.md": "b", "c.md": "c"}
    assert (states(catalog), catalog.chunks_of(names)) == (dict.fromkeys(names, "active"), before)


# Locations

FOLDER = Location("papers", folder=True, tags=("thesis", "graphs"), attached=True)
ZOTERO = Location("zotero:groups/7")
FILES = [
    KnownFile("papers/a.md", "papers", "digest", "12:3:4", "a"),
    KnownFile("papers/lib.bib", "papers", "other", "9"),
    KnownFile("zotero:groups/7", "zotero:groups/7"),
]
ENTRIES = [KnownEntry("d1", "x", '{"id": "x"}'), KnownEntry("d2", "y", '{"id": "y"}'), KnownEntry("d3", "x", "{}")]


@pytest.fixture
def locations(catalog: Catalog) -> Locations:
    """Two locations, three things found there, and what a .bib file lists."""
    catalog.locations.put(ZOTERO)
    catalog.locations.put(FOLDER)
    catalog.locations.put_files(FILES)
    catalog.locations.put_entries("papers/lib.bib", ENTRIES)
    return catalog.locations


def test_a_catalog_knows_no_locations_at_first(catalog: Catalog) -> None:
    shelf = catalog.locations
    assert isinstance(shelf, Locations)
    assert (shelf.all(), shelf.files(), shelf.entries("a.bib"), shelf.records("a.bib", ["d"])) == ([], {}, {}, [])
    assert shelf.papers_listed() == {}
    shelf.forget("papers")
    shelf.forget_files(["papers/a.md"])
    shelf.forget_entries("papers/a.md", ["d1"])


def test_locations_come_back_as_they_went_in_and_a_put_replaces(locations: Locations) -> None:
    assert locations.all() == [FOLDER, ZOTERO]
    locations.put(Location("papers", folder=True))
    assert locations.all() == [Location("papers", folder=True), ZOTERO]
    assert list(locations.files().values()) == FILES


def test_known_files_come_back_as_they_went_in_and_a_put_replaces_without_losing_entries(locations: Locations) -> None:
    assert locations.files() == {file.path: file for file in FILES}
    changed = replace(FILES[1], digest="third")
    locations.put_files([changed])
    assert locations.files()["papers/lib.bib"] == changed
    assert locations.entries("papers/lib.bib") == {"d1": "x", "d2": "y", "d3": "x"}


def test_entries_are_added_to_and_forgotten_one_by_one(locations: Locations) -> None:
    assert locations.records("papers/lib.bib", {"d3", "d1", "d9"}) == [ENTRIES[0], ENTRIES[2]]
    locations.put_entries("papers/lib.bib", [KnownEntry("d2", "z", "{}")])
    locations.put_entries("zotero:groups/7", [KnownEntry("d1", "x", "{}")])
    locations.forget_entries("papers/lib.bib", ["d3"])
    assert locations.entries("papers/lib.bib") == {"d1": "x", "d2": "z"}
    assert locations.papers_listed() == {
        "x": frozenset({"papers/lib.bib", "zotero:groups/7"}),
        "z": frozenset({"papers/lib.bib"}),
    }


def test_a_forgotten_location_takes_along_what_was_found_there(locations: Locations) -> None:
    locations.forget("papers")
    assert (locations.all(), list(locations.files()), locations.papers_listed()) == ([ZOTERO], ["zotero:groups/7"], {})
    locations.forget_files(["zotero:groups/7"])
    assert locations.files() == {}


def test_papers_come_and_go_without_touching_the_locations(catalog: Catalog, locations: Locations) -> None:
    catalog.put([entry("a", Part.BODY, "text", source="papers/a.md")])
    catalog.retire(["a"])
    catalog.remove(["a"])
    assert locations.files()["papers/a.md"].paper_id == "a"


def test_turns_come_back_in_order_with_their_time(catalog: Catalog) -> None:
    conversations = catalog.conversations
    assert isinstance(conversations, Conversations)
    assert (conversations.all(), list(conversations.turns("a"))) == ([], [])
    said = [Turn(f"q{number}", f"asked {number}", "Naïve 漢字 'quoted'") for number in range(3)]
    assert [conversations.add("a", one) for one in said] == [1, 2, 3]
    kept = conversations.turns("a")
    assert [replace(one, time="") for one in kept] == said
    assert [one.time for one in kept] == sorted(one.time for one in kept)
    assert conversations.all() == [Session("a", 3, kept[0].time, kept[-1].time)]


def test_the_latest_conversation_comes_first_and_one_is_forgotten_alone(catalog: Catalog) -> None:
    conversations = catalog.conversations
    for name in ("'; DROP TABLE turns --", "b", "B"):
        conversations.add(name, Turn("q", "q", "a"))
    conversations.add("b", Turn("q", "q", "a"))
    assert [(one.name, one.turns) for one in conversations.all()] == [("b", 2), ("B", 1), ("'; DROP TABLE turns --", 1)]
    assert (conversations.remove("b"), conversations.remove("b")) == (2, 0)
    assert [one.name for one in conversations.all()] == ["B", "'; DROP TABLE turns --"]
    assert conversations.add("b", Turn("q", "q", "a")) == 1


def test_unknown_ids_are_no_error(catalog: Catalog) -> None:
    catalog.put([entry("a")])
    for verb in (catalog.activate, catalog.retire, catalog.remove, catalog.reopen):
        verb(["nobody"])
        verb([])
    assert states(catalog) == {"a": "pending"}


def test_reopening_makes_these_papers_pending_or_all(catalog: Catalog) -> None:
    catalog.put([entry(paper_id) for paper_id in ("a", "b", "c", "gone")])
    catalog.activate(["a", "b", "c"])
    catalog.retire(["gone"])
    catalog.reopen(["a", "b"])
    assert states(catalog) == {"a": "pending", "b": "pending", "c": "active", "gone": "retired"}
    catalog.reopen()
    assert states(catalog) == {"a": "pending", "b": "pending", "c": "pending", "gone": "retired"}


def test_reopening_never_brings_a_retired_paper_back(catalog: Catalog) -> None:
    catalog.put([entry("gone")])
    catalog.retire(["gone"])
    catalog.reopen(["gone"])
    assert states(catalog) == {"gone": "retired"}


@pytest.mark.parametrize(("dropped", "left", "listed"), [("abstract", "body", False), ("body", "abstract", True)])
def test_dropping_forgets_one_text_and_makes_the_paper_pending(
    catalog: Catalog, dropped: str, left: str, listed: bool
) -> None:
    catalog.put([entry("a", Part(part), part, listed=True, source=f"{part}.md") for part in ("abstract", "body")])
    catalog.put([entry("b", Part.ABSTRACT, "text")])
    catalog.activate(["a", "b"])
    catalog.drop("a", Part(dropped))
    assert states(catalog) == {"a": "pending", "b": "active"}
    row = catalog.papers(["a"])[0]
    assert (row.parts, row.sources, row.listed) == ((Part(left),), (f"{left}.md",), listed)
    assert [chunk.text for chunk in catalog.chunks_of(["a"])] == [left]
    assert catalog.document("a", Part(dropped)) is None


def test_digests_are_by_paper_and_part_and_sources_by_file(catalog: Catalog) -> None:
    catalog.put([entry("a", Part.ABSTRACT), entry("a", Part.BODY, source="x/a.md"), entry("b", source="b.md")])
    assert catalog.digests() == {
        ("a", Part.ABSTRACT): "digest of a abstract",
        ("a", Part.BODY): "digest of a body",
        ("b", Part.BODY): "digest of b body",
    }
    assert catalog.sources() == {"x/a.md": "a", "b.md": "b"}


FIGURE = Exhibit(
    ExhibitKind.FIGURE, 0, 8, "Figure 1", "Figure 1: ‘It’", "a line", "img/a.png", Box(2, 1.25, 2.5, 30.0, 40.75)
)
TABLE = Exhibit(ExhibitKind.TABLE, 9, 11, caption="Numbers")


def illustrated(paper_id: str, *cited: Cited) -> Entry:
    """A paper with two exhibits, a bibliography and places."""
    whole = entry(paper_id, Part.BODY, "the text of it")
    shown = tuple(
        replace(whole.chunks[0], address=f"{paper_id}/fig{n}", start=one.start, end=one.end, position=n)
        for n, one in enumerate((FIGURE, TABLE), start=1)
    )
    places = (Place(0, 8, Box(1, 10.0, 20.5, 300.25, 31.0)), Place(8, 14, Box(2, 10.0, 20.0, 300.0, 31.0)))
    return replace(whole, chunks=(*whole.chunks, *shown), exhibits=(FIGURE, TABLE), cited=cited, places=places)


def test_exhibits_and_places_come_back_as_they_went_in_and_go_with_their_text(catalog: Catalog) -> None:
    one = illustrated("a")
    catalog.put([one, illustrated("b")])
    assert catalog.exhibits(["a"]) == [ExhibitRow("a/fig1", "a", FIGURE), ExhibitRow("a/fig2", "a", TABLE)]
    assert [row.address for row in catalog.exhibits(["b", "a"])] == ["a/fig1", "a/fig2", "b/fig1", "b/fig2"]
    assert catalog.places("a", Part.BODY) == one.places
    catalog.put([entry("a", Part.BODY, "another text")])
    assert (catalog.exhibits(["a"]), catalog.places("a", Part.BODY)) == ([], ())
    catalog.retire(["b"])
    assert catalog.exhibits(["b"]) == []


def test_a_bibliography_knows_which_of_its_works_the_library_has(catalog: Catalog) -> None:
    by_doi = Cited("[1] Some words.", title="Another title altogether", doi="10.1000/ABC", year=2020)
    by_title = Cited("[2] Title of the second", title="TITLE OF: the second!", year=1999)
    other_doi = Cited("[3] x", title="Unheard of title of mine", doi="10.1000/other")
    short = Cited("[4] y", title="Title")
    preprint = Cited("[5] z", title="On Everything, really", doi="10.1000/preprint")
    named = replace(FULL_REFERENCE, title="On “Everything”, really")
    catalog.put([Entry(named, FULL_DOCUMENT, ()), entry("the second"), entry("short")])
    catalog.put([illustrated("a", by_doi, by_title, other_doi, short, preprint)])
    assert catalog.citations(["a"]) == [
        CitationRow("a", 0, by_doi, "smith2020"),
        CitationRow("a", 1, by_title, "the second"),
        CitationRow("a", 2, other_doi),
        CitationRow("a", 3, short),
        CitationRow("a", 4, preprint),
    ]
    assert catalog.citations() == catalog.citations(["a"])
    catalog.retire(["smith2020"])
    assert catalog.citations(["a"])[0].known_as == ""
    catalog.remove(["a"])
    assert catalog.citations() == []


@pytest.mark.parametrize("spelling", ["10.1000/a_b%!ß", "https://doi.org/10.1000/A_B%!ß", "DOI: 10.1000/A_b%!ß."])
def test_who_cites_a_paper_is_found_by_its_doi_in_any_spelling_or_its_title(catalog: Catalog, spelling: str) -> None:
    cited = replace(FULL_REFERENCE, doi="10.1000/A_B%!ß", title="On “Everything”, really")
    by_doi = Cited("[1] Some words.", title="Another title altogether", doi=spelling)
    by_title = Cited("[1] More words.", title="ON EVERYTHING: really")
    near = Cited("[2] Nearly.", title="On everything, nearly", doi="10.1000/aXbY!ß")
    longer = Cited("[3] Longer.", title="A longer one of the kind", doi="10.1000/a_b%!ß.x")
    catalog.put([Entry(cited, FULL_DOCUMENT, ())])
    catalog.put([illustrated("b", by_title, near, longer), illustrated("a", by_doi), illustrated("c", near)])
    assert catalog.citing("smith2020") == [
        CitationRow("a", 0, by_doi, "smith2020"),
        CitationRow("b", 0, by_title, "smith2020"),
    ]
    assert catalog.citing("smith2020") == [row for row in catalog.citations() if row.known_as]
    assert (catalog.citing("a"), catalog.citing("nobody")) == ([], [])
    catalog.retire(["a"])
    assert [row.paper_id for row in catalog.citing("smith2020")] == ["b"]
    catalog.retire(["smith2020"])
    assert catalog.citing("smith2020") == []


def test_a_paper_that_names_itself_does_not_cite_itself(catalog: Catalog) -> None:
    catalog.put([illustrated("the paper itself", Cited("[1] x", title="Title of the paper itself"))])
    assert catalog.citations(["the paper itself"])[0].known_as == "the paper itself"
    assert catalog.citing("the paper itself") == []


def test_a_bibliography_follows_the_papers_that_come_and_go(catalog: Catalog) -> None:
    catalog.put([illustrated("a", Cited("[1] x", title="Title of the second"))])
    assert [row.known_as for row in catalog.citations(["a"])] == [""]
    catalog.put([entry("the second")])
    assert [row.known_as for row in catalog.citations(["a"])] == ["the second"]
    catalog.remove(["the second"])
    assert [row.known_as for row in catalog.citations(["a"])] == [""]


def test_the_mark_of_a_paper_changes_with_its_record_alone(catalog: Catalog) -> None:
    catalog.put([entry("b", Part.BODY, "one"), entry("a", Part.ABSTRACT, "two")])
    first = catalog.changes()
    assert list(first) == ["a", "b"]
    catalog.activate(["a", "b"])
    assert catalog.changes() == first
    catalog.put([entry("b", Part.ABSTRACT, "three")])
    assert (catalog.changes()["a"], catalog.changes()["b"] != first["b"]) == (first["a"], True)
    catalog.retire(["a"])
    assert list(catalog.changes()) == ["b"]
    catalog.put([entry("a", Part.ABSTRACT, "two")])
    assert catalog.changes()["a"] != first["a"]


def test_what_there_is_is_counted_without_what_is_retired(catalog: Catalog) -> None:
    assert catalog.sizes() == Sizes(0, 0, 0)
    catalog.put([illustrated("a"), illustrated("b"), entry("c", Part.ABSTRACT, "one", "two")])
    chunks = len(catalog.addresses())
    assert catalog.sizes() == Sizes(3, chunks, 4)
    catalog.retire(["b"])
    assert catalog.sizes() == Sizes(2, len(catalog.addresses()), 2)
    catalog.remove(["a", "b", "c"])
    assert catalog.sizes() == Sizes(0, 0, 0)


def test_what_was_embedded_is_remembered_until_it_is_embedded_anew_or_gone(catalog: Catalog) -> None:
    catalog.put([entry("a", Part.ABSTRACT, "x"), entry("b", Part.ABSTRACT, "y")])
    catalog.activate(["a", "b"], [Embedding("a", "model", "hash a"), Embedding("b", "model", "hash b")])
    kept = catalog.embeddings()
    assert {(one.paper_id, one.model_name, one.abstract_hash) for one in kept.values()} == {
        ("a", "model", "hash a"),
        ("b", "model", "hash b"),
    }
    assert kept["a"].indexed_at > 1_700_000_000
    catalog.activate(["a"], [Embedding("a", "other", "hash c")])
    catalog.activate(["b"])
    assert {key: one.model_name for key, one in catalog.embeddings().items()} == {"a": "other"}
    catalog.remove(["a"])
    assert catalog.embeddings() == {}


def test_papers_are_in_order_of_id(catalog: Catalog) -> None:
    catalog.put([entry(paper_id) for paper_id in ("b", "a10", "B", "a2", "ä")])
    assert ids(catalog) == ["B", "a10", "a2", "b", "ä"]
    assert [row.reference.id for row in catalog.papers(["b", "nobody", "B"])] == ["B", "b"]
    assert catalog.papers([]) == []


def test_chunks_come_in_the_order_asked_and_unknown_ones_are_left_out(catalog: Catalog) -> None:
    catalog.put([entry("a", Part.BODY, "one", "two", "three")])
    asked = ["a/body/2", "nowhere", "a/body/0", "a/body/2"]
    assert [chunk.text for chunk in catalog.chunks(asked)] == ["three", "one", "three"]


def test_chunks_of_papers_are_in_reading_order(catalog: Catalog) -> None:
    texts = [f"piece {number}" for number in range(12)]
    body = entry("b", Part.BODY, *texts)
    catalog.put([replace(body, chunks=body.chunks[::-1]), entry("b", Part.ABSTRACT, "abstract")])
    catalog.put([entry("a", Part.BODY, "first paper")])
    assert [chunk.text for chunk in catalog.chunks_of({"b", "a"})] == ["first paper", "abstract", *texts]


@pytest.mark.parametrize(
    "hostile",
    [
        "o'neil",
        'a"b',
        "'; DROP TABLE papers; --",
        "a/b/../c",
        "%_*?",
        "naïve 漢字 🙂\u202e",
        "x" * 10_240,
        " . ",
        "[1,2]",
    ],
    ids=lambda text: text[:20],
)
def test_hostile_strings_are_only_strings(catalog: Catalog, hostile: str) -> None:
    reference = Reference(id=hostile, title=hostile, venue=hostile, tags=(hostile,), authors=(Author(hostile),))
    one = entry(hostile, Part.BODY, hostile, source=hostile)
    catalog.put([entry("bystander", Part.BODY, "text"), replace(one, reference=reference)])
    (chunk,) = catalog.chunks_of([hostile])
    assert (chunk.text, chunk.title, chunk.tags) == (hostile, hostile, (hostile,))
    assert catalog.papers([hostile])[0].reference == reference
    assert (catalog.sources()[hostile], catalog.chunks([chunk.address])) == (hostile, [chunk])
    catalog.activate([hostile])
    assert states(catalog) == {"bystander": "pending", hostile: "active"}
    catalog.remove([hostile])
    assert ids(catalog) == ["bystander"]


def test_a_very_long_record_comes_back(catalog: Catalog) -> None:
    long = replace(FULL_REFERENCE, id="a", abstract="x" * 1_000_001)
    catalog.put([replace(entry("a", Part.BODY, "text"), reference=long)])
    assert catalog.papers()[0].reference == long


def record(number: int, text: str) -> QueryRecord:
    return QueryRecord(str(number), text, "hybrid", 12.5, {"vector": 7}, {"citation_count": 2})


def test_of_a_query_only_a_salted_hash_is_kept_unless_its_text_is_asked_for(kind: Kind, catalog: Catalog) -> None:
    catalog.analytics.record(record(1, "secret"), keep_text=False)
    catalog.analytics.record(record(2, "secret"), keep_text=True)
    catalog.analytics.record(record(3, "other"), keep_text=False)
    first, second, third = kind.queries(catalog)
    assert (first[0], first[2:], second[2]) == ("1", (None, "hybrid", 7, 2), "secret")
    assert first[1] == second[1] != third[1]
    assert len(first[1]) == 64


def test_two_catalogs_salt_their_hashes_differently(kind: Kind) -> None:
    hashes = set()
    for name in ("one", "two"):
        one = kind.another(name)
        one.forget()
        catalog = one.open()
        catalog.analytics.record(record(1, "secret"), keep_text=False)
        hashes.add(one.queries(catalog)[0][1])
        catalog.close()
    assert len(hashes) == 2


@pytest.mark.parametrize(
    "text", ["", "o'neil \"; --", "漢字 🙂", "\udcff", "x" * 10_000], ids=lambda text: ascii(text[:9])
)
def test_any_query_is_remembered(kind: Kind, catalog: Catalog, text: str) -> None:
    catalog.analytics.record(QueryRecord("1", text, "hybrid", 1.0), keep_text=True)
    assert len(kind.queries(catalog)) == 1


def remarked(paper_id: str, part: Part, *remarks: str) -> Entry:
    made = entry(paper_id, part, "text", listed=part == Part.ABSTRACT)
    return replace(made, document=replace(made.document, remarks=remarks))


def test_what_is_to_be_known_of_a_text_is_kept_with_it(catalog: Catalog) -> None:
    catalog.put([remarked("b", Part.BODY, "first", "second"), remarked("b", Part.ABSTRACT, "of the abstract")])
    catalog.put([remarked("a", Part.BODY, "other"), remarked("plain", Part.BODY)])
    assert catalog.remarks() == {"a": ("other",), "b": ("of the abstract", "first", "second")}
    assert catalog.remarks(["b", "plain", "unknown"]) == {"b": ("of the abstract", "first", "second")}
    assert catalog.remarks([]) == {}


def test_a_text_that_is_read_anew_has_its_new_remarks_and_one_that_is_gone_none(catalog: Catalog) -> None:
    catalog.put([remarked("a", Part.BODY, "old"), remarked("a", Part.ABSTRACT, "kept"), remarked("b", Part.BODY, "x")])
    catalog.put([remarked("a", Part.BODY, "new")])
    assert catalog.remarks(["a"]) == {"a": ("kept", "new")}
    catalog.put([remarked("a", Part.BODY)])
    assert catalog.remarks(["a"]) == {"a": ("kept",)}
    catalog.drop("a", Part.ABSTRACT)
    catalog.retire(["b"])
    assert catalog.remarks() == {}
