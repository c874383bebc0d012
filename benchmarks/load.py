"""Many users at once: what a server does with them for some minutes.

    python -m benchmarks.load ../shared/data/corpora/acl_anthology_2016_2021 [--users 20] [--minutes 5] [--work .bench]

A real `carrel serve` on loopback, over 10,000 papers' abstracts; each user asks, reads the answer as it streams, and
asks the next question at once. The users run on the same cores. Beside it: one user alone with the same server, and the
library asked in process, one question after another, which is what the cores can do at most without a server.

It ends after the time given or after `--most` questions, whichever comes first, and fails if anything went wrong but
what the service declares: 503 and 504 for a queue that is full or slow.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import numpy as np

from benchmarks.query import PAPERS, abstracts, grown, library_of, questions
from carrel import Library
from carrel.embedders.cache import EmbeddingCache
from carrel.embedders.granite import Granite
from carrel.ingest.indexing import embed
from carrel.types import TokenEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ALONE_SECONDS = 30.0
IN_PROCESS = 60
SAMPLE_SECONDS = 5.0
WARM_UP = 10
DECLARED = frozenset({"QUEUE_FULL", "QUEUE_TIMEOUT", "QUERY_TIMEOUT", "SHUTTING_DOWN"})
PATIENCE = 120.0


@dataclass
class Seen:
    """What the users saw."""

    first_event: list[float] = field(default_factory=list)
    first_token: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    answers: int = 0
    citations: int = 0
    declared: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def asked(self) -> int:
        return len(self.whole)


def library(data: Path, work: Path) -> tuple[Path, Sequence[str]]:
    """The folder of a library of 10,000 papers, and questions to it."""
    embedder, chunks = Granite(), abstracts(data)
    vectors, *_ = embed(chunks, embedder, EmbeddingCache(work / "acl", model=embedder.name, dim=embedder.dim))
    folder = work / f"query-{PAPERS}"
    library_of(grown(chunks, vectors, PAPERS), folder).close()
    return folder, questions(chunks)


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    """A server's address and process id, while it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Every user here has one address: the limit of requests a minute is for one client.
    environment = {**os.environ, "CARREL_SERVE__REQUESTS_PER_MINUTE": "0"}
    command = [sys.executable, "-m", "carrel", "-C", str(folder), "serve", "--port", str(port)]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            _wait_until_ready(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def _wait_until_ready(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx2.get(f"{address}/api/health/ready", timeout=10).status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.2)
    raise SystemExit("the server did not become ready")


async def crowd(address: str, asked: Sequence[str], users: int, seconds: float, most: int) -> Seen:
    seen, began = Seen(), time.perf_counter()
    left = itertools.islice(itertools.cycle(asked), most)

    async def user(client: httpx2.AsyncClient) -> None:
        for question in left:
            if time.perf_counter() - began > seconds:
                return
            await _ask(client, question, seen)

    async with httpx2.AsyncClient(base_url=address, timeout=PATIENCE, trust_env=False) as client:
        await asyncio.gather(*(user(client) for _ in range(users)))
    seen.seconds = time.perf_counter() - began
    return seen


async def _ask(client: httpx2.AsyncClient, question: str, seen: Seen) -> None:
    start = time.perf_counter()
    times: dict[str, float] = {}
    last = ""
    try:
        async with client.stream("POST", "/api/query/stream", json={"query": question}) as response:
            if response.status_code != 200:
                content = json.loads(await response.aread())
                _count_error(content.get("error", str(response.status_code)), seen)
                return
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    last = line.removeprefix("event: ")
                    times.setdefault(last, (time.perf_counter() - start) * 1000)
                    seen.citations += last == "citation"
                elif last == "error" and line.startswith("data: "):
                    _count_error(json.loads(line.removeprefix("data: ")).get("code", "error"), seen)
    except (httpx2.HTTPError, ValueError) as error:
        seen.wrong[type(error).__name__] += 1
        return
    if last == "done":
        seen.answers += 1
        seen.first_event.append(times["confidence"])
        seen.first_token.append(times["token"])
        seen.whole.append((time.perf_counter() - start) * 1000)
    elif last != "error":
        seen.wrong[f"ended with {last or 'nothing'}"] += 1


def _count_error(code: str, seen: Seen) -> None:
    (seen.declared if code in DECLARED else seen.wrong)[code] += 1


@dataclass
class Memory:
    """The server's resident memory, in MB, as the minutes pass."""

    process: int
    samples: list[tuple[float, float]] = field(default_factory=list)

    async def watch(self, seconds: float) -> None:
        began = time.perf_counter()
        while (passed := time.perf_counter() - began) < seconds:
            self.samples.append((passed, self._resident()))
            await asyncio.sleep(SAMPLE_SECONDS)

    def _resident(self) -> float:
        status = Path(f"/proc/{self.process}/status").read_text(encoding="utf-8")
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def growth(self) -> float:
        """MB a minute over the second half, when all that is kept is there."""
        half = self.samples[len(self.samples) // 2 :]
        if len(half) < 2:
            return 0.0
        minutes, sizes = np.array(half).T
        return float(np.polyfit(minutes / 60, sizes, 1)[0])


def in_process(folder: Path, asked: Sequence[str]) -> Seen:
    """The same questions to the library itself, one after another."""
    seen = Seen()
    with Library.open(folder) as opened:
        for question in asked[:WARM_UP]:
            opened.ask(question)
        began = time.perf_counter()
        for question in asked[WARM_UP : WARM_UP + IN_PROCESS]:
            start, told = time.perf_counter(), 0.0
            for number, event in enumerate(opened.stream(question)):
                now = (time.perf_counter() - start) * 1000
                if number == 0:
                    seen.first_event.append(now)
                if isinstance(event, TokenEvent) and not told:
                    told = now
            seen.first_token.append(told)
            seen.whole.append(now)
            seen.answers += 1
        seen.seconds = time.perf_counter() - began
    return seen


def table(rows: dict[str, Seen]) -> str:
    kinds = ("first event", "first token", "whole answer")
    lines = [
        f"| milliseconds, p50 / p95 / p99 | {' | '.join(kinds)} | answers | a second | ratio |",
        f"|---|{'---:|' * (len(kinds) + 3)}",
    ]
    most = max(seen.answers / seen.seconds for name, seen in rows.items() if name.startswith("in process"))
    for name, seen in rows.items():
        rate = seen.answers / seen.seconds
        cells = [_percentiles(times) for times in (seen.first_event, seen.first_token, seen.whole)]
        lines.append(f"| {name} | {' | '.join(cells)} | {seen.answers:,} | {rate:.1f} | {rate / most:.2f} |")
    return "\n".join(lines)


def _percentiles(times: Sequence[float]) -> str:
    return " / ".join(f"{np.percentile(times, share):,.0f}" for share in (50, 95, 99)) if times else "–"


async def _crowded(
    address: str, process: int, asked: Sequence[str], options: argparse.Namespace
) -> tuple[Seen, Memory]:
    memory, seconds = Memory(process), options.minutes * 60
    watching = asyncio.create_task(memory.watch(seconds + PATIENCE))
    seen = await crowd(address, asked, options.users, seconds, options.most)
    watching.cancel()
    return seen, memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--most", type=int, default=20_000, help="questions, in all")
    options = parser.parse_args()
    folder, asked = library(options.data, options.work)
    print(f"{len(asked)} questions to {str(folder)!r}", file=sys.stderr)
    rows = {"in process, one after another": in_process(folder, asked)}
    with serving(folder) as (address, process):
        asyncio.run(crowd(address, asked, 2, PATIENCE, WARM_UP))
        rows["one user"] = asyncio.run(crowd(address, asked, 1, ALONE_SECONDS, options.most))
        crowded, memory = asyncio.run(_crowded(address, process, asked, options))
        rows[f"{options.users} users"] = crowded
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {crowded.seconds:.0f} s, {PAPERS:,} papers\n")
    print(table(rows))
    first, last = memory.samples[0][1], memory.samples[-1][1]
    print(f"\ncitations {crowded.citations:,}; declared refusals {dict(crowded.declared)}; wrong {dict(crowded.wrong)}")
    print(
        f"memory {first:.0f} MB at first, {last:.0f} MB at last, {memory.growth():+.2f} MB a minute in the second half"
    )
    sys.exit(1 if crowded.wrong or rows["one user"].wrong else 0)


if __name__ == "__main__":
    main()
