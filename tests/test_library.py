"""The verbs on a real library: every store is the real one, only the embedder is instant."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from carrel import Library, locking
from carrel.errors import IndexNotFound, InvalidInput, ModelRefused, PaperNotFound, StoreUnavailable
from carrel.reading import ChunkView, PaperView
from carrel.selecting import Criteria
from carrel.testing import HashedWords
from carrel.types import ChunkKind, Filter, Matrix, Mode, Part, SearchResult, Strategy

NOTES = """---
title: Notes on graphs
authors: [Tim Yu]
year: 2021
tags: [graphs]
topic: algorithms
---
# Notes on graphs

A segment tree answers range queries in logarithmic time.

## Shortest paths

Dijkstra's algorithm finds shortest paths when no edge weight is negative.

```c
while (!queue.empty()) relax(queue.pop());
```
"""


class CountingEmbedder(HashedWords):
    """Knows how many passages it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.embedded += texts
        return super().embed_passages(texts)


def record(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"paper{number}",
        "title": f"Paper number {number}",
        "authors": [{"first": "Ada", "last": f"Author{number}"}],
        "abstract": f"This abstract speaks of subject{number} at some length, so that it can be found by its meaning.",
        "venue": "Proceedings of ACL",
        "published": {"year": 2000 + number},
        **fields,
    }


def write_refs(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    return path


@pytest.fixture
def refs(tmp_path: Path) -> Path:
    return write_refs(tmp_path / "in.jsonl", [record(number) for number in range(8)])


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.md"
    path.write_text(NOTES, encoding="utf-8")
    return path


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def library(tmp_path: Path, embedder: CountingEmbedder) -> Library:
    overrides = {"chunking.min_tokens": 1, "chunking.target_tokens": 8, "chunking.max_tokens": 40}
    return Library.init(tmp_path / "library", embedder=embedder, overrides=overrides)


def everything(library: Library) -> dict[str, list[tuple[str, float]]]:
    """What several searches find, arm by arm."""
    return {
        f"{mode} {query}": [(p.chunk.address, p.fused.score) for p in library.search(query, mode=mode).passages]
        for mode in ("hybrid", "vector", "keyword")
        for query in ("subject3", "abstract meaning", "shortest paths", "Author5")
    }


def test_references_and_texts_go_in_and_are_found(library: Library, refs: Path, notes: Path) -> None:
    report = library.add(refs, notes)
    assert (report.new, report.updated, report.unchanged, report.failed) == (9, 0, 0, ())
    assert [row.reference.id for row in library.list()] == ["notes", *(f"paper{n}" for n in range(8))]
    assert library.search("subject3").passages[0].chunk.address == "paper3/abstract"
    found = library.search("Dijkstra shortest paths").passages[0].chunk
    assert (found.address, found.section_path, found.topic) == ("notes/ch1/s0/p0", ("Shortest paths",), "algorithms")


def test_adding_the_same_again_does_nothing(
    library: Library, embedder: CountingEmbedder, refs: Path, notes: Path
) -> None:
    library.add(refs, notes)
    embedder.embedded.clear()
    report = library.add(refs, notes)
    assert (report.new, report.updated, report.unchanged, report.chunks_embedded) == (0, 0, 9, 0)
    assert embedder.embedded == []


def test_one_edited_abstract_is_the_only_thing_embedded_again(
    library: Library, embedder: CountingEmbedder, tmp_path: Path, refs: Path, notes: Path
) -> None:
    library.add(refs, notes)
    embedder.embedded.clear()
    changed = record(3, abstract="Now it is about something else entirely, namely penguins on the southern ice.")
    report = library.add(write_refs(tmp_path / "in.jsonl", [record(n) if n != 3 else changed for n in range(8)]))
    assert (report.updated, report.unchanged, report.papers, report.chunks_embedded) == (1, 7, ("paper3",), 1)
    assert embedder.embedded == [f"Paper number 3 {changed['abstract']}"]
    assert library.search("penguins", mode="keyword").passages[0].chunk.paper_id == "paper3"
    assert not library.search("subject3", mode="keyword").passages


def test_an_edit_of_refs_jsonl_by_hand_is_noticed_and_built(library: Library, refs: Path) -> None:
    library.add(refs)
    records = [record(n) for n in range(8)]
    records[2] = record(2, abstract="Edited by hand in the git-tracked file, and long enough to be embedded again.")
    write_refs(library.layout.refs, [*records[:5], *records[6:], record(9)])
    checked = library.check_index()
    assert (checked.missing, checked.changed, checked.orphaned) == (("paper9",), ("paper2",), ("paper5",))
    assert library.build_index().chunks_embedded == 2
    assert library.check_index().healthy
    assert {row.reference.id for row in library.list()} == {f"paper{n}" for n in (0, 1, 2, 3, 4, 6, 7, 9)}


def test_a_new_tag_embeds_only_itself_and_is_filtered_by_in_every_arm(
    library: Library, embedder: CountingEmbedder, refs: Path, notes: Path
) -> None:
    library.add(refs, notes)
    embedder.embedded.clear()
    report = library.add(refs, notes, tags=("thesis",))
    assert (report.updated, report.chunks_embedded, embedder.embedded) == (9, 1, ["thesis"])
    for mode in ("vector", "keyword"):
        tagged = library.search("subject3", mode=mode, where=Filter(tags=frozenset({"thesis"})))
        assert tagged.passages[0].chunk.paper_id == "paper3"
        assert not library.search("subject3", mode=mode, where=Filter(tags=frozenset({"other"}))).passages


def test_a_reference_without_an_abstract_is_found_by_its_words_only(library: Library, tmp_path: Path) -> None:
    library.add(write_refs(tmp_path / "r.jsonl", [record(1), {"id": "bare", "title": "Quaternions", "authors": []}]))
    assert library.search("quaternions", mode="keyword").passages[0].chunk.address == "bare/abstract"
    assert [p.chunk.paper_id for p in library.search("quaternions", mode="vector").passages] == ["paper1"]
    assert library.check_index().healthy
    assert library.build_index().papers_skipped == 1


def test_a_removed_paper_is_gone_from_every_store(library: Library, refs: Path, notes: Path) -> None:
    library.add(refs, notes)
    assert library.remove("paper3", "notes") == ["notes", "paper3"]
    assert "paper3" not in library.layout.refs.read_text(encoding="utf-8")
    assert notes.exists()
    stores = library.stores
    for addresses in (stores.vectors.addresses(), stores.keywords.addresses(), stores.catalog.addresses()):
        assert addresses == {f"paper{n}/abstract" for n in range(8) if n != 3}
    assert not list(library.layout.embeddings.glob("*/paper3"))
    assert library.check_index().healthy


def test_removing_an_unknown_paper_removes_nothing(library: Library, refs: Path) -> None:
    library.add(refs)
    with pytest.raises(PaperNotFound, match="Paper 'nobody' not found in database"):
        library.remove("paper1", "nobody")
    assert len(library.list()) == 8


def test_the_cache_can_be_deleted_and_comes_back_identical(library: Library, refs: Path, notes: Path) -> None:
    library.add(refs, notes)
    before = everything(library)
    library.close()
    shutil.rmtree(library.layout.cache)
    with pytest.raises(IndexNotFound, match=r"Semantic index not found\. Run 'carrel index build' first"):
        library.check_index()
    library.build_index()
    assert library.check_index().healthy
    assert everything(library) == before


def test_a_rebuild_by_force_embeds_everything_and_finds_the_same(
    library: Library, embedder: CountingEmbedder, refs: Path, notes: Path
) -> None:
    library.add(refs, notes)
    before = everything(library)
    chunks = len(embedder.embedded)
    embedder.embedded.clear()
    assert library.build_index(force=True).chunks_embedded == chunks == len(embedder.embedded)
    assert everything(library) == before


def test_another_embedder_is_refused_until_the_index_is_built_with_it(library: Library, refs: Path) -> None:
    library.add(refs)
    library.close()

    another = HashedWords()
    another.name = "other"
    with Library.open(library.layout.root, embedder=another) as other:
        with pytest.raises(InvalidInput, match=r"holds vectors of '.*', but queries are embedded by 'other'"):
            other.search("subject3", mode="vector")
        with pytest.raises(InvalidInput, match="the settings ask for 'other'"):
            other.add(refs)
        checked = other.check_index()
        assert len(checked.wrong_model) == 8
        assert checked.as_dict()["model_mismatch"]
        assert other.build_index().chunks_embedded == 8
        assert other.search("subject3", mode="vector").passages[0].chunk.paper_id == "paper3"


def test_the_same_model_with_another_dimension_is_named_by_the_check_and_built_anew(
    library: Library, refs: Path
) -> None:
    library.add(refs)
    library.close()
    another = HashedWords(dim=32)
    another.name = library.embedder.name
    with Library.open(library.layout.root, embedder=another) as other:
        checked = other.check_index()
        assert (len(checked.wrong_model), checked.wrong_dimension) == (0, tuple(f"paper{n}" for n in range(8)))
        assert (checked.state, checked.healthy) == ("stale", False)
        with pytest.raises(InvalidInput, match=r"\(64D\), the settings ask for .* \(32D\)"):
            other.add(refs)
        other.build_index()
        assert other.check_index().healthy
        assert other.stores.vectors.dim == 32


def test_the_index_goes_from_not_built_to_ready_to_stale_and_back_by_itself(library: Library, refs: Path) -> None:
    assert library.index_state() == "not_built"
    library.add(refs)
    assert library.index_state() == "ready"
    lines = library.layout.refs.read_text(encoding="utf-8")
    library.layout.refs.write_text(lines.replace("subject3", "subject33"), encoding="utf-8")
    assert library.index_state() == "stale"
    library.build_index()
    assert library.index_state() == "ready"
    library.layout.refs.touch()
    assert library.index_state() == "ready"
    library.remove("paper3")
    assert library.index_state() == "ready"
    library.stores.catalog.reopen(["paper1"])
    assert library.index_state() == "stale"
    with locking.held(library.layout.lock, timeout=1):
        assert library.index_state() == "building"


def test_a_removal_does_not_hide_that_refs_jsonl_was_edited_before(library: Library, refs: Path) -> None:
    library.add(refs)
    lines = library.layout.refs.read_text(encoding="utf-8")
    library.layout.refs.write_text(lines.replace("subject3", "subject33"), encoding="utf-8")
    library.remove("paper1")
    assert library.index_state() == "stale"
    assert library.check_index().changed == ("paper3",)


def test_what_was_embedded_is_kept_with_its_model_and_the_hash_of_its_abstract(library: Library, refs: Path) -> None:
    library.add(refs)
    with sqlite3.connect(library.layout.database) as database:
        rows = database.execute("SELECT * FROM embedding_metadata WHERE paper_id = 'paper2'").fetchall()
    abstract = record(2)["abstract"].encode()
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("paper2", library.embedder.name, hashlib.sha256(abstract).hexdigest())
    ]
    assert abs(rows[0][2] - time.time()) < 100
    library.remove("paper2")
    assert "paper2" not in library.stores.catalog.embeddings()


class Squeamish(HashedWords):
    """Refuses a text, and every batch it is in."""

    def __init__(self, *poison: str) -> None:
        super().__init__()
        self.poison = poison

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        rows = super().embed_passages(texts)
        for word in self.poison:
            if any(word in text for text in texts):
                raise ModelRefused(f"no vector for {word}")
        return rows


def test_an_abstract_that_cannot_be_embedded_costs_only_itself_and_is_tried_again(tmp_path: Path, refs: Path) -> None:
    embedder = Squeamish("subject3", "subject5")
    library = Library.init(tmp_path / "library", embedder=embedder)
    report = library.add(refs)
    assert [(one.source, one.reason) for one in report.failed] == [
        ("paper3/abstract", "no vector for subject3"),
        ("paper5/abstract", "no vector for subject5"),
    ]
    assert (report.new, report.chunks_embedded) == (8, 6)
    assert library.check_index().missing == ("paper3", "paper5")
    assert library.index_state() == "stale"
    assert library.search("subject3", mode="keyword").passages[0].chunk.paper_id == "paper3"
    built = library.build_index()
    assert (built.chunks_embedded, len(built.failed)) == (0, 2)

    embedder.poison = ()
    assert library.build_index().chunks_embedded == 2
    assert library.check_index().healthy


def test_an_embedder_that_refuses_everything_is_to_blame_itself(tmp_path: Path, refs: Path) -> None:
    library = Library.init(tmp_path / "library", embedder=Squeamish(""))
    with pytest.raises(ModelRefused):
        library.add(refs)
    assert library.index_state() == "stale"


def test_notes_and_tags_lead_to_their_paper_by_meaning_and_are_never_quoted(library: Library, tmp_path: Path) -> None:
    noted = record(1, note="Weak statistics, but the trick with the pendulum is worth stealing.", tags=["clocks"])
    library.add(write_refs(tmp_path / "in.jsonl", [noted, record(2, tags=["bibtex:incomplete"]), record(3)]))
    (found,) = library.semantic("the trick with the pendulum", threshold=0.3).papers
    assert (found.reference.id, found.matched) == ("paper1", ChunkKind.NOTE)
    assert library.semantic("clocks", threshold=0.2).papers[0].reference.id == "paper1"
    everything = library.search("pendulum trick", limit=0).passages
    assert {passage.chunk.kind for passage in everything} == {ChunkKind.ABSTRACT}
    assert library.text("paper1").endswith("worth stealing.\nclocks")
    assert library.stores.catalog.chunks(["paper2/note"]) == []


def test_a_search_says_how_many_passages_match_and_gives_all_when_asked(library: Library, refs: Path) -> None:
    library.add(refs)
    some = library.search("abstract subject3", mode="keyword", limit=3)
    assert (len(some.passages), some.matched, some.as_dict()["matched"]) == (3, 8, 8)
    for mode in ("keyword", "hybrid", "vector"):
        assert len(library.search("abstract subject3", mode=mode, limit=0).passages) == 8
    assert library.search("subject3", limit=2).matched == 1
    assert library.search("subject3", mode="vector").matched is None
    with pytest.raises(InvalidInput, match="limit must not be negative, got -1"):
        library.search("subject3", limit=-1)


def test_a_dry_run_says_what_would_happen_and_writes_nothing(
    library: Library, tmp_path: Path, refs: Path, notes: Path
) -> None:
    library.add(refs)
    before = {path: path.stat().st_mtime_ns for path in library.layout.root.rglob("*")}
    changed = write_refs(tmp_path / "in.jsonl", [record(0), record(1, venue="EMNLP"), record(99)])
    report = library.add(changed, notes, dry_run=True)
    assert (report.new, report.updated, report.unchanged, report.dry_run) == (2, 1, 1, True)
    assert {path: path.stat().st_mtime_ns for path in library.layout.root.rglob("*")} == before


def test_a_changed_text_replaces_its_chunks_and_keeps_its_identity(library: Library, notes: Path) -> None:
    library.add(notes)
    notes.write_text(NOTES.replace("## Shortest paths", "## Paths").replace("Dijkstra's", "Bellman and Ford's"))
    report = library.add(notes)
    assert (report.new, report.updated, report.papers) == (0, 1, ("notes",))
    assert not library.search("Dijkstra", mode="keyword").passages
    assert library.search("Bellman", mode="keyword").passages[0].chunk.section_path == ("Paths",)


def test_a_text_joins_the_reference_with_its_doi_and_does_not_overwrite_it(library: Library, tmp_path: Path) -> None:
    library.add(write_refs(tmp_path / "r.jsonl", [record(1, doi="10.1000/one")]))
    paper = tmp_path / "full.md"
    paper.write_text("---\ntitle: Another title\ndoi: https://doi.org/10.1000/ONE\n---\nThe full text, at last.\n")
    report = library.add(paper)
    assert (report.new, report.updated) == (0, 1)
    (row,) = library.list()
    assert (row.reference.title, set(row.parts), row.listed) == ("Paper number 1", {Part.ABSTRACT, Part.BODY}, True)
    library.layout.refs.write_text("")
    library.build_index()
    (row,) = library.list()
    assert (row.parts, row.listed) == ((Part.BODY,), False)
    assert library.check_index().healthy


def test_two_files_of_one_name_are_two_papers(library: Library, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "readme.txt").write_text(f"This is the text of folder {folder}, which is its own.\n")
    report = library.add(tmp_path / "a", tmp_path / "b")
    assert report.papers == ("readme", "readme-2")


def test_a_file_may_be_given_its_id(library: Library, notes: Path) -> None:
    assert library.add(notes, paper_id="my-notes").papers == ("my-notes",)
    with pytest.raises(InvalidInput, match="--paper-id names one paper, but 2 files were given"):
        library.add(notes, notes, paper_id="x")


def test_a_bad_file_costs_only_itself(library: Library, tmp_path: Path, refs: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "empty.md").write_text("  \n")
    (folder / "binary.md").write_bytes(bytes(range(256)) * 50)
    (folder / "picture.png").write_bytes(b"x")
    (folder / "good.txt").write_text("Good text about zebras.")
    (folder / ".hidden.md").write_text("not looked at")
    (folder / "link.md").symlink_to("/etc/passwd")
    lines = refs.read_text().splitlines()
    lines[6] = '{"id": "paper6", broken'
    refs.write_text("\n".join(lines))
    (tmp_path / "in.jsonl.zip").write_bytes(b"PK")
    report = library.add(folder, refs, tmp_path / "missing.md", tmp_path / "in.jsonl.zip")
    assert report.new == 8
    assert [Path(problem.source).name for problem in report.skipped] == ["picture.png"]
    reasons = {Path(problem.source).name: problem.reason for problem in report.failed}
    assert reasons.keys() == {"empty.md", "binary.md", "in.jsonl:7", "missing.md", "in.jsonl.zip"}
    assert "is empty" in reasons["empty.md"]
    assert "not text" in reasons["binary.md"]
    assert reasons["in.jsonl:7"].startswith("line 7: not JSON")
    assert library.search("zebras").passages[0].chunk.paper_id == "good"


def test_a_text_over_the_limit_is_refused_by_name_before_it_is_parsed(library: Library, tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    with big.open("w") as file:
        for _ in range(50):
            file.write("word word word. " * 65_536)
    report = library.add(big)
    assert [problem.reason for problem in report.failed] == [
        "'big.txt' has 52,428,800 characters, more than the 10,000,000 allowed"
    ]


def test_a_broken_line_in_the_librarys_own_refs_is_reported_and_survives(library: Library, refs: Path) -> None:
    library.add(refs)
    with library.layout.refs.open("a") as file:
        file.write("<<<<<<< HEAD\n")
    report = library.add(refs, tags=("new",))
    assert [problem.reason for problem in report.failed] == ["line 9: not JSON: Expecting value at column 1"]
    assert "<<<<<<< HEAD" in library.layout.refs.read_text()


@pytest.mark.parametrize("damage", ["broken line", "missing file"])
def test_a_refs_jsonl_that_cannot_be_read_retires_nothing_and_is_named(
    library: Library, embedder: CountingEmbedder, refs: Path, notes: Path, damage: str
) -> None:
    library.add(refs)
    lines = library.layout.refs.read_text().splitlines()
    if damage == "missing file":
        library.layout.refs.unlink()
    else:
        library.layout.refs.write_text("\n".join([lines[0][:-5], *lines[1:]]) + "\n")
    embedder.embedded.clear()
    built = library.build_index()
    assert len(built.failed) == 1
    assert [problem.source for problem in library.add(notes).failed] == [built.failed[0].source]
    assert {row.reference.id for row in library.list()} == {"notes", *(f"paper{n}" for n in range(8))}
    assert library.search("subject0", mode="keyword").passages[0].chunk.paper_id == "paper0"
    checked = library.check_index()
    assert (checked.healthy, checked.broken, checked.orphaned) == (False, built.failed, ())
    library.layout.refs.write_text("\n".join(lines) + "\n")
    assert library.build_index().failed == ()
    assert library.check_index().healthy
    assert not any("subject" in text for text in embedder.embedded)


def test_a_title_joins_a_text_to_its_reference_and_never_replaces_another_text(
    library: Library, tmp_path: Path
) -> None:
    library.add(write_refs(tmp_path / "r.jsonl", [record(1, title="A title that is long enough")]))
    for number, folder in enumerate(("a", "b", "c")):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "text.md"
        path.write_text(f"# A title that is long enough\n\nThe words of folder{number} alone.\n")
        library.add(path)
    assert [row.reference.id for row in library.list()] == ["paper1", "text", "text-2"]
    for number, paper in enumerate(("paper1", "text", "text-2")):
        assert library.search(f"folder{number}", mode="keyword").passages[0].chunk.paper_id == paper


# Crashes: whatever step fails, the same command again ends as if nothing had happened.

STEPS = [
    ("catalog", "put"),
    ("catalog", "activate"),
    ("cache", "save"),
    ("vectors", "put"),
    ("keywords", "put"),
]


@pytest.mark.parametrize(("store", "method"), STEPS)
@pytest.mark.parametrize("before", [True, False])
def test_a_crash_at_any_step_is_mended_by_the_same_command(
    tmp_path: Path, refs: Path, notes: Path, store: str, method: str, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library.init(tmp_path / "whole", embedder=HashedWords()) as whole:
        whole.add(refs, notes)
        expected = everything(whole)
    with Library.init(tmp_path / "crashed", embedder=HashedWords()) as crashed:
        target = getattr(crashed.stores, store)
        monkeypatch.setattr(target, method, _crashing(getattr(target, method), before=before))
        with pytest.raises(KeyboardInterrupt):
            crashed.add(refs, notes)
    with Library.open(tmp_path / "crashed", embedder=HashedWords()) as again:
        again.add(refs, notes)
        assert again.check_index().healthy
        assert everything(again) == expected


@pytest.mark.parametrize(("store", "method"), [("vectors", "delete"), ("keywords", "delete"), ("catalog", "remove")])
def test_a_crash_while_removing_is_mended_by_the_next_command(
    library: Library, refs: Path, store: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(refs)
    target = getattr(library.stores, store)
    monkeypatch.setattr(target, method, _crashing(getattr(target, method), before=True))
    with pytest.raises(KeyboardInterrupt):
        library.remove("paper3")
    monkeypatch.undo()
    library.build_index()
    assert library.check_index().healthy
    assert "paper3" not in {row.reference.id for row in library.list()}
    assert not library.search("subject3", mode="keyword").passages


def _crashing(work: Callable[..., Any], *, before: bool) -> Callable[..., Any]:
    def crash(*arguments: Any, **options: Any) -> None:
        if not before:
            work(*arguments, **options)
        raise KeyboardInterrupt

    return crash


# Searching


def test_filters_reach_every_arm_and_leak_nothing(library: Library, refs: Path, notes: Path) -> None:
    library.add(refs, notes)
    filters = [
        Filter(paper_ids=frozenset({"paper1", "notes"})),
        Filter(kinds=frozenset({ChunkKind.PASSAGE})),
        Filter(year_min=2002, year_max=2004),
        Filter(venue="acl"),
        Filter(tags=frozenset({"graphs"})),
        Filter(topic="algorithms"),
        Filter(paper_ids=frozenset({"notes"}), chapter=1, section=0),
    ]
    for where in filters:
        for mode in ("hybrid", "vector", "keyword"):
            passages = library.search("abstract subject tree paths", mode=mode, where=where, limit=50).passages
            assert passages, (where, mode)
            assert all(where.matches(passage.chunk) for passage in passages)


def test_a_failing_arm_is_reported_and_the_other_goes_on(
    library: Library, refs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(refs)

    def fail(*_: object, **__: object) -> None:
        raise StoreUnavailable("the words are gone")

    monkeypatch.setattr(library.stores.keywords, "search", fail)
    result = library.search("subject3")
    assert result.strategy == Strategy.DEGRADED
    assert [(part.arm, part.reason) for part in result.degraded] == [("keyword", "the words are gone")]
    assert result.passages[0].chunk.paper_id == "paper3"
    with pytest.raises(StoreUnavailable, match="the words are gone"):
        library.search("subject3", mode="keyword")


def test_an_arm_that_is_late_is_left_behind(tmp_path: Path, refs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    with Library.init(tmp_path / "l", embedder=HashedWords(), overrides={"search.arm_timeout": 1.5}) as library:
        library.add(refs)
        stuck = Event()
        monkeypatch.setattr(library.stores.vectors, "search", lambda *_, **__: stuck.wait(30))
        result = library.search("subject3")
        stuck.set()
    assert [(part.arm, part.reason) for part in result.degraded] == [("vector", "no answer within 1.5 s")]
    assert result.passages[0].chunk.paper_id == "paper3"


def test_without_a_reranker_passages_have_no_probability_and_answers_claim_what_words_support(
    tmp_path: Path, refs: Path
) -> None:
    with Library.init(tmp_path / "l", embedder=HashedWords(), overrides={"reranker": "none"}) as library:
        library.add(refs)
        result = library.search("subject3")
        assert [passage.probability for passage in result.passages] == [None] * len(result.passages)
        assert result.passages[0].score == result.passages[0].fused.score
        answer = library.ask("subject3")
    assert (answer.certainty.probability, answer.confidence.value) == (0.75, "medium")


@pytest.mark.parametrize("query", ["", "   ", "x" * 2001])
def test_a_query_must_have_between_one_and_two_thousand_characters(library: Library, query: str) -> None:
    with pytest.raises(InvalidInput):
        library.search(query)


@pytest.mark.parametrize("limit", [0, -1])
def test_an_answer_draws_on_some_passages(library: Library, refs: Path, limit: int) -> None:
    library.add(refs)
    with pytest.raises(InvalidInput, match=f"top_k must be a positive integer, got {limit}"):
        library.ask("subject3", top_k=limit)


def test_criteria_that_no_paper_meets_find_nothing_by_the_strategy_asked_for(library: Library, refs: Path) -> None:
    library.add(refs)
    nobody = Criteria(authors=("Nobody",))
    for mode, strategy in (("hybrid", Strategy.HYBRID), ("keyword", Strategy.KEYWORD_ONLY)):
        found = library.search("subject3", mode=mode, criteria=nobody)
        assert (found.passages, found.strategy) == ((), strategy)
    (passage,) = library.search("subject3", criteria=Criteria(authors=("Author3",))).passages
    assert passage.chunk.paper_id == "paper3"


@pytest.mark.parametrize(
    "query", ["the of and", "🦓🦓", '"unbalanced (', "x" * 2000, "图论 最短路", "AND OR NOT", "\ud800"]
)
def test_any_text_is_a_query(library: Library, refs: Path, query: str) -> None:
    library.add(refs)
    assert isinstance(library.search(query), SearchResult)


def test_an_index_that_was_never_built_is_an_error_and_not_an_empty_result(library: Library) -> None:
    with pytest.raises(IndexNotFound):
        library.search("anything")
    with pytest.raises(IndexNotFound):
        library.search("anything", mode=Mode.KEYWORD)


# Showing


def test_a_paper_shows_its_outline_and_a_chunk_its_neighbours(library: Library, notes: Path) -> None:
    library.add(notes)
    paper = library.show("notes")
    assert isinstance(paper, PaperView)
    assert [(chapter.title, chapter.address, chapter.chunk_count) for chapter in paper.chapters] == [
        ("", "notes/ch0", 1),
        ("Shortest paths", "notes/ch1", 2),
    ]
    chunk = library.show("notes/ch1/s0/p0")
    assert isinstance(chunk, ChunkView)
    assert chunk.next is not None
    assert (chunk.previous, chunk.next.address) == (None, "notes/ch1/s0/p1")
    assert "relax(queue.pop())" in chunk.next.text


def test_an_offset_counts_in_the_text_that_is_shown(library: Library, refs: Path, notes: Path) -> None:
    library.add(refs, notes)
    assert library.text("notes") == NOTES
    for passage in library.search("shortest paths subject", limit=20).passages:
        chunk = passage.chunk
        assert library.text(chunk.address)[chunk.start : chunk.end] == chunk.text


def test_an_address_that_names_nothing_says_so(library: Library, refs: Path) -> None:
    library.add(refs)
    with pytest.raises(PaperNotFound, match="Paper 'nobody' not found in database"):
        library.show("nobody")
    with pytest.raises(Exception, match="there is no 'paper1/ch9/s9/p9'") as caught:
        library.show("paper1/ch9/s9/p9")
    assert "carrel show paper1" in getattr(caught.value, "hint", "")


# History


def test_a_query_is_remembered_by_its_figures_and_not_its_words(library: Library, refs: Path) -> None:
    library.add(refs)
    library.search("subject3 is secret")
    library.ask("subject3 is secret?")
    library.close()
    assert b"secret" not in library.layout.database.read_bytes()


def test_history_can_be_switched_off_and_its_words_on(tmp_path: Path, refs: Path) -> None:
    import sqlite3

    for name, overrides, rows, words in (
        ("off", {"history.enabled": "false"}, 0, False),
        ("on", {"history.keep_text": "true"}, 1, True),
    ):
        with Library.init(tmp_path / name, embedder=HashedWords(), overrides=overrides) as library:
            library.add(refs)
            library.search("subject3")
        found = sqlite3.connect(library.layout.database).execute("SELECT query_text FROM rag_queries").fetchall()
        assert len(found) == rows
        assert (("subject3",) in found) is words


def test_a_tag_given_with_a_text_is_written_to_its_reference(library: Library, tmp_path: Path) -> None:
    library.add(write_refs(tmp_path / "r.jsonl", [record(1, doi="10.1000/one"), record(2)]))
    paper = tmp_path / "full.md"
    paper.write_text("---\ndoi: 10.1000/one\ntags: [mine]\n---\nThe full text, at last.\n")
    library.add(paper, tags=("thesis",))
    kept = [json.loads(line) for line in library.layout.refs.read_text().splitlines()]
    assert [(one["id"], one.get("tags")) for one in kept] == [("paper1", ["mine", "thesis"]), ("paper2", None)]
    assert library.check_index().healthy
    assert library.index_state() == "ready"


def test_what_a_paper_says_of_itself_completes_its_reference_and_overwrites_nothing(
    library: Library, tmp_path: Path
) -> None:
    bare = {"id": "mine", "title": "My own spelling of the title", "doi": "10.1000/one", "authors": [], "venue": "ACL"}
    library.add(write_refs(tmp_path / "r.jsonl", [bare, record(2)]))
    paper = tmp_path / "full.md"
    abstract = "We say at length what this paper says, so that it is long enough to be embedded."
    facts = ("title: The Publisher's Title", "doi: 10.1000/one", "year: 2019", "venue: Nature", "authors: [Tim Yu]")
    head = "\n".join((*facts, f"abstract: {abstract}"))
    paper.write_text(f"---\n{head}\n---\nThe full text, at last.\n", encoding="utf-8")
    library.add(paper)
    kept = json.loads(library.layout.refs.read_text().splitlines()[0])
    assert (kept["id"], kept["title"], kept["venue"]) == ("mine", "My own spelling of the title", "ACL")
    assert (kept["published"]["year"], kept["authors"], kept["abstract"]) == (
        2019,
        [{"first": "Tim", "last": "Yu"}],
        abstract,
    )
    assert [row.reference.id for row in library.list()] == ["mine", "paper2"]
    assert library.check_index().healthy
    assert library.index_state() == "ready"
