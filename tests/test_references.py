from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.errors import SourceError
from carrel.identifiers import normalise_doi, paper_of, slug, unused
from carrel.references import jsonl, merge, merge_all
from carrel.types import Author, Origin, Published, Reference

FULL = Reference(
    id="yu-2020",
    title="A Title — with dash",
    doi="10.1000/x",
    authors=(Author("Yu", "Tim", "0000-0001-2345-6789"), Author("Ångström")),
    abstract="An abstract.",
    venue="ACL",
    note="read twice",
    published=Published(2020, 5, 17),
    pdf_path="yu.pdf",
    supplement_paths=("yu-s1.pdf",),
    source=Origin("zotero", "ABC"),
    tags=("b", "a"),
    supersedes="10.1000/old",
    pmid="1",
    pmcid="PMC1",
    arxiv_id="2001.00001",
    s2_id="s2",
)


def test_a_record_survives_writing_and_reading_with_every_field() -> None:
    assert jsonl.load(jsonl.dump(FULL)) == FULL


def test_keys_are_in_order_empty_strings_written_and_empty_lists_left_out() -> None:
    assert jsonl.dump(Reference("a", "T", authors=(Author("Yu"),))) == (
        '{"id": "a", "doi": "", "title": "T", "authors": [{"first": "", "last": "Yu"}], "abstract": "", "venue": "", '
        '"published": {"year": 0}, "pdf_path": "", "source": {"type": "manual", "id": ""}}'
    )
    assert list(json.loads(jsonl.dump(FULL))) == [
        "id", "doi", "title", "authors", "abstract", "venue", "note", "published", "pdf_path", "supplement_paths",
        "source", "tags", "supersedes", "pmid", "pmcid", "arxiv_id", "s2_id",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken", "not JSON: Expecting property name enclosed in double quotes at column 2"),
        ("[1]", "a record is a JSON object, this is list"),
        ('{"id": "a"}', "'title': "),
        ('{"id": "", "title": "T"}', "'id' is empty"),
        ('{"id": "a", "title": "T", "authors": "Yu"}', "'authors': "),
        ('{"id": "a", "title": "T", "published": {"year": "soon"}}', "'published.year': "),
        ('{"id": "a", "title": "T", "published": {"year": 99999999999999999999}}', "'published.year' is 9999"),
        ('{"id": "a", "title": "T", "published": {"year": -1}}', "'published.year' is -1, no year"),
        ('{"a":' * 100_000, "it is nested too deeply"),
    ],
)
def test_a_bad_line_is_named_with_its_number_and_reason_and_the_good_ones_are_kept(
    tmp_path: Path, line: str, reason: str
) -> None:
    path = tmp_path / "refs.jsonl"
    path.write_text(f"{jsonl.dump(FULL)}\n\n{line}\n{jsonl.dump(replace(FULL, id='b'))}\n", encoding="utf-8")
    found = jsonl.read(path)
    assert [reference.id for reference in found.references] == ["yu-2020", "b"]
    (problem,) = found.problems
    assert problem.source == f"{path}:3"
    assert problem.reason.startswith(f"line 3: {reason}")


def test_nulls_mean_not_known_and_text_no_store_can_hold_is_replaced() -> None:
    reference = jsonl.load('{"id": "a", "title": "A\\u0000B \\ud800", "doi": null, "authors": null}')
    assert (reference.title, reference.doi, reference.authors) == ("A\ufffdB ?", "", ())


def test_a_line_over_a_million_characters_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 1,000,000"):
        jsonl.load(jsonl.dump(replace(FULL, abstract="x" * 1_000_000)))


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "refs.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SourceError, match="not UTF-8"):
        jsonl.read(tmp_path / "refs.jsonl")


def test_writing_changes_only_the_lines_of_changed_records(tmp_path: Path) -> None:
    path = tmp_path / "refs.jsonl"
    foreign = '{"title":"Spaced   oddly","id":"b","mine":1}'
    path.write_text(f"{jsonl.dump(FULL)}\n{foreign}\n{{broken\n", encoding="utf-8")
    jsonl.write(path, {"yu-2020": replace(FULL, venue="EMNLP"), "new": Reference("new", "N")})
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[1:3] == [foreign, "{broken"]
    assert jsonl.load(lines[0]).venue == "EMNLP"
    assert jsonl.load(lines[3]).id == "new"


def test_a_changed_record_keeps_keys_that_carrel_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "refs.jsonl"
    path.write_text('{"id": "b", "title": "B", "mine": 1}\n', encoding="utf-8")
    jsonl.write(path, {"b": Reference("b", "Better")})
    assert json.loads(path.read_text(encoding="utf-8"))["mine"] == 1


def test_dropping_takes_out_exactly_those_records(tmp_path: Path) -> None:
    path = tmp_path / "refs.jsonl"
    path.write_text(f"{jsonl.dump(FULL)}\n{{broken\n{jsonl.dump(Reference('b', 'B'))}\n", encoding="utf-8")
    jsonl.drop(path, {"yu-2020"})
    assert path.read_text(encoding="utf-8") == f"{{broken\n{jsonl.dump(Reference('b', 'B'))}\n"


def test_an_update_keeps_what_the_new_record_does_not_say() -> None:
    merged = merge(FULL, Reference("other", "New title", published=Published(0), abstract=""))
    assert merged == replace(FULL, title="New title")


def test_a_known_paper_is_recognised_by_source_then_doi_then_id() -> None:
    known = {"yu-2020": FULL}
    incoming = [
        Reference("x", "By source", source=Origin("zotero", "ABC")),
        Reference("y", "By DOI", doi="https://doi.org/10.1000/X"),
        Reference("yu-2020", "By id"),
        Reference("z", "New"),
        Reference("z", "New"),
    ]
    merged = merge_all(known, incoming)
    assert (merged.new, merged.updated, merged.unchanged) == (["z"], ["yu-2020"], 1)
    assert merged.changed["yu-2020"].title == "By id"


def test_another_paper_under_a_known_id_gets_the_next_free_one() -> None:
    known = {"smith2020": Reference("smith2020", "One", doi="10.1000/one")}
    incoming = [Reference("smith2020", title, doi=f"10.1000/{title.lower()}") for title in ("Two", "Three", "Two")]
    merged = merge_all(known, incoming)
    assert merged.new == ["smith2020-2", "smith2020-3"]
    assert (merged.updated, merged.unchanged) == ([], 1)


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("https://doi.org/10.18653/V1/2020.acl-main.1", "10.18653/v1/2020.acl-main.1"),
        ("doi:10.1000/abc).", "10.1000/abc"),
        ("none", ""),
    ],
)
def test_a_doi_has_one_spelling(text: str, doi: str) -> None:
    assert normalise_doi(text) == doi


def test_ids_addresses_and_slugs() -> None:
    assert paper_of("10.1/x/ch1/s2/p3") == "10.1/x"
    assert paper_of("a/abstract") == "a"
    assert paper_of("a") == "a"
    assert slug("My notes: on (graphs)") == "My-notes:-on-graphs"
    assert slug("***") == "paper"
    assert unused("a", {"a", "a-2"}) == "a-3"


def test_what_a_terminal_would_obey_is_taken_out_of_a_record() -> None:
    reference = jsonl.load(json.dumps({"id": "a", "title": "Red \x1b[31m alarm\x07 \x9b2J\tkept", "authors": []}))
    assert reference.title == "Red \ufffd[31m alarm\ufffd \ufffd2J\tkept"
