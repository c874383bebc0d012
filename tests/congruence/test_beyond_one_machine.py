"""Articles on PostgreSQL, Milvus and a Bolt server, taken in by workers of two machines: what one machine has of them.

By default a few articles and a small embedder behind a server that the workers share. ARTICLES_FOR_CARREL says how
many, up to all 371, and EMBEDDER_FOR_CARREL with which model, as `granite`; then pytest needs more patience than usual:
`-o faulthandler_timeout=0`. `benchmarks/spread.py` tells how long it takes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from carrel.jobs import Ingestion, Said
from carrel.types import EVERYTHING, Filter, Mode, SearchResult
from carrel.types.service import DocumentStatus
from carrel.vectors import VectorStore
from tests import servers
from tests.congruence.fleet import Shared, embedding, ended

DATA = Path(__file__).parents[3] / "shared" / "data" / "fulltext"
ARCHIVES = ("pmc_jats_dev", "plos_jats")
ARTICLES = int(os.environ.get("ARTICLES_FOR_CARREL", "4"))
EMBEDDER = os.environ.get("EMBEDDER_FOR_CARREL", "")
LONG = 3600.0
QUESTIONS = (
    "Which patients were treated, and for how long?",
    "How was the expression of genes measured?",
    "What are the limitations of the study?",
    "Was the difference between the groups significant?",
)
ASKED, TITLES = 100, 4
NAME = "beyond"


def articles(count: int) -> Iterator[tuple[str, bytes]]:
    """The shortest of each archive, as many of one as of the other while there are."""
    paths = [DATA / name / f"{name}.tar.xz" for name in ARCHIVES]
    if not all(path.exists() for path in paths):
        pytest.skip("the articles are not here: shared/data/fulltext beside the repository")
    left = count
    for path, share in zip(paths, (count - min(count // 2, 121), count), strict=True):
        with tarfile.open(path) as archive:
            members = sorted((one for one in archive.getmembers() if one.isfile()), key=lambda one: one.size)
            for member in members[: min(share, left)]:
                left -= 1
                content = archive.extractfile(member)
                assert content is not None
                yield Path(member.name).name, content.read()


@dataclass(frozen=True)
class Machines:
    """One library, of two machines, and the same one on a single machine."""

    shared: Shared
    here: Library
    there: Library
    alone: Library

    def work(self) -> list[tuple[int, str]]:
        """Both machines take in whatever is waiting."""
        folders = [library.layout.root.parent for library in (self.here, self.there)]
        workers = [self.shared.worker(folder, "--concurrent", "1") for folder in folders]
        return [ended(one, LONG) for one in workers]


@pytest.fixture(scope="module")
def libraries(
    postgresql_server: servers.Server,
    milvus_server: servers.Server,
    bolt_server: servers.Server,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("beyond")
    (folder / "articles").mkdir()
    for name, content in articles(ARTICLES):
        (folder / "articles" / name).write_bytes(content)
    (folder / "alone").mkdir()
    with ExitStack() as stack:
        model = stack.enter_context(embedding(EMBEDDER))
        shared = Shared.on(postgresql_server.address, milvus_server.address, bolt_server.address, NAME, **model)
        here, there = (
            stack.enter_context(shared.machine(folder / name, uploads=folder / "uploads")) for name in ("here", "there")
        )
        alone = stack.enter_context(Library.init(folder / "alone", overrides=model))
        report = alone.add(folder / "articles")
        assert (report.failed, len(alone.list())) == ((), ARTICLES)
        made = Machines(shared, here, there, alone)
        submit(here, sorted((folder / "articles").iterdir()))
        assert [code for code, _ in made.work()] == [0, 0]
        yield made


def submit(library: Library, paths: list[Path]) -> list[str]:
    ingestion = Ingestion(library)
    tickets = []
    for path in paths:
        with path.open("rb") as content:
            tickets.append(ingestion.upload(path.name, content, "application/xml", Said()))
    return [ticket.document.id for ticket in tickets]


def found(result: SearchResult) -> list[str]:
    return [one.chunk.address for one in result.passages]


def is_verified(library: Library, shared: Shared) -> bool:
    done = subprocess.run(
        [sys.executable, "-m", "carrel", "-C", str(library.layout.root.parent), "verify"],
        env={**os.environ, **shared.variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return True


def congruent(libraries: Machines) -> None:
    """The same papers, chunks, vectors and concepts, and the same answers."""
    alone, here = libraries.alone.stores, libraries.here.stores
    assert {row.reference.id for row in libraries.there.list()} == {row.reference.id for row in libraries.alone.list()}
    assert here.catalog.addresses() == alone.catalog.addresses()
    assert here.vectors.addresses() == alone.vectors.addresses()
    assert here.keywords.addresses() == alone.keywords.addresses()
    assert here.graph.size() == alone.graph.size()
    assert recall(here.vectors, alone.vectors) >= 0.98
    for question in QUESTIONS:
        for mode in (Mode.GRAPH, Mode.VECTOR, Mode.HYBRID):
            ours, theirs = (one.search(question, mode=mode, limit=10) for one in (libraries.there, libraries.alone))
            assert ours.degraded == ()
            assert len({*found(ours)} & {*found(theirs)}) >= (len(theirs.passages) if mode == Mode.GRAPH else 8)


def recall(ours: VectorStore, theirs: VectorStore) -> float:
    """Of what is nearest to some of the passages, or as near as the last that is."""
    hits = 0
    asked = sorted(theirs.addresses())[:: max(1, theirs.count() // ASKED)][:ASKED]
    for vector in theirs.many(asked).values():
        least = theirs.search(vector, limit=10, where=EVERYTHING)[-1].score - 1e-5
        hits += sum(hit.score >= least for hit in ours.search(vector, limit=10, where=EVERYTHING))
    return hits / (10 * len(asked))


def test_every_article_was_taken_in_once_and_both_machines_had_their_share(libraries: Machines) -> None:
    ingestion = Ingestion(libraries.here)
    documents = ingestion.documents(limit=2 * ARTICLES)
    assert {one.status for one in documents} == {DocumentStatus.ACTIVE}
    assert len(documents) == len(libraries.here.list()) == ARTICLES
    # Where a server was busy it was tried once more; the embeddings tell that nothing was done twice.
    assert max(ingestion.latest_job(one.id).attempts for one in documents) <= 2  # type: ignore[union-attr]
    shares = [len(list(library.layout.embeddings.glob("*/*"))) for library in (libraries.here, libraries.there)]
    assert sum(shares) == ARTICLES
    assert min(shares) >= 1


def test_the_stores_agree_on_every_machine_and_with_a_library_of_files(libraries: Machines) -> None:
    assert is_verified(libraries.here, libraries.shared)
    assert is_verified(libraries.there, libraries.shared)
    congruent(libraries)


def test_questions_are_answered_with_quotes_that_stand_in_the_articles(libraries: Machines) -> None:
    """Where the evidence suffices on both: titles need not be answered by their articles."""
    shared = []
    for row in libraries.there.list()[:TITLES]:
        answers = [library.ask(row.reference.title) for library in (libraries.there, libraries.alone)]
        assert not answers[0].degraded
        ours, theirs = ({quote.chunk.address for quote in answer.citations} for answer in answers)
        if ours and theirs:
            shared.append(len(ours & theirs))
    assert shared
    assert min(shared) >= 1


def test_what_is_deleted_is_in_no_store_and_is_back_when_it_is_sent_again(libraries: Machines) -> None:
    ingestion = Ingestion(libraries.there)
    gone = ingestion.documents(limit=2)
    paths = [libraries.alone.layout.root.parents[1] / "articles" / Path(one.path).name for one in gone]
    papers = frozenset(one.paper_id for one in gone)
    for one in gone:
        assert ingestion.delete(one.id).status == DocumentStatus.ARCHIVED
    stores: Any = libraries.here.stores
    for addresses in (stores.catalog.addresses(), stores.vectors.addresses(), stores.keywords.addresses()):
        assert not {address.partition("/")[0] for address in addresses} & papers
    assert papers.isdisjoint(stores.graph.papers())
    where = Filter(paper_ids=papers)
    assert all(libraries.here.search(question, where=where).passages == () for question in QUESTIONS)
    assert is_verified(libraries.here, libraries.shared)
    submit(libraries.here, paths)
    assert [code for code, _ in libraries.work()] == [0, 0]
    assert is_verified(libraries.there, libraries.shared)
    congruent(libraries)
