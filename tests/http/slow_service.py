"""A library whose answers take so many seconds, served in a process of its own.

python -m tests.http.slow_service FOLDER SECONDS
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from carrel.http.server import serve
from carrel.types import Prompt
from tests.http.asking import TRUE
from tests.saved_answers import opened


class Slow:
    name = "slow"
    context_tokens = 1_000_000

    def stream(self, prompt: Prompt) -> Iterator[str]:
        yield TRUE
        time.sleep(float(sys.argv[2]))
        yield "It melts at about 1,215 degrees, which surprised nobody at all in the laboratory. [1]\n"


def main() -> None:
    with opened(
        Path(sys.argv[1]), **{"answer.threshold": 0.0, "serve.port": 0, "serve.shutdown_seconds": 10}
    ) as library:
        library.generator = Slow()
        serve(library, lambda address: print(address, flush=True))  # noqa: T201
    print("closed", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
