"""Finding the papers that a file, or an entry of a bibliography, may be, without reading all of them."""

from __future__ import annotations

import pytest

from carrel.catalogs import Catalog, Entry
from carrel.catalogs.sql import SqlCatalog
from carrel.types import Cited, Document, Part, Reference

LONG = "The same beginning " * 30


def paper(paper_id: str, title: str, doi: str = "", *, digest: str = "", cites: str = "") -> Entry:
    document = Document(paper_id, Part.BODY, "text", digest or f"digest of {paper_id}", f"{paper_id}.md")
    cited = (Cited(cites, title=cites),) if cites else ()
    return Entry(Reference(paper_id, title, doi=doi), document, (), cited=cited)


@pytest.mark.parametrize(
    ("titles", "dois", "found"),
    [
        (["dense passage RETRIEVAL: for questions"], [], {"a"}),
        ([], ["https://doi.org/10.1000/ABC"], {"b"}),
        (["Dense passage retrieval for questions"], ["10.1000/abc"], {"a", "b"}),
        (["Ünïted accénts, everywhere"], [], {"c"}),
        (["Short", "", "Another title altogether"], ["", "no DOI", "10.9999/other"], set()),
    ],
    ids=["title", "doi", "both", "accents", "neither"],
)
def test_papers_are_found_by_titles_and_dois_in_any_spelling(
    catalog: Catalog, titles: list[str], dois: list[str], found: set[str]
) -> None:
    catalog.put(
        [
            paper("a", "Dense Passage Retrieval for Questions"),
            paper("b", "Short", "10.1000/abc"),
            paper("c", "United Accents Everywhere"),
            paper("d", "Something else entirely"),
        ]
    )
    assert catalog.alike(titles=titles, dois=dois) == found


def test_a_paper_is_found_by_what_it_is_called_now(catalog: Catalog) -> None:
    catalog.put([paper("a", "What it was called at first", "10.1000/old")])
    catalog.put([paper("a", "What it is called today", "10.1000/new")])
    assert catalog.alike(titles=["What it was called at first"], dois=["10.1000/old"]) == set()
    assert catalog.alike(titles=["What it is called today"]) == catalog.alike(dois=["10.1000/new"]) == {"a"}


def test_names_longer_than_an_index_holds_are_told_apart_in_the_end(catalog: Catalog) -> None:
    titles = {"a": f"{LONG} one way" * 20, "b": f"{LONG} another way" * 20}
    catalog.put([paper(paper_id, title) for paper_id, title in titles.items()])
    catalog.put([paper("c", "It cites", cites=titles["b"])])
    assert "b" in catalog.alike(titles=[titles["b"]])
    assert [row.known_as for row in catalog.citations(["c"])] == ["b"]


def test_a_body_is_found_by_its_digest_and_a_file_by_its_path(catalog: Catalog) -> None:
    catalog.put([paper("a", "A", digest="same"), paper("b", "B", digest="same"), paper("c", "C")])
    assert (catalog.holding("same"), catalog.holding("digest of c"), catalog.holding("other")) == ("b", "c", "")
    assert catalog.sources(["a.md", "nowhere.md"]) == {"a.md": "a"}
    assert catalog.sources([]) == {}
    catalog.retire(["b"])
    assert catalog.holding("same") == "a"
    abstract = Document("d", Part.ABSTRACT, "text", "of an abstract")
    catalog.put([Entry(Reference("d", "D"), abstract, ())])
    assert catalog.holding("of an abstract") == ""


def test_papers_of_an_older_catalog_may_be_any_until_somebody_writes(catalog: Catalog) -> None:
    title = "Dense passage retrieval for questions"
    catalog.put([paper("old", title.upper()), paper("older", "Nothing like it at all")])
    # One in memory is never old.
    if isinstance(catalog, SqlCatalog):
        with catalog.database.writing("papers") as session:
            session.write("UPDATE papers SET doi_key = NULL, title_key = NULL", [()])
        assert catalog.alike(titles=[title]) == {"old", "older"}
    catalog.put([paper("new", "It cites", cites=title)])
    assert catalog.alike(titles=[title]) == {"old"}
    assert [row.known_as for row in catalog.citations(["new"])] == ["old"]
    assert [row.paper_id for row in catalog.citing("old")] == ["new"]
