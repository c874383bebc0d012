"""What becomes of PDFs that broke other readers: how each ends, in what time and memory.

python -m benchmarks.hostile ../shared/data
"""

from __future__ import annotations

import argparse
import resource
import tarfile
import time
from collections import Counter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from carrel.errors import NoTextLayer, SourceError
from carrel.isolation.process import Budget
from carrel.isolation.workers import Workers
from carrel.parsers import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOWEST = 5


def files(data: Path) -> Iterator[Source]:
    with tarfile.open(data / "adversarial" / "pdfjs_dev" / "pdfs.tar.xz") as archive:
        for member in archive:
            if file := archive.extractfile(member):
                yield Source(PurePath(member.name).name, file.read())


def outcome(workers: Workers, source: Source) -> str:
    try:
        workers.parse(source, "pdf")
    except NoTextLayer:
        return "no text"
    except SourceError as error:
        return f"failed: {error.message.removeprefix(repr(source.name)).strip()}"
    return "ok"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, nargs="?", default=Path("../shared/data"))
    outcomes: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    with Workers(Budget(ocr_pages=0)) as workers:
        for source in files(parser.parse_args().data):
            start = time.perf_counter()
            outcomes[outcome(workers, source)] += 1
            seconds[source.name] = time.perf_counter() - start
    for name, count in outcomes.most_common():
        print(f"{count:4}  {name}")
    print(f"\n{outcomes.total()} files in {sum(seconds.values()):.1f} s; the slowest:")
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True)[:SLOWEST]:
        print(f"{seconds[name]:6.2f} s  {name}")
    print(f"peak memory of a worker: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
