"""Reading CSL-JSON, Zotero's JSON and Paperpile's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.references import csl, paperpile, zotero_items
from carrel.types import Author, Origin, Published, Reference

Write = Callable[[str, str | bytes], Path]

CSL: dict[str, Any] = {
    "id": "http://zotero.org/users/1/items/ABCD2345",
    "type": "article-journal",
    "title": "On <i>E. coli</i> &amp; sons",
    "author": [
        {"family": "Berg", "given": "Anna", "non-dropping-particle": "van der", "ORCID": "https://orcid.org/0000-0001-2345-678X"},
        {"literal": "World Health Organization"},
        {"family": "King", "given": "Martin", "suffix": "Jr."},
    ],
    "container-title": "Nature",
    "issued": {"date-parts": [["2020", 5, "21"], [2021]]},
    "DOI": "10.1000/ABC",
    "PMID": "123",
    "note": "PMCID: PMC77\nRead it.",
    "keyword": "graphs, trees",
    "URL": "https://arxiv.org/abs/2001.00001v1",
    "abstract": "<p>First.</p><p>Second.</p>",
}  # fmt: skip


def test_every_field_of_csl_that_a_record_knows_is_read(write: Write) -> None:
    (reference,) = csl.read(write("a.json", json.dumps([CSL]))).references
    assert reference == Reference(
        id="ABCD2345",
        title="On E. coli & sons",
        doi="10.1000/abc",
        authors=(
            Author("van der Berg", "Anna", "0000-0001-2345-678X"),
            Author("World Health Organization"),
            Author("King", "Martin, Jr."),
        ),
        abstract="First.\n\nSecond.",
        venue="Nature",
        note="PMCID: PMC77 Read it.",
        published=Published(2020, 5, 21),
        source=Origin("zotero", "ABCD2345"),
        tags=("graphs", "trees"),
        pmid="123",
        pmcid="PMC77",
        arxiv_id="2001.00001",
    )


def test_items_may_stand_in_an_object_and_dates_may_be_words(write: Write) -> None:
    items = [{"id": 7, "type": "book", "title": "T", "editor": [{"family": "E"}], "issued": {"raw": "May 2, 1990"}}]
    (reference,) = csl.read(write("a.json", json.dumps({"styles": {}, "items": items}))).references
    assert (reference.id, reference.authors, reference.published) == ("7", (Author("E"),), Published(1990, 5, 2))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"type": "book", "title": "A"},\n {"type": "book", "ti', "line 2"),
        ('[{"type": "book", "title": "A"}', "breaks off"),
        ('[{"type": "book", "title": "A"}, ' + "[" * 100_000, "nested too deeply"),
        ('[{"type": "book", "title": "A"}, 3]', "a JSON object, this is int"),
        (
            '[{"type": "book", "title": "A"}, {"title": ["", {}], "author": 3, "issued": [], "DOI": {}}]',
            "it has no title",
        ),
        ('[{"type": "book", "title": "A"}, {"volume": ' + "9" * 5000 + "}]", "not JSON"),
    ],
)
def test_a_broken_item_is_named_and_what_came_before_is_kept(write: Write, text: str, reason: str) -> None:
    found = csl.read(write("a.json", text))
    assert [reference.title for reference in found.references] == ["A"]
    (problem,) = found.problems
    assert reason in f"line {problem.source.rsplit(':', 1)[1]}: {problem.reason}"


def test_lone_surrogates_and_controls_do_not_reach_the_record(write: Write) -> None:
    (reference,) = csl.read(
        write("a.json", '[{"id": "a", "type": "book", "title": "A\\ud800\\u0000\\u0007B"}]')
    ).references
    assert reference.title == "A?B"


def test_a_zotero_export_is_read_with_notes_tags_collections_and_files(write: Write) -> None:
    item = {
        "itemID": 5, "itemType": "conferencePaper", "itemKey": "KEY23456", "title": "T", "date": "2019-00-00 2019",
        "creators": [
            {"creatorType": "editor", "lastName": "E", "firstName": "F"},
            {"creatorType": "author", "name": "Collective"},
        ],
        "proceedingsTitle": "Proc", "extra": "Citation Key: mine2019\nPMID: 42",
        "notes": ["<p>One</p>", {"note": "Two"}], "tags": [{"tag": "a"}, {"tag": "b"}],
        "attachments": [{"path": "files/1/x.pdf"}], "DOI": "10.1000/x",
    }  # fmt: skip
    export = {"config": {}, "collections": {"C": {"name": "Mine", "items": [5]}}, "items": [item, {"itemType": "note"}]}
    (reference,) = zotero_items.read(write("z.json", json.dumps(export))).references
    assert reference == Reference(
        id="mine2019",
        title="T",
        doi="10.1000/x",
        authors=(Author("Collective"),),
        venue="Proc",
        note="PMID: 42\n\nOne\n\nTwo",
        published=Published(2019),
        pdf_path="files/1/x.pdf",
        source=Origin("zotero", "KEY23456"),
        tags=("a", "b", "Mine"),
        pmid="42",
    )


def test_what_zoteros_api_answers_is_read_too(write: Write) -> None:
    answer = [{"key": "KEY23456", "version": 1, "data": {"itemType": "book", "title": "T", "date": "2019-05"}}]
    (reference,) = zotero_items.read(write("z.json", json.dumps(answer))).references
    assert (reference.id, reference.published) == ("KEY23456", Published(2019, 5))


def test_a_paperpile_export_is_read_as_its_users_expect(write: Write) -> None:
    entry = {
        "_id": "p1", "citekey": "Yu2020-ab", "doi": "10.1000/x", "title": "T", "abstract": "A", "booktitle": "Proc",
        "published": {"year": "2020", "month": 5, "day": "2"}, "note": "Mine",
        "author": [{"first": "Tim", "last": "Yu", "orcid": "0000-0001-2345-6789"}],
        "attachments": [{"article_pdf": 0, "filename": "s.pdf"}, {"article_pdf": 1, "filename": "All/m.pdf"}],
        "labelsNamed": ["l"], "foldersNamed": ["f"],
    }  # fmt: skip
    (reference,) = paperpile.read(write("p.json", json.dumps([entry]))).references
    assert reference == Reference(
        id="Yu2020-ab",
        title="T",
        doi="10.1000/x",
        authors=(Author("Yu", "Tim", "0000-0001-2345-6789"),),
        abstract="A",
        venue="Proc",
        note="Mine",
        published=Published(2020, 5, 2),
        pdf_path="All/m.pdf",
        supplement_paths=("s.pdf",),
        source=Origin("paperpile", "p1"),
        tags=("l", "f"),
    )


def test_an_incomplete_paperpile_entry_is_kept_and_marked_and_an_empty_one_dropped(write: Write) -> None:
    entries = [{"_id": "a", "doi": "10.1000/x"}, {"_id": "b", "title": "T"}, {"_id": "c", "abstract": "nothing else"}]
    found = paperpile.read(write("p.json", json.dumps(entries)))
    first, second = found.references
    assert (first.title, first.authors, first.published) == ("[no title]", (Author("Unknown"),), Published(0))
    assert (first.tags, second.tags) == (("paperpile:incomplete",), ("paperpile:incomplete",))
    assert [problem.reason for problem in found.problems] == ["it has no title, author, year or DOI"]
