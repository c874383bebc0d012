"""Workers that share a library on servers: how long they take for a folder of articles, and whether nothing is amiss.

    python -m benchmarks.spread ../shared/data [--articles 371] [--workers 1 2] [--embedder granite]

PostgreSQL (catalog and words), Milvus (vectors) and the Bolt server of ArcadeDB (graph) are started here, on loopback.
For each number of workers a library of its own is made: the articles are handed over, `carrel worker --drain` is run
that many times, each in a folder of its own as on a machine of its own, and what they made is verified. Then a tenth of
the articles is deleted, handed over again, and all is verified once more. They share the cores of one machine.

Unless `--embedder` names a model, texts are embedded by a small server that counts words: what is measured then is all
that Carrel and the stores do, without a model's time.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import servers
from tests.congruence.fleet import PASSWORDS, Shared, embedding, ended

from benchmarks.full_papers import PAPERS, unpack
from carrel.jobs import Ingestion, Said
from carrel.types.service import DocumentStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel import Library

HOURS = 4 * 3600.0


def submit(library: Library, paths: Sequence[Path]) -> None:
    ingestion = Ingestion(library)
    for path in paths:
        with path.open("rb") as content:
            ingestion.upload(path.name, content, "application/xml", Said())


def work(shared: Shared, folders: Sequence[Path]) -> float:
    """Seconds until nothing is waiting."""
    start = time.monotonic()
    workers = [shared.worker(folder, "--concurrent", "1") for folder in folders]
    for worker in workers:
        code, said = ended(worker, HOURS)
        if code:
            raise SystemExit(f"a worker ended with {code}: {said[-2000:]}")
    return time.monotonic() - start


def verified(library: Library) -> str:
    start = time.monotonic()
    found = library.verify()
    return f"{'clean' if found.ok else found.problems[:3]} ({time.monotonic() - start:.1f} s) {dict(found.checked)}"


def delete_some(library: Library) -> tuple[list[str], float]:
    """The names of every tenth document, and the seconds that deleting one took."""
    ingestion, start = Ingestion(library), time.monotonic()
    gone = ingestion.documents(statuses=[DocumentStatus.ACTIVE], limit=PAPERS)[::10]
    for one in gone:
        ingestion.delete(one.id)
    return [Path(one.path).name for one in gone], (time.monotonic() - start) / max(1, len(gone))


def run(shared: Shared, folder: Path, articles: Sequence[Path], workers: int) -> None:
    folders = [folder / f"machine{number}" for number in range(workers)]
    with ExitStack() as stack:
        machines = [stack.enter_context(shared.machine(one, uploads=folder / "uploads")) for one in folders]
        start = time.monotonic()
        submit(machines[0], articles)
        print(f"  handed over in {time.monotonic() - start:.1f} s")
        seconds = work(shared, folders)
        print(f"  taken in by {workers} in {seconds:,.0f} s: {60 * len(articles) / seconds:.1f} articles a minute")
        shares = [len(list(machine.layout.embeddings.glob("*/*"))) for machine in machines]
        failed = Ingestion(machines[0]).documents(statuses=[DocumentStatus.FAILED], limit=PAPERS)
        print(f"  by machine: {shares}; failed: {[(one.path, one.error_message) for one in failed]}")
        print(f"  verify: {verified(machines[-1])}")
        gone, each = delete_some(machines[-1])
        print(f"  {len(gone)} deleted, {each:.2f} s each; verify: {verified(machines[0])}")
        submit(machines[0], [path for path in articles if path.name in gone])
        print(f"  taken in again in {work(shared, folders):.0f} s; verify: {verified(machines[0])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--articles", type=int, default=PAPERS)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--embedder", default="", help="such as granite")
    chosen: Any = parser.parse_args()
    os.environ.update(PASSWORDS)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "articles").mkdir()
        unpack(chosen.data, chosen.articles, folder / "articles")
        articles = sorted((folder / "articles").rglob("*.xml"))
        starting = (servers.postgresql(), servers.milvus(), servers.bolt())
        postgresql, milvus, bolt = (stack.enter_context(one).address for one in starting)
        model = stack.enter_context(embedding(chosen.embedder))
        for workers in chosen.workers:
            print(f"{len(articles)} articles, {workers} workers")
            shared = Shared.on(postgresql, milvus, bolt, f"spread{workers}", **model)
            run(shared, folder / f"by{workers}", articles, workers)


if __name__ == "__main__":
    main()
