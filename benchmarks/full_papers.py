"""What it costs to take in a folder of full papers, and what is left of it after kill -9.

    python -m benchmarks.full_papers ../shared/data [--papers 371] [--kill-after 60 200]

The articles are 121 of PLOS and 250 of PubMed Central, in JATS. `carrel add FOLDER` is run as a user runs it, at a
terminal of its own so that it shows its progress. Memory is that of the command and its workers together, looked at
five times a second; pages they share count twice. Where the time goes is what the command's own log says. With
`--kill-after` it is killed after so many seconds, once for each number, and started again each time. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel import Library

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ARCHIVES = ("plos_jats/plos_jats.tar.xz", "pmc_jats_dev/pmc_jats_dev.tar.xz")
PAPERS = 371
MOST_MEGABYTES = 2000
STAGES = ("parsing", "cutting", "embedding", "writing")
"""As the log names them."""
_LOGGED = re.compile(r'\{"time".*\}')
_CONTROL = re.compile(r"\x1b\[[?\d;]*[a-zA-Z]")
_BAR = re.compile(r"(\w+)\s+\[[#-]*\]\s+(\d+)%")
_LOOK_EVERY = 0.2
_TO_DIE = 5.0


def unpack(data: Path, count: int, target: Path) -> int:
    """The first articles of the archives, by name."""
    left = count
    for name in ARCHIVES:
        with tarfile.open(data / "fulltext" / name) as archive:
            articles = sorted((one for one in archive.getmembers() if one.isfile()), key=lambda one: one.name)[:left]
            archive.extractall(target, members=articles, filter="data")
        left -= len(articles)
    return count - left


# One run of the command


@dataclass
class Watched:
    """What was seen of a running command."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    megabytes: float = 0.0
    """The most of the command and its workers together."""
    printed: str = ""
    shown: list[tuple[float, str, int]] = field(default_factory=list)
    """Its progress: after how many seconds, which stage, at how many per cent."""
    logged: list[dict[str, Any]] = field(default_factory=list)
    killed: bool = False
    left_behind: int = 0
    """Workers that outlived it."""

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.printed) if self.printed else {}
        return found

    @property
    def milliseconds(self) -> Counter[str]:
        spent: Counter[str] = Counter()
        for line in self.logged:
            spent.update(line.get("milliseconds", {}))
        return spent


def run(arguments: Sequence[str | Path], *, kill_after: float | None = None) -> Watched:
    """Run `carrel` at a terminal, with its log on, and watch it to its end."""
    seen, start, before = Watched(), time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    terminal, its_end = pty.openpty()
    command = [sys.executable, "-m", "carrel", "--log-level", "info", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=its_end, text=True)
    os.close(its_end)
    threads = [
        threading.Thread(target=_listen, args=(terminal, seen, start)),
        threading.Thread(target=_weigh, args=(process, seen)),
    ]
    for thread in threads:
        thread.start()
    try:
        seen.printed, _ = process.communicate(timeout=kill_after)
    except subprocess.TimeoutExpired:
        _kill(process, seen)
    seen.seconds = time.monotonic() - start
    if not seen.printed and not seen.killed:
        raise SystemExit(f"carrel {' '.join(map(str, arguments))} left with {process.returncode} and no report")
    for thread in threads:
        thread.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seen.cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seen


def _kill(process: subprocess.Popen[str], seen: Watched) -> None:
    workers = [one for one in _family(process.pid) if one != process.pid]
    process.kill()
    process.communicate()
    seen.killed = True
    deadline = time.monotonic() + _TO_DIE
    while any(map(_runs, workers)) and time.monotonic() < deadline:
        time.sleep(_LOOK_EVERY)
    seen.left_behind = sum(map(_runs, workers))


def _listen(terminal: int, seen: Watched, start: float) -> None:
    """Keep what is written to the terminal, until nobody has it open any longer."""
    rest = ""
    # A terminal whose other end is closed fails instead of ending.
    with suppress(OSError):
        while read := os.read(terminal, 65536):
            *lines, rest = re.split(r"[\r\n]+", rest + read.decode(errors="replace"))
            for line in lines:
                _understand(line, seen, time.monotonic() - start)
    _understand(rest, seen, time.monotonic() - start)
    os.close(terminal)


def _understand(line: str, seen: Watched, after: float) -> None:
    """A line of the log may stand behind a bar that is not finished."""
    if bar := _BAR.search(_CONTROL.sub("", line)):
        seen.shown.append((after, bar[1], int(bar[2])))
    if logged := _LOGGED.search(line):
        seen.logged.append(json.loads(logged[0]))


def _weigh(process: subprocess.Popen[str], seen: Watched) -> None:
    while process.returncode is None:
        seen.megabytes = max(seen.megabytes, sum(map(_resident, _family(process.pid))))
        time.sleep(_LOOK_EVERY)


def _family(process: int) -> Iterator[int]:
    """A process and all that it has started."""
    yield process
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


def _resident(process: int) -> float:
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
    return 0.0


def _runs(process: int) -> bool:
    return _resident(process) > 0


# What is measured


def adding(folder: Path, library: Path, kills: Sequence[float]) -> list[Watched]:
    runs = []
    for kill_after in (*kills, None):
        seen = run(("-C", library, "add", folder, "--json"), kill_after=kill_after)
        runs.append(seen)
        _print_run(seen, library)
        if not seen.killed and kill_after:
            print("it was done before it was to be killed")
            break
    return runs


def _print_run(seen: Watched, library: Path) -> None:
    ending = "killed" if seen.killed else "to its end"
    print(f"\ncarrel add, {ending}: {seen.seconds:.1f} s, {seen.cpu_seconds:.1f} s of CPU time")
    print(f"  most memory, workers included: {seen.megabytes:.0f} MB (to be under {MOST_MEGABYTES})")
    for stage, line in _progress(seen).items():
        print(f"  progress: {stage} {line}")
    if seen.killed:
        print(f"  workers left behind: {seen.left_behind}")
    else:
        told = {key: value for key, value in seen.report.items() if isinstance(value, int)}
        problems = [*seen.report["failed"], *seen.report["skipped"]]
        print(f"  report: {told}; {len(problems)} failed or skipped")
        for problem in problems:
            print(f"    {Path(problem['source']).name}: {problem['reason']}")
    print(f"  carrel index check: {_checked(library)}")


def _progress(seen: Watched) -> dict[str, str]:
    """Of each stage, when it was first and last shown, and how often it was."""
    stages = dict.fromkeys(stage for _, stage, _ in seen.shown)
    shown = {stage: [(after, share) for after, of, share in seen.shown if of == stage] for stage in stages}
    return {
        stage: f"shown {len(steps)} times, {steps[0][0]:.1f} s to {steps[-1][0]:.1f} s, up to {steps[-1][1]} %"
        for stage, steps in shown.items()
    }


def _checked(library: Path) -> str:
    command = [sys.executable, "-m", "carrel", "-C", str(library), "index", "check", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        return done.stderr.strip()
    checked = json.loads(done.stdout)
    return f"{checked['status']}, {checked['papers_indexed']} papers indexed, {checked['papers_missing']} missing"


def totals(runs: Sequence[Watched], library: Path) -> None:
    with Library.open(library) as opened:
        papers = [row.reference.id for row in opened.list()]
        chunks = opened.stores.catalog.chunks_of(papers)
        vectors = opened.stores.vectors.count()
    seconds = sum(seen.seconds for seen in runs)
    print(
        f"\n{len(papers)} papers, {len(chunks)} chunks, {vectors} vectors in {seconds:.1f} s: "
        f"{len(papers) / seconds:.2f} papers a second, {len(chunks) / seconds:.1f} chunks a second"
    )
    shares(sum((seen.milliseconds for seen in runs), Counter()), seconds)


def shares(spent: Mapping[str, float], seconds: float) -> None:
    if not spent:
        print("where the time goes: the log does not say")
        return
    rest = seconds - sum(spent.get(stage, 0) for stage in STAGES) / 1000
    print(f"{'where the time goes':36}       s       %")
    for stage in STAGES:
        print(f"{stage:36} {spent.get(stage, 0) / 1000:7.1f} {spent.get(stage, 0) / 10 / seconds:7.1f}")
    print(f"{'the rest, process start included':36} {rest:7.1f} {100 * rest / seconds:7.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--papers", type=int, default=PAPERS, help="Take the first so many.")
    parser.add_argument("--kill-after", type=float, nargs="*", default=[], metavar="SECONDS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, library = Path(scratch) / "articles", Path(scratch) / "library"
        folder.mkdir()
        count = unpack(options.data, options.papers, folder)
        Library.init(library).close()
        print(f"{count} articles; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        runs = adding(folder, library, options.kill_after)
        totals(runs, library)
        again = run(("-C", library, "add", folder, "--json"))
        print(f"the same again: {again.seconds:.1f} s, {again.report['chunks_embedded']} embedded")
        print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
