"""Another embedder's vectors are built beside the old ones, which serve until they are replaced in one step."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from carrel import Library, registry
from carrel.cli import run
from carrel.errors import InvalidInput
from carrel.graphs.sqlite import SqliteGraph
from carrel.ingest.ledger import Ledger
from carrel.keywords.tantivy import TantivyKeywords
from carrel.settings import assign
from carrel.testing import HashedWords
from carrel.types import Filter, Matrix
from tests import servers
from tests.test_robustness import ROOT, refs

COUNT = 40
PAUSE = "TEST_PAUSE"


class Hashed(HashedWords):
    """`hashed:64`, `hashed:64/32`: so many dimensions, and words in a window."""

    def __init__(self, argument: str) -> None:
        dim, _, window = argument.partition("/")
        super().__init__(int(dim), int(window or 128))

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        time.sleep(float(os.environ.get(PAUSE, "0")) * len(texts))
        return super().embed_passages(texts)


@pytest.fixture(autouse=True)
def embedders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("CARREL_INGEST__BATCH_CHARACTERS", "3000")
    monkeypatch.setitem(registry.BUILT_IN["embedders"], "hashed", "tests.test_model_change:Hashed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A library of forty abstracts, of the model `hashed:64`."""
    folder = tmp_path / "papers"
    folder.mkdir()
    with Library.init(folder):
        choose(folder, "hashed:64")
    with Library.open(folder) as library:
        library.add(refs(tmp_path / "refs.jsonl", "paper", COUNT))
    return folder


def choose(folder: Path, embedder: str) -> None:
    assign(folder / ".carrel" / "config.toml", "embedder", embedder)


def build(folder: Path, embedder: str) -> dict[str, object]:
    choose(folder, embedder)
    with Library.open(folder) as library:
        return library.build_index().as_dict()


def found(library: Library, query: str = "citation translation", **options: object) -> list[tuple[str, float]]:
    result = library.search(query, mode="vector", **options)  # type: ignore[arg-type]
    assert result.degraded == ()
    return [(one.chunk.address, one.score) for one in result.passages]


@pytest.mark.parametrize("other", ["hashed:32", "hashed:64/5"], ids=["another length", "the same length"])
def test_a_library_whose_model_changed_answers_as_one_that_was_built_with_it(
    folder: Path, tmp_path: Path, other: str
) -> None:
    told = build(folder, other)
    assert (told["model_before"], told["papers_resumed"]) == ("hashed-words-64-128", 0)
    assert (told["chunks_embedded"], told["papers_indexed"], told["failed"]) == (COUNT, COUNT, ())
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    with Library.init(fresh):
        choose(fresh, other)
    with Library.open(folder) as changed, Library.open(fresh) as new:
        new.add(tmp_path / "refs.jsonl")
        assert found(changed) == found(new)
        assert found(changed, where=Filter(year_min=2000)) == found(new, where=Filter(year_min=2000))
        assert changed.verify().problems == ()
        assert changed.check_index().healthy
        assert {one.model_name for one in changed.stores.catalog.embeddings().values()} == {new.embedder.name}
    assert not (folder / ".carrel" / "cache" / "model.jsonl").exists()
    assert build(folder, other)["model_before"] == ""


@pytest.mark.parametrize("kind", ["lance", "pgvector", "milvus-lite"])
def test_the_model_changes_in_every_kind_of_store(
    folder: Path, tmp_path: Path, kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In PostgreSQL, the new vectors take over together with what the catalog says of them."""
    served = {"pgvector": "postgresql_server", "milvus-lite": "milvus_lite_server"}
    server = request.getfixturevalue(served[kind]).address if kind in served else kind
    chosen = {"catalog": server, "vectors": "pgvector"} if kind == "pgvector" else {"vectors": server}
    for name, value in {
        **chosen,
        "catalog_password": servers.PASSWORD,
        "catalog_namespace": uuid.uuid4().hex[:12],
        "vectors_namespace": uuid.uuid4().hex[:12],
        "ingest__batch_characters": "40000",
    }.items():
        monkeypatch.setenv(f"CARREL_{name.upper()}", value)
    with Library.open(folder) as library:
        library.add(tmp_path / "refs.jsonl")
        library.build_index()
        before = found(library)
        told = build(folder, "hashed:32")
        assert (told["model_before"], told["chunks_embedded"]) == ("hashed-words-64-128", COUNT)
        assert (library.stores.vectors.count(), found(library) == before) == (COUNT, False)
        assert library.embedder.name == "hashed-words-32-128"
        assert library.verify().problems == ()


def test_words_and_concepts_are_not_written_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Library.open(folder) as library:
        before = (library.stores.keywords.addresses(), library.stores.graph.size())

    def refuse(*_: object) -> None:
        raise AssertionError("written again")

    for store in (TantivyKeywords, SqliteGraph):
        for verb in ("put", "clear"):
            monkeypatch.setattr(store, verb, refuse)
    build(folder, "hashed:32")
    with Library.open(folder) as library:
        assert (library.stores.keywords.addresses(), library.stores.graph.size()) == before


def test_by_force_everything_is_made_anew(folder: Path) -> None:
    choose(folder, "hashed:32")
    with Library.open(folder) as library:
        told = library.build_index(force=True)
        assert (told.model_before, told.chunks_embedded, library.stores.vectors.dim) == ("", COUNT, 32)
        assert library.verify().problems == ()


def test_what_came_went_and_changed_meanwhile_is_in_the_new_index(folder: Path, tmp_path: Path) -> None:
    more = refs(tmp_path / "more.jsonl", "late", 3)

    class Busy(HashedWords):
        def embed_passages(self, texts: Sequence[str]) -> Matrix:
            if not (tmp_path / "done").exists():
                (tmp_path / "done").touch()
                with Library.open(folder) as writer:
                    writer.add(more)
                    writer.remove("paper1", "paper39")
                    lines = writer.layout.refs.read_text().replace('paper2"', 'paper2", "tags": ["later"]', 1)
                    writer.layout.refs.write_text(lines)
                    writer.build_index()
            return super().embed_passages(texts)

    with Library.open(folder, embedder=Busy(32)) as library:
        assert library.build_index().model_before == "hashed-words-64-128"
        papers = {row.reference.id for row in library.list()}
        assert len(papers) == COUNT + 1
        assert {address.split("/")[0] for address in library.stores.vectors.addresses()} == papers
        tagged = library.search("citation", mode="vector", where=Filter(tags=frozenset({"later"})), limit=5)
        assert [one.chunk.paper_id for one in tagged.passages] == ["paper2"]
        assert library.verify().problems == ()


def test_a_text_that_the_new_model_refuses_keeps_no_other_paper_back(folder: Path) -> None:
    class Choosy(HashedWords):
        def embed_passages(self, texts: Sequence[str]) -> Matrix:
            if any("paper7" in text for text in texts):
                raise ValueError("no sevens")
            return super().embed_passages(texts)

    with Library.open(folder, embedder=Choosy(32)) as library:
        told = library.build_index()
        assert [(one.source, one.reason) for one in told.failed] == [("paper7/abstract", "no sevens")]
        assert (library.stores.vectors.model, library.stores.vectors.count()) == ("hashed-words-32-128", COUNT - 1)
        assert library.search("paper7", mode="keyword").passages[0].chunk.paper_id == "paper7"


def script(work: str, folder: Path, **environment: str) -> subprocess.Popen[str]:
    code = f"from tests import test_model_change as here; here.{work}({str(folder)!r})"
    known = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **environment}
    return subprocess.Popen(
        [sys.executable, "-c", code], env=known, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def building(folder: str) -> None:
    registry.BUILT_IN["embedders"]["hashed"] = "tests.test_model_change:Hashed"
    with Library.open(folder) as library:
        library.build_index()


def reading(folder: str) -> None:
    """Search until told to stop; a line for each search."""
    registry.BUILT_IN["embedders"]["hashed"] = "tests.test_model_change:Hashed"
    with Library.open(folder) as library:
        while not (Path(folder) / "stop").exists():
            result = library.search("citation translation", limit=5)
            told = [len(result.passages), result.strategy, [one.reason for one in result.degraded]]
            sys.stdout.write(f"{json.dumps([*told, library.embedder.name])}\n")
            sys.stdout.flush()


def wait(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_killed_in_the_middle_the_old_index_is_whole_and_the_next_build_goes_on(folder: Path) -> None:
    with Library.open(folder) as library:
        before = found(library)
    choose(folder, "hashed:32")
    ledger = folder / ".carrel" / "cache" / "model.jsonl"
    with script("building", folder, **{PAUSE: "0.05"}) as process:
        wait(lambda: ledger.exists() and ledger.read_text().count("\n{") > 4)
        process.send_signal(signal.SIGKILL)
    choose(folder, "hashed:64")
    with Library.open(folder) as library:
        assert found(library) == before
        assert library.verify().problems == ()
    told = build(folder, "hashed:32")
    assert told["papers_resumed"] >= 8  # type: ignore[operator]
    assert told["chunks_embedded"] <= COUNT - 8  # type: ignore[operator]
    with Library.open(folder) as library:
        assert library.verify().problems == ()


def test_a_reader_sees_no_gap_and_goes_on_with_the_new_model(folder: Path) -> None:
    with script("reading", folder) as reader:
        assert reader.stdout
        lines = [reader.stdout.readline()]
        choose(folder, "hashed:32")
        with script("building", folder, **{PAUSE: "0.02"}) as builder:
            while builder.poll() is None:
                lines.append(reader.stdout.readline())
        while json.loads(lines[-1])[3] != "hashed-words-32-128":
            lines.append(reader.stdout.readline())
        lines += [reader.stdout.readline() for _ in range(3)]
        (folder / "stop").touch()
        lines += reader.stdout.read().splitlines()
    told = [json.loads(line) for line in lines]
    assert {(passages, strategy, *degraded) for passages, strategy, degraded, _ in told} == {(5, "hybrid")}
    models = [model for *_, model in told]
    assert models == sorted(models, reverse=True)
    assert len([model for model in models if model == "hashed-words-64-128"]) > 5


@contextmanager
def changed_under(folder: Path, to: str, **options: object) -> Iterator[Library]:
    """A library that was opened, and used, before another process gave it another model."""
    with Library.open(folder, **options) as library:
        assert found(library)
        build(folder, to)
        yield library


def test_an_open_library_searches_adds_and_compares_with_the_new_model(folder: Path, tmp_path: Path) -> None:
    with changed_under(folder, "hashed:64/5") as library, Library.open(folder) as fresh:
        assert library.semantic("citation translation").model == "hashed-words-64-5"
        assert found(library) == found(fresh)
        assert (library.embedder.name, library.settings.embedder) == ("hashed-words-64-5", "hashed:64/5")
    with changed_under(folder, "hashed:32") as library:
        library.add(refs(tmp_path / "more.jsonl", "late", 2))
        assert library.stores.vectors.count() == COUNT + 2
        assert library.verify().problems == ()


def test_an_embedder_that_was_handed_over_is_kept(folder: Path) -> None:
    own = HashedWords(64)
    with changed_under(folder, "hashed:32", embedder=own) as library:
        for mode in ("vector", "hybrid"):
            with pytest.raises(InvalidInput, match="holds vectors of 'hashed-words-32-128'") as caught:
                library.search("citation", mode=mode)
        assert "Set embedder back, or run 'carrel index build'" in caught.value.hint
        assert library.embedder is own


def test_who_cannot_follow_yet_does_so_when_the_settings_allow_it(folder: Path) -> None:
    config = folder / ".carrel" / "config.toml"
    with changed_under(folder, "hashed:32") as library:
        right = config.read_text()
        for wrong in (right.replace("hashed:32", "hashed:16"), right.replace("hashed:32", "nobody"), "no toml"):
            config.write_text(wrong)
            with pytest.raises(InvalidInput, match="queries are embedded by 'hashed-words-64-128'"):
                library.search("citation", mode="vector")
        config.write_text(right)
        assert len(found(library)) == 10


def test_the_command_says_what_it_replaced(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chosen = ["--library", str(folder), "--set", "embedder=hashed:32", "index", "build"]
    assert run(chosen) == 0
    assert "Model: hashed-words-32-128, instead of hashed-words-64-128\n" in capfd.readouterr().out
    assert run([*chosen, "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["model_before"], told["chunks_embedded"]) == ("", 0)


def test_who_opens_the_library_during_the_build_searches_the_old_vectors_and_then_the_new_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library.open(folder) as library:
        before = found(library)
    meanwhile, embed = [], Hashed.embed_passages

    def watched(self: Hashed, texts: Sequence[str]) -> Matrix:
        if self.dim == 32:
            with Library.open(folder) as library:
                meanwhile.append((library.settings.embedder, found(library) == before))
        return embed(self, texts)

    monkeypatch.setattr(Hashed, "embed_passages", watched)
    command = ["--library", str(folder), "index", "build", "--embedder", "hashed:32"]
    assert run(command) == 0
    assert len(meanwhile) > 1
    assert set(meanwhile) == {("hashed:64", True)}
    with Library.open(folder) as library:
        assert (library.settings.embedder, library.stores.vectors.dim) == ("hashed:32", 32)
        assert len(found(library)) == 10
        assert library.verify().problems == ()
    assert run([*command[:-1], "hashed:16", "--force"]) == 0
    with Library.open(folder) as library:
        assert (library.settings.embedder, library.stores.vectors.dim) == ("hashed:16", 16)


def test_an_embedder_that_the_config_could_not_hold_is_not_built(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["--library", str(folder), "index", "build", "--embedder", "hashed:32"]
    assert run(["--set", "embedder=hashed:16", *command]) == 1
    assert "cannot become 'hashed:32': it is set by the flag" in capfd.readouterr().err
    monkeypatch.setenv("CARREL_EMBEDDER", "hashed:64")
    assert run(command) == 1
    assert "Unset CARREL_EMBEDDER" in capfd.readouterr().err
    with Library.open(folder) as library:
        assert library.stores.vectors.dim == 64


def test_granite_gives_way_to_minilm(folder: Path) -> None:
    with Library.open(folder) as library:
        library.remove(*(f"paper{number}" for number in range(4, COUNT)))
    for embedder in ("granite", "minilm"):
        told = build(folder, embedder)
        assert told["chunks_embedded"] == 4
    assert str(told["model_before"]).startswith("granite")
    with Library.open(folder) as library:
        assert "MiniLM" in library.stores.vectors.model
        assert len(found(library)) == 4
        assert library.verify().problems == ()


def test_a_ledger_remembers_whole_lines_of_the_same_work(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path, model="a")
    ledger.open()
    ledger.note({"one": "1"})
    ledger.open()
    with path.open("a") as file:
        file.write('{"two": "2')
    again = Ledger(path, model="a")
    again.open()
    again.note({"three": "3"})
    again.open()
    last = Ledger(path, model="a")
    assert [last.has(name, mark) for name, mark in (("one", "1"), ("two", "2"), ("three", "3"), ("one", "2"))] == [
        True,
        False,
        True,
        False,
    ]
    other = Ledger(path, model="b")
    assert (other.is_resumed, other.has("one", "1")) == (False, False)
    last.forget()
    assert not path.exists()
