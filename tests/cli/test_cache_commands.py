"""`carrel cache` as its user meets it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from carrel import Library
from carrel.testing import HashedWords
from carrel.types import Matrix
from tests.cli.conftest import DEMO, Carrel

MODEL = "hashed-words-64-128"


def embeddings(tmp_path: Path) -> Path:
    return tmp_path / ".carrel" / "cache" / "embeddings"


def refs(tmp_path: Path, *records: tuple[str, str]) -> Path:
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"id": key, "title": f"Paper {key}", "abstract": text}) for key, text in records]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def abstract(word: str) -> str:
    return f"This abstract speaks of {word} at some length, so that it can be found by its meaning."


@pytest.fixture
def cached(carrel: Carrel, tmp_path: Path) -> Carrel:
    """Two papers, and one of them for another model too."""
    carrel("init")
    assert carrel("add", refs(tmp_path, ("a", abstract("quarks")), ("b", abstract("gluons")))).code == 0
    (embeddings(tmp_path) / "other%2Fmodel").mkdir()
    with Library.open(tmp_path, embedder=Renamed()) as library:
        library.stores.cache.save("a", [], HashedWords().embed_passages([]))
    return carrel


class Renamed(HashedWords):
    def __init__(self) -> None:
        super().__init__()
        self.name = "other/model"


def test_list_says_what_is_cached_by_model_and_paper(cached: Carrel, tmp_path: Path) -> None:
    listed = cached("cache", "list", "--json").json
    assert [(entry["model"], entry["paper_id"], entry["rows"]) for entry in listed["entries"]] == [
        (MODEL, "a", 1),
        (MODEL, "b", 1),
        ("other/model", "a", 0),
    ]
    on_disk = sum(path.stat().st_size for path in embeddings(tmp_path).rglob("*") if path.is_file())
    assert (listed["models"], listed["papers"], listed["rows"], listed["size_bytes"]) == (2, 2, 2, on_disk)
    assert not any(entry["damaged"] for entry in listed["entries"])
    printed = cached("cache", "list", "--model", MODEL)
    assert [line.split()[-1] for line in printed.out.splitlines()] == ["papers", "a", "b"]
    assert printed.err.endswith("2 rows of 2 papers in all\n")


def test_list_opens_no_model_and_an_empty_cache_is_no_error(carrel: Carrel, monkeypatch: pytest.MonkeyPatch) -> None:
    carrel("init")
    monkeypatch.setenv("CARREL_EMBEDDER", "onnx:nowhere")
    listed = carrel("cache", "list")
    assert (listed.code, listed.out, listed.err) == (0, "", "Nothing is cached.\n")
    assert carrel("cache", "clear", "--all").out == "Nothing was cached.\n"


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["--model", MODEL], [("other/model", "a")]),
        (["--paper", "a"], [(MODEL, "b")]),
        (["--paper", "a", "--model", "other/model"], [(MODEL, "a"), (MODEL, "b")]),
        (["--all"], []),
    ],
    ids=str,
)
def test_clear_frees_what_was_chosen_and_nothing_else(
    cached: Carrel, arguments: list[str], left: list[tuple[str, str]]
) -> None:
    before = cached("cache", "list", "--json").json
    cleared = cached("cache", "clear", *arguments, "--json")
    after = cached("cache", "list", "--json").json
    assert cleared.code == 0
    assert [(entry["model"], entry["paper_id"]) for entry in after["entries"]] == left
    assert cleared.json["size_bytes"] == before["size_bytes"] - after["size_bytes"]
    assert cleared.json["rows"] == before["rows"] - after["rows"]


def test_clear_says_what_was_freed_and_all_leaves_no_file(cached: Carrel, tmp_path: Path) -> None:
    (embeddings(tmp_path) / MODEL / "a" / ".manifest.json.0123456789ab").write_text("half a mani")
    freed = cached("cache", "clear", "--all").out
    assert freed.startswith("Freed ")
    assert freed.endswith(" kB: 2 rows of 2 papers\n")
    assert list(embeddings(tmp_path).iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--all or --model or --paper is needed"),
        (["--all", "--paper", "a"], "--all does not go with --model and --paper"),
        (["--model", "nobody's"], 'no embeddings of the model "nobody\'s" in the cache'),
        (["--paper", "x"], "no embeddings of the paper 'x' in the cache"),
        (["--model", "other/model", "--paper", "b"], "no embeddings of the paper 'b' in the cache"),
    ],
    ids=str,
)
def test_a_choice_that_means_nothing_is_named_and_clears_nothing(
    cached: Carrel, arguments: list[str], message: str
) -> None:
    cleared = cached("cache", "clear", *arguments)
    assert (cleared.code, cleared.err.splitlines()[0]) == (1, f"error: {message}")
    assert len(cached("cache", "list", "--json").json["entries"]) == 3


def test_an_unknown_model_or_paper_is_answered_by_what_there_is(cached: Carrel, carrel: Carrel) -> None:
    named = cached("cache", "list", "--model", "x")
    assert named.err.splitlines()[-1] == f"There are embeddings of the models {MODEL!r}, 'other/model'."
    carrel("add", DEMO / "refs.jsonl")
    many = cached("cache", "list", "--paper", "x").err.splitlines()[-1]
    assert many.startswith("There are embeddings of the papers 'a', 'b', ")
    assert many.endswith(" and 52 more.")
    cached("cache", "clear", "--all")
    assert cached("cache", "list", "--paper", "x").err.splitlines()[-1] == "The cache is empty."


def test_searches_work_as_before_when_the_cache_is_cleared_and_only_what_changed_is_embedded(
    cached: Carrel, tmp_path: Path
) -> None:
    before = cached("search", "gluons", "--json").json["results"]
    assert cached("cache", "clear", "--all").code == 0
    assert cached("search", "gluons", "--json").json["results"] == before
    assert (cached("index", "check").code, cached("index", "build", "--json").json["chunks_embedded"]) == (0, 0)
    added = cached("add", refs(tmp_path, ("a", abstract("quarks")), ("b", abstract("mesons")))).out
    assert added.startswith("Added 0 new, 1 updated, 1 unchanged")
    listed = cached("cache", "list", "--json").json["entries"]
    assert [(entry["paper_id"], entry["rows"]) for entry in listed] == [("b", 1)]


def test_a_damaged_entry_is_listed_as_such_cleared_by_name_and_never_fails_a_build(
    cached: Carrel, tmp_path: Path
) -> None:
    (embeddings(tmp_path) / MODEL / "a" / "manifest.json").write_text("{")
    (embeddings(tmp_path) / MODEL / "b" / "embeddings.bin").write_bytes(b"short")
    listed = cached("cache", "list", "--model", MODEL, "--json").json["entries"]
    assert [(entry["paper_id"], entry["damaged"]) for entry in listed] == [("a", True), ("b", True)]
    (tmp_path / ".carrel" / "cache" / "vectors").rename(tmp_path / "gone")
    built = cached("index", "build", "--json")
    assert (built.code, built.json["chunks_embedded"]) == (0, 2)
    assert not any(entry["damaged"] for entry in cached("cache", "list", "--json").json["entries"])


def test_a_cache_that_leads_elsewhere_costs_no_file_there(cached: Carrel, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "thesis" / "chapters").mkdir(parents=True)
    for folder in ("thesis", "thesis/chapters"):
        (home / folder / "text.tex").write_text("years of work")
        (home / folder / "manifest.json").write_text("{}")
    before = sorted(home.rglob("*"))
    (embeddings(tmp_path) / MODEL / "linked").symlink_to(home / "thesis")
    (embeddings(tmp_path) / "linked").symlink_to(home)
    assert cached("cache", "clear", "--all", "--json").json["rows"] == 2
    embeddings(tmp_path).rename(tmp_path / "aside")
    embeddings(tmp_path).symlink_to(home)
    assert cached("cache", "clear", "--all").out == "Nothing was cached.\n"
    assert sorted(home.rglob("*")) == before


class Counting(HashedWords):
    """Knows what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.embedded += texts
        return super().embed_passages(texts)


def test_of_a_changed_text_only_the_changed_chunks_are_embedded(tmp_path: Path) -> None:
    sections = [f"## Part {number}\n\nSentence number {number} stands here.\n" for number in range(20)]
    (tmp_path / "paper.md").write_text("# Paper\n\n" + "\n".join(sections))
    sizes = {"chunking.min_tokens": 1, "chunking.target_tokens": 1}
    with Library.init(tmp_path, embedder=Counting(), overrides=sizes) as library:
        embedder = library.embedder
        assert isinstance(embedder, Counting)
        library.add(tmp_path / "paper.md")
        assert len(embedder.embedded) == 20
        sections[7] = "## Part 7\n\nThis sentence is another.\n"
        (tmp_path / "paper.md").write_text("# Paper\n\n" + "\n".join(sections))
        library.add(tmp_path / "paper.md")
        assert embedder.embedded[20:] == ["Paper — Part 7 This sentence is another."]
        assert [entry.rows for entry in library.cached()] == [20]
