"""What became of papers is looked up in a local file, told with its date, and never silently not looked up."""

from __future__ import annotations

import csv
import os
from dataclasses import replace
from pathlib import Path

import pytest

from carrel import retractions
from carrel.errors import InvalidInput
from carrel.library import Library
from carrel.retractions.index import Index
from carrel.testing import HashedWords, Script
from carrel.types import Author, Flag, Notice, Published, Reference

COLUMNS = (
    "Record ID", "Title", "Subject", "Institution", "Journal", "Publisher", "Country", "Author", "URLS", "ArticleType",
    "RetractionDate", "RetractionDOI", "RetractionPubMedID", "OriginalPaperDate", "OriginalPaperDOI",
    "OriginalPaperPubMedID", "RetractionNature", "Reason", "Paywalled", "Notes",
)  # fmt: skip
ROW = {
    "Title": "Sugar shortens the life of male laboratory mice by weeks",
    "Author": "Ann B Smith;José Núñez",
    "RetractionDate": "5/1/2020 0:00",
    "RetractionDOI": "10.1000/notice",
    "OriginalPaperDate": "3/12/2018 0:00",
    "OriginalPaperDOI": "10.1000/SUGAR",
    "OriginalPaperPubMedID": "0",
    "RetractionNature": "Retraction",
    "Reason": "+Duplication of Image;+Investigation by Journal/Publisher;",
}
PAPER = Reference("smith2018", "Sugar in mice", doi="https://doi.org/10.1000/sugar")
AS_OF = "Retraction Watch, as of 2020-05-01"


def written(path: Path, *rows: dict[str, str], encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def index_of(folder: Path, *rows: dict[str, str], encoding: str = "utf-8") -> Index:
    file = written(folder / "watch.csv", *rows, encoding=encoding)
    return Index("watch.csv", file, folder / "cache")


def flags(reference: Reference, folder: Path, *rows: dict[str, str]) -> tuple[Flag, ...]:
    return retractions.flags_of(reference, index_of(folder, *rows))


def test_a_paper_is_found_by_its_doi_with_date_reason_and_source(tmp_path: Path) -> None:
    (flag,) = flags(PAPER, tmp_path, ROW)
    reason = "Duplication of Image; Investigation by Journal/Publisher"
    assert flag == Flag(Notice.RETRACTION, AS_OF, "2020-05-01", reason, "10.1000/notice")
    assert retractions.sentence(flag) == f"RETRACTED 2020-05-01 ({AS_OF}): {reason} https://doi.org/10.1000/notice"


def test_a_paper_is_found_by_its_pubmed_id(tmp_path: Path) -> None:
    row = {**ROW, "OriginalPaperDOI": "unavailable", "OriginalPaperPubMedID": "12345"}
    assert len(flags(replace(PAPER, doi="", pmid="PMID: 12345"), tmp_path, row)) == 1
    assert flags(replace(PAPER, doi="", pmid="1234"), tmp_path, row) == ()


TITLED = replace(PAPER, doi="", title="RETRACTED: Sugar shortens the life of male laboratory mice by weeks.")


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        (TITLED, True),
        (replace(TITLED, published=Published(2018), authors=(Author("Nunez"),)), True),
        (replace(TITLED, published=Published(2017)), True),
        (replace(TITLED, published=Published(2014)), False),
        (replace(TITLED, authors=(Author("Miller"),)), False),
        (replace(TITLED, title="Sugar shortens the life of mice"), False),
    ],
)
def test_a_title_counts_where_year_and_authors_do_not_speak_against_it(
    reference: Reference, found: bool, tmp_path: Path
) -> None:
    row = {**ROW, "OriginalPaperDOI": "Unavailable"}
    assert bool(flags(reference, tmp_path, row)) is found


def test_a_short_title_alone_is_not_enough(tmp_path: Path) -> None:
    row = {**ROW, "Title": "Sugar in old mice", "OriginalPaperDOI": ""}
    bare = replace(PAPER, doi="", title="Sugar in old mice")
    assert flags(bare, tmp_path, row) == ()
    assert len(flags(replace(bare, authors=(Author("Smith"),)), tmp_path, row)) == 1


def test_two_dois_that_differ_are_two_works_whatever_their_titles(tmp_path: Path) -> None:
    assert flags(replace(TITLED, doi="10.1000/other"), tmp_path, ROW) == ()


def test_notices_come_in_order_each_once_and_a_reinstatement_says_what_it_takes_back(tmp_path: Path) -> None:
    later = {**ROW, "RetractionDate": "7/9/2021 0:00", "RetractionNature": "Reinstatement", "Reason": "+Error;"}
    before = {**ROW, "RetractionDate": "1/1/2019 0:00", "RetractionNature": "Expression of concern", "Reason": ""}
    found = flags(PAPER, tmp_path, later, ROW, ROW, before)
    assert [(flag.notice, flag.date) for flag in found] == [
        (Notice.CONCERN, "2019-01-01"),
        (Notice.RETRACTION, "2020-05-01"),
        (Notice.REINSTATEMENT, "2021-07-09"),
    ]
    assert found[-1].reason == "takes back the retraction of 2020-05-01; Error"
    assert retractions.headline(found) == "EXPRESSION OF CONCERN"
    assert retractions.headline(found[1:]) == "REINSTATED"
    assert retractions.headline(found[:2]) == "RETRACTED"
    assert retractions.headline(()) == ""


@pytest.mark.parametrize(
    ("tag", "notice"),
    [
        ("retracted", Notice.RETRACTION),
        ("Retracted", Notice.RETRACTION),
        ("corrected", Notice.CORRECTION),
        ("expression-of-concern", Notice.CONCERN),
        ("Expression of concern", Notice.CONCERN),
    ],
)
def test_a_tag_is_a_notice_without_a_date(tag: str, notice: Notice) -> None:
    assert retractions.flags_of(replace(PAPER, tags=("mice", tag)), None) == (Flag(notice, f"the tag {tag!r}"),)


def test_a_paper_without_notice_has_none_and_an_empty_record_finds_nothing(tmp_path: Path) -> None:
    empty = {**ROW, "OriginalPaperDOI": "", "Title": "", "OriginalPaperPubMedID": ""}
    assert flags(Reference("a", "Other"), tmp_path, ROW, empty) == ()


def test_old_files_in_latin_1_are_read(tmp_path: Path) -> None:
    index = index_of(tmp_path, {**ROW, "Reason": "Größe"}, encoding="latin-1")
    (flag,) = retractions.flags_of(PAPER, index)
    assert (flag.reason, index.complaint) == ("Größe", "")


def test_dates_that_are_none_are_not_told_and_the_future_is_not_the_files_date(tmp_path: Path) -> None:
    odd = {**ROW, "RetractionDate": "13/45/2020 0:00", "OriginalPaperDOI": "10.1000/odd"}
    future = {**ROW, "RetractionDate": "1/1/2999 0:00", "OriginalPaperDOI": "10.1000/future"}
    index = index_of(tmp_path, ROW, odd, future)
    assert index.as_of == "2020-05-01"
    assert [flag.date for flag in index.flags(replace(PAPER, doi="10.1000/odd"))] == [""]


def test_the_index_is_kept_until_the_file_changes_and_may_be_deleted(tmp_path: Path) -> None:
    file = written(tmp_path / "watch.csv", ROW)
    kept = tmp_path / "cache" / "retractions.db"
    Index("watch.csv", file, tmp_path / "cache").close()
    first = kept.stat().st_ino
    Index("watch.csv", file, tmp_path / "cache").close()
    assert kept.stat().st_ino == first
    written(file, ROW, {**ROW, "OriginalPaperDOI": "10.1000/second"})
    assert len(list(Index("w", file, tmp_path / "cache").flags(Reference("b", "B", doi="10.1000/second")))) == 1
    kept.write_bytes(b"no database")
    assert len(list(Index("w", file, tmp_path / "cache").flags(PAPER))) == 1
    kept.unlink()
    assert len(list(Index("w", file, tmp_path / "cache").flags(PAPER))) == 1
    assert [path.name for path in kept.parent.iterdir()] == ["retractions.db"]


def test_where_nothing_can_be_written_the_file_is_still_looked_up(tmp_path: Path) -> None:
    file = written(tmp_path / "watch.csv", ROW)
    (tmp_path / "cache").write_text("a file where the folder should be")
    index = Index("watch.csv", file, tmp_path / "cache")
    assert (len(list(index.flags(PAPER))), index.complaint) == (1, "")


def complaint(tmp_path: Path, content: bytes) -> tuple[str, int]:
    (tmp_path / "watch.csv").write_bytes(content)
    index = Index("watch.csv", tmp_path / "watch.csv", tmp_path / "cache")
    return index.complaint, len(list(index.flags(PAPER)))


def test_a_file_that_is_broken_is_complained_of_and_what_it_says_is_still_told(tmp_path: Path) -> None:
    whole = written(tmp_path / "watch.csv", ROW, ROW).read_bytes()
    said, found = complaint(tmp_path, whole[:-40])
    assert "ends in the middle of a row" in said
    assert found == 1
    assert "has no column 'OriginalPaperDOI'" in complaint(tmp_path, b"<!DOCTYPE html><html>Not found</html>")[0]
    assert "has no row" in complaint(tmp_path, ",".join(COLUMNS).encode())[0]
    assert complaint(tmp_path, b"")[0]
    lines = whole.split(b"\r\n")
    said, found = complaint(tmp_path, b"\r\n".join([lines[0], b"half,a row", lines[1], b""]))
    assert "has 1 rows that cannot be read" in said
    assert found == 1


def test_a_file_that_is_not_there_or_may_not_be_read_is_complained_of(tmp_path: Path) -> None:
    gone = Index("gone.csv", tmp_path / "gone.csv", tmp_path)
    assert gone.complaint == "'gone.csv' cannot be read (No such file or directory); retractions are not known"
    assert "lies outside" in Index("link.csv", None, tmp_path).complaint
    assert list(gone.flags(PAPER)) == []


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        (PAPER, "https://doi.org/10.1000/sugar"),
        (replace(PAPER, doi="10.1000/a<b>#c"), "https://doi.org/10.1000/a%3Cb%3E%23c"),
        (Reference("a", "A", arxiv_id="arXiv:1706.03762v5"), "https://arxiv.org/abs/1706.03762"),
        (Reference("a", "A", pmid="123"), "https://pubmed.ncbi.nlm.nih.gov/123/"),
        (Reference("a", "A", pmcid="PMC5"), "https://pmc.ncbi.nlm.nih.gov/articles/PMC5/"),
        (Reference("a", "A"), ""),
    ],
)
def test_a_paper_is_linked_by_what_its_record_says(reference: Reference, url: str) -> None:
    assert retractions.url_of(reference) == url


QUOTE = "Mice that ate sugar lived two weeks less than the others."
REFS = f"""{{"id": "smith2018", "title": "Sugar in mice", "doi": "10.1000/sugar", "abstract": "{QUOTE}"}}
{{"id": "other", "title": "Salt in mice", "abstract": "Mice that ate salt lived as long as the others."}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    (tmp_path / "refs.jsonl").write_text(REFS, encoding="utf-8")
    written(tmp_path / "watch.csv", ROW)
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        library.add(tmp_path / "refs.jsonl")
    return tmp_path


def opened(folder: Path, file: str) -> Library:
    overrides = {"retractions": file, "answer.threshold": 0.0}
    return Library.open(folder, overrides=overrides, embedder=HashedWords(), generator=Script(f"{QUOTE} [1]"))


def test_a_citation_carries_the_flag_and_the_link(folder: Path) -> None:
    with opened(folder, "watch.csv") as library:
        answer = library.ask("Did mice that ate sugar live less than the others?")
    (citation,) = answer.citations
    assert citation.standing.url == "https://doi.org/10.1000/sugar"
    assert [flag.notice for flag in citation.standing.flags] == [Notice.RETRACTION]
    assert citation.as_dict()["flags"][0]["date"] == "2020-05-01"
    assert not any(part.arm == "retractions" for part in answer.degraded)


def test_an_answer_says_when_retractions_could_not_be_looked_up(folder: Path) -> None:
    with opened(folder, "gone.csv") as library:
        answer = library.ask("Did mice that ate sugar live less than the others?")
    told = [part.reason for part in answer.degraded if part.arm == "retractions"]
    assert told == ["'gone.csv' cannot be read (No such file or directory); retractions are not known"]


def test_the_librarys_own_config_names_only_a_file_inside(folder: Path) -> None:
    config = folder / ".carrel" / "config.toml"
    config.write_text('retractions = "/etc/passwd"\n')
    with pytest.raises(InvalidInput, match="names a place outside of the library: retractions"):
        Library.open(folder)
    config.write_text('retractions = "link.csv"\n')
    (folder / "link.csv").symlink_to(written(folder.parent / f"{os.getpid()}.csv", ROW))
    with Library.open(folder, embedder=HashedWords()) as library:
        assert "lies outside of the library's folder" in library.retractions().complaint
