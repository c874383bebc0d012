"""A library's stores move into others without a text being embedded again, and say the same there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from carrel import Library, concepts, registry
from carrel.cli import run
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.graphs import CURATED
from carrel.graphs.neo4j import Neo4jGraph
from carrel.keywords.tantivy import TantivyKeywords
from carrel.locking import LibraryLock
from carrel.migrating import Migrated, migrate
from carrel.settings import assign
from carrel.testing import HashedWords
from carrel.types import Chunk, Filter, Matrix, Vector
from carrel.types.service import Scope, Token
from carrel.vectors.flat import FlatVectors
from tests import servers
from tests.graphs.contributions import told
from tests.test_model_change import wait
from tests.test_robustness import ROOT, refs
from tests.vectors import iris_double

COUNT = 40
HERE = "tests.test_migrating"
SLOW, ROUNDED, SPOILT = "TEST_SLOW", "TEST_ROUNDED", "TEST_SPOILT"
NOTE = (
    "# Of trees\n\nA segment tree (ST) answers range queries. A segment tree uses a heap.\n\n## Cost\n\nIt is cheap.\n"
)


class Embedder(HashedWords):
    """Embeds nothing once it is told not to."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        assert "TEST_NO_EMBEDDING" not in os.environ
        return super().embed_passages(texts)


class Vectors(FlatVectors):
    """Vectors elsewhere: in a folder of their own, and as good or bad as the environment says."""

    largest = 0

    def put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        time.sleep(float(os.environ.get(SLOW, "0")))
        Vectors.largest = max(Vectors.largest, len(chunks))
        if ROUNDED in os.environ:
            vectors = vectors.astype(np.float16).astype(np.float32)
        super().put(chunks, vectors)

    def many(self, addresses: Collection[str]) -> dict[str, Vector]:
        found = super().many(addresses)
        spoilt = os.environ.get(SPOILT, "")
        return found | {spoilt: found[spoilt][::-1].copy()} if spoilt in found else found


class Keywords(TantivyKeywords):
    """Words elsewhere."""


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("CARREL_INGEST__BATCH_CHARACTERS", "4000")
    for seam in ("CATALOG", "VECTORS", "KEYWORDS", "GRAPH"):
        monkeypatch.setenv(f"CARREL_{seam}_PASSWORD", servers.PASSWORD)
        monkeypatch.setenv(f"CARREL_{seam}_NAMESPACE", uuid.uuid4().hex[:12])
    for seam, kind, made in (
        ("embedders", "embedder", "Embedder"),
        ("vectors", "elsewhere", "Vectors"),
        ("keywords", "elsewhere", "Keywords"),
    ):
        monkeypatch.setitem(registry.BUILT_IN[seam], kind, f"{HERE}:{made}")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty abstracts, a text with concepts, and a concept of the user's own."""
    folder = tmp_path_factory.mktemp("built")
    with Library.init(folder, embedder=HashedWords()) as library:
        assign(library.layout.config, "embedder", "embedder")
        (folder / "tree.md").write_text(NOTE)
        library.add(refs(folder / "refs.jsonl", "paper", COUNT), folder / "tree.md", tags=("old",))
        library.add_concept("st", "segment tree", aliases=["interval tree"])
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(built, tmp_path / "papers")
    monkeypatch.setenv("TEST_NO_EMBEDDING", "1")
    return tmp_path / "papers"


def move(folder: Path, *, force: bool = False, flags: dict[str, str] | None = None, **to: str) -> Migrated:
    return migrate(str(folder), flags or {}, to, force=force, progress=lambda *_: None)


def said(folder: Path, **chosen: str) -> dict[str, Any]:
    """What a library says, with its stores where the settings have them."""
    with Library.open(folder, overrides=chosen) as library:
        papers = [row.reference.id for row in library.list()]
        assert library.verify().problems == ()
        queries = [
            library.search(query, mode=mode, where=where)
            for query in ("citation translation", "segment tree")
            for mode in ("vector", "keyword", "graph", "hybrid")
            for where in (Filter(), Filter(tags=frozenset({"old"})))
        ]
        graph = told(library.stores.graph, names=["segment tree", "st"], papers=[*papers, CURATED])
        found = [[(one.chunk.address, one.score) for one in result.passages] for result in queries]
        return {"papers": papers, "found": found, "graph": graph, "degraded": [one.degraded for one in queries]}


def contents(folder: Path) -> dict[str, str]:
    """Of every file of the stores, but those that are locks or only tell who was there."""
    paths = (path for path in (folder / ".carrel").rglob("*") if path.is_file() and "moving" not in path.parts)
    kept = {path for path in paths if path.suffix in {".bin", ".json", ".npy", ".idx", ".term", ".store", ".jsonl"}}
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}


def test_vectors_and_words_say_the_same_elsewhere_and_the_old_ones_are_as_they_were(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, files = said(folder), contents(folder)
    done = move(folder, vectors="elsewhere", keywords="elsewhere")
    vectors, keywords = done.moved["vectors"], done.moved["keywords"]
    assert (vectors.source, vectors.target, vectors.already, vectors.removed) == ("flat", "elsewhere", 0, 0)
    with Library.open(folder) as library:
        assert (vectors.rows, keywords.rows) == (library.stores.vectors.count(), library.stores.keywords.count())
    assert {name: digest for name, digest in contents(folder).items() if name in files} == files
    assert not (folder / ".carrel" / "cache" / "moving" / "vectors.jsonl").exists()
    shutil.rmtree(folder / ".carrel" / "cache" / "vectors")
    shutil.rmtree(folder / ".carrel" / "cache" / "keywords")
    assert said(folder, vectors="elsewhere", keywords="elsewhere") == before
    assert 1 < Vectors.largest < COUNT
    flags = {"vectors": "elsewhere", "keywords": "elsewhere"}
    back = move(folder, flags=flags, vectors="flat", keywords="tantivy")
    assert back.moved["vectors"].rows == vectors.rows
    assert said(folder) == before
    monkeypatch.setattr(Vectors, "largest", 0)


def nobody_asks(*_: object, **__: object) -> None:
    raise AssertionError("concepts were read again")


def test_a_graph_goes_from_server_to_server_and_back_as_it_was_contributed(
    folder: Path, postgresql_server: servers.Server, bolt_server: servers.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Neo4jGraph, "index_texts", lambda *_: bolt_server.full_text())
    monkeypatch.setattr(concepts, "contribution", nobody_asks)
    before, place = said(folder), "sqlite"
    for target in (postgresql_server.address, bolt_server.address, "sqlite"):
        if target == "sqlite":
            shutil.rmtree(folder / ".carrel" / "cache" / "graph")
        done = move(folder, flags={"graph": place}, graph=target).moved["graph"]
        assert (done.rows, done.already, done.removed) == (COUNT + 2, 0, 0)
        assert said(folder, graph=target) == before
        place = target


def test_what_lives_beside_the_catalog_moves_with_it(folder: Path, postgresql_server: servers.Server) -> None:
    before, address = said(folder), postgresql_server.address
    pytest.importorskip("carrel.keywords.postgresql")
    done = move(folder, catalog=address, vectors="pgvector", keywords="postgresql", graph=address)
    assert done.settings == {"catalog": address, "vectors": "pgvector", "keywords": "postgresql", "graph": address}
    shutil.rmtree(folder / ".carrel" / "cache")
    (folder / ".carrel" / "carrel.db").unlink()
    there = said(folder, **done.settings)
    assert (there["papers"], there["graph"]) == (before["papers"], before["graph"])
    assert there["found"][0] == before["found"][0]
    back = move(folder, flags=dict(done.settings), catalog="sqlite", vectors="flat", keywords="tantivy", graph="sqlite")
    assert list(back.moved) == ["vectors", "keywords", "graph", "catalog"]
    assert said(folder) == before


@pytest.mark.parametrize("kind", ["lance", "pgvector", "milvus-lite", "iris"])
def test_vectors_go_to_every_kind_of_store_and_come_back_bit_for_bit(
    folder: Path, kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_INGEST__BATCH_CHARACTERS", "40000")
    served = {"pgvector": "postgresql_server", "milvus-lite": "milvus_lite_server"}
    server = request.getfixturevalue(served[kind]).address if kind in served else kind
    if kind == "iris":
        iris_double.SERVERS["here"], server = folder / "iris.db", "iris://me@here:1972/USER"
    with Library.open(folder) as library:
        addresses = library.stores.vectors.addresses()
        before = {address: row.tobytes() for address, row in library.stores.vectors.many(addresses).items()}
    expected = said(folder)
    assert move(folder, vectors=server).moved["vectors"].rows == len(before)
    there = said(folder, vectors=server)
    assert there["found"] == expected["found"]
    shutil.rmtree(folder / ".carrel" / "cache" / "vectors")
    move(folder, flags={"vectors": server}, vectors="flat")
    with Library.open(folder) as library:
        after = library.stores.vectors.many(addresses)
    assert {address: row.tobytes() for address, row in after.items()} == before


def moving(folder: str) -> None:
    registry.BUILT_IN["embedders"]["embedder"] = f"{HERE}:Embedder"
    registry.BUILT_IN["vectors"]["elsewhere"] = f"{HERE}:Vectors"
    registry.BUILT_IN["keywords"]["elsewhere"] = f"{HERE}:Keywords"
    move(Path(folder), vectors="elsewhere", keywords="elsewhere")


def killed(folder: Path) -> None:
    """A move that was killed when some papers had arrived."""
    ledger = folder / ".carrel" / "cache" / "moving" / "vectors.jsonl"
    code = f"import {HERE} as here; here.moving({str(folder)!r})"
    known = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", SLOW: "0.1"}
    with subprocess.Popen([sys.executable, "-c", code], env=known) as process:
        wait(lambda: ledger.exists() and ledger.read_text().count("\n{") > 4)
        process.send_signal(signal.SIGKILL)


def test_a_move_that_was_killed_goes_on_where_it_was(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = said(folder)
    killed(folder)
    assert said(folder) == before
    command = ["--library", str(folder), "migrate", "--vectors", "elsewhere", "--keywords", "elsewhere"]
    assert run([*command, "--json"]) == 0
    vectors = json.loads(capfd.readouterr().out)["moved"]["vectors"]
    assert 8 <= vectors["already"] < vectors["rows"]
    assert said(folder, vectors="elsewhere", keywords="elsewhere") == before


def test_what_changed_since_a_move_was_killed_arrives_as_it_is_now(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(folder)
    with Library.open(folder) as library:
        records = [json.loads(line) for line in library.layout.refs.read_text().splitlines()]
        changed = [record | {"tags": ["new"] if record["id"] == "paper0" else record["tags"]} for record in records]
        library.layout.refs.write_text("".join(f"{json.dumps(record)}\n" for record in changed))
        monkeypatch.delenv("TEST_NO_EMBEDDING")
        library.build_index()
        library.remove("paper1")
    done = move(folder, vectors="elsewhere")
    assert done.moved["vectors"].removed == 1
    with Library.open(folder, overrides={"vectors": "elsewhere"}) as library:
        found = library.search("citation", mode="vector", where=Filter(tags=frozenset({"new"})))
        assert {one.chunk.paper_id for one in found.passages} == {"paper0"}
        assert library.verify().problems == ()


def test_what_is_there_already_is_replaced_only_by_force(folder: Path) -> None:
    assert move(folder, vectors="elsewhere").moved["vectors"].already == 0
    with pytest.raises(
        InvalidInput, match=r"there are 81 vectors of 'hashed-words-64-128' in 'elsewhere' already"
    ) as no:
        move(folder, vectors="elsewhere")
    assert "'--force' replaces them" in no.value.hint
    with Library.open(folder) as library:
        library.remove("paper3", "paper4")
    assert move(folder, force=True, vectors="elsewhere").moved["vectors"].removed == 2
    assert said(folder, vectors="elsewhere") == said(folder)


def test_vectors_of_another_model_make_room(folder: Path) -> None:
    with Library.open(folder, overrides={"vectors": "elsewhere"}) as library:
        library.stores.vectors.clear(model="older", dim=8)
        library.stores.vectors.put([library.stores.catalog.chunks_of(["paper0"])[0]], np.eye(1, 8, dtype=np.float32))
    with pytest.raises(InvalidInput, match="1 vectors of 'older'"):
        move(folder, vectors="elsewhere")
    move(folder, force=True, vectors="elsewhere")
    assert said(folder, vectors="elsewhere") == said(folder)


def test_a_vector_that_does_not_come_back_as_it_was_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SPOILT, "paper7/abstract")
    with pytest.raises(StoreUnavailable, match=r"the vector of 'paper7/abstract' is not in 'elsewhere' as it is in"):
        move(folder, vectors="elsewhere")
    monkeypatch.delenv(SPOILT)
    assert move(folder, vectors="elsewhere").moved["vectors"].already > 0


def test_half_precision_is_accepted_where_it_is_wanted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROUNDED, "1")
    with pytest.raises(StoreUnavailable, match="the vector of"):
        move(folder, vectors="elsewhere")
    monkeypatch.setenv("CARREL_VECTORS_HALF", "true")
    done = move(folder, force=True, vectors="elsewhere").moved["vectors"]
    assert done.note == "in half precision, each compared by its direction"


def test_what_lost_digits_by_a_move_before_gets_them_back_by_force(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of half precision stays one, whatever is put there, until it is cleared."""
    monkeypatch.setenv("CARREL_VECTORS_HALF", "true")
    move(folder, vectors="lance")
    monkeypatch.delenv("CARREL_VECTORS_HALF")
    done = move(folder, force=True, vectors="lance").moved["vectors"]
    assert (done.rows, done.note) == (81, "")
    with Library.open(folder) as here, Library.open(folder, overrides={"vectors": "lance"}) as there:
        addresses = here.stores.vectors.addresses()
        old, new = here.stores.vectors.many(addresses), there.stores.vectors.many(addresses)
    assert {address: row.tobytes() for address, row in old.items()} == {
        address: row.tobytes() for address, row in new.items()
    }


def test_what_the_old_store_lacks_is_told_of_and_nothing_replaces_something(folder: Path) -> None:
    with Library.open(folder) as library:
        library.stores.vectors.delete(["paper5"])
        chunks = len(library.stores.catalog.chunks_of(["paper5"]))
    done = move(folder, vectors="elsewhere").moved["vectors"]
    assert done.note == f"{chunks} chunks are in neither, which 'carrel index build' brings in"
    shutil.rmtree(folder / ".carrel" / "cache" / "vectors")
    with pytest.raises(InvalidInput, match=r"there are 79 vectors .* in 'elsewhere', and none in 'flat'") as refused:
        move(folder, force=True, vectors="elsewhere")
    assert "index build" in refused.value.hint
    with Library.open(folder, overrides={"vectors": "elsewhere"}) as library:
        assert library.stores.vectors.count() == done.rows


def test_a_move_ends_when_others_may_write_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a restart of the server that keeps the lock."""
    asked = []

    @contextmanager
    def lost(*_: object, **__: object) -> Iterator[Callable[[], None]]:
        def turn() -> None:
            asked.append(1)
            if len(asked) == 3:
                raise StoreUnavailable("cannot lock")

        yield turn

    monkeypatch.setattr(LibraryLock, "alone", lost)
    with pytest.raises(StoreUnavailable, match="cannot lock"):
        move(folder, vectors="elsewhere")
    done = move(folder, vectors="elsewhere").moved["vectors"]
    assert 0 < done.already < done.rows


def test_who_revokes_something_while_stores_move_has_revoked_it_there_too(
    folder: Path, postgresql_server: servers.Server
) -> None:
    with Library.open(folder) as library:
        library.stores.catalog.credentials.put(Token("t", "laptop", Scope.READ, "digest"))

    def revoke(stage: str, *_: object) -> None:
        if stage == "moving the vectors":
            with Library.open(folder) as library:
                library.stores.catalog.credentials.revoke("t")

    to = {"catalog": postgresql_server.address, "vectors": "elsewhere"}
    migrate(str(folder), {}, to, progress=revoke)
    with Library.open(folder, overrides={"catalog": postgresql_server.address}) as there:
        (token,) = there.stores.catalog.credentials.all()
    assert token.revoked_at


def test_vectors_that_wait_for_their_index_are_told_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Vectors, "unindexed", lambda _: 4_321)
    done = move(folder, vectors="elsewhere").moved["vectors"]
    assert done.note == "4,321 wait to be indexed there, and until then a search may miss some"


@pytest.mark.parametrize(
    ("option", "to", "said"),
    [
        ("vectors", "flat", "the vectors are in 'flat' already"),
        ("graph", "sqlite", "the graph is in 'sqlite' already"),
        ("keywords", "nothing", "no keyword index is called 'nothing'"),
        ("vectors", "nothing://host/x", "no vector store is called 'nothing'"),
        ("graph", "bolt://me:secret@127.0.0.1/db", "has a password in it"),
        ("graph", "postgresql://127.0.0.1/db?password=secret", "has more in it than user, host"),
        ("vectors", "milvus://me:se/c@secret@127.0.0.1/x", "'milvus://…@127.0.0.1/x' from flag: has a port"),
        ("vectors", "lance:s3://key:secret@bucket/folder", "keys stand in the environment"),
        ("vectors", "milvus", "'milvus' does not say on which server"),
        ("graph", "bolt://root@127.0.0.1:9", "cannot use the graph on 'bolt://root@127.0.0.1:9'"),
    ],
)
def test_a_target_that_cannot_be_is_refused_in_one_sentence_before_anything_moves(
    folder: Path, option: str, to: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    vectors = [] if option == "vectors" else ["--vectors", "elsewhere"]
    assert run(["--library", str(folder), "migrate", *vectors, f"--{option}", to]) != 0
    err = capfd.readouterr().err
    assert said in err
    assert "secret" not in err
    assert "Traceback" not in err
    assert not (folder / ".carrel" / "cache" / "vectors-elsewhere").exists()


def test_the_command_says_what_was_moved_and_what_to_set(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--library", str(folder), "migrate"]) == 1
    assert "nothing to move is named" in capfd.readouterr().err
    assert run(["--library", str(folder), "migrate", "--vectors", "elsewhere", "--keywords", "elsewhere"]) == 0
    told = capfd.readouterr()
    assert told.out.splitlines() == ["Moved and compared 81 vectors.", "Moved and compared 41 chunks."]
    assert told.err.splitlines()[-3:] == [
        "To use what is new:",
        "  carrel config set vectors elsewhere",
        "  carrel config set keywords elsewhere",
    ]


def test_a_server_on_another_machine_is_for_the_user_s_own_config(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.migrating.migrate", lambda *_, **__: Migrated({}, {"vectors": "milvus://far/x"}))
    assert run(["--library", str(folder), "migrate", "--vectors", "milvus://far/x"]) == 0
    told = capfd.readouterr().err
    assert "To use what is new, set CARREL_VECTORS=milvus://far/x, or, for all libraries" in told
    assert told.endswith("\nvectors = 'milvus://far/x'\n")


def test_so_is_a_server_that_is_given_a_password_and_what_lives_beside_it_is_not(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given to no server that only the library's config names."""
    to = {"catalog": "postgresql://ann@127.0.0.1/x", "vectors": "pgvector", "keywords": "postgresql"}
    monkeypatch.setattr("carrel.migrating.migrate", lambda *_, **__: Migrated({}, to))
    command = ["--library", str(folder), "migrate", *(word for seam in to for word in (f"--{seam}", to[seam]))]
    monkeypatch.delenv("CARREL_CATALOG_PASSWORD", raising=False)
    beside = "To use what is new:\n  carrel config set vectors pgvector\n  carrel config set keywords postgresql\n"
    assert run(command) == 0
    assert "  carrel config set catalog postgresql://ann@127.0.0.1/x\n" in capfd.readouterr().err
    monkeypatch.setenv("CARREL_CATALOG_PASSWORD", "secret")
    assert run(command) == 0
    told = capfd.readouterr().err
    assert told.startswith(f"{beside}To use what is new, set CARREL_CATALOG=postgresql://ann@127.0.0.1/x, or")
    assert "secret" not in told
