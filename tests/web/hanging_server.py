"""A library whose answers do not go on after their first sentence, served in a process of its own.

python -m tests.web.hanging_server FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

from carrel.http.server import serve
from tests.http.asking import TRUE, Halting
from tests.saved_answers import opened


def main() -> None:
    settings = {"answer.threshold": 0.0, "serve.port": 0, "serve.shutdown_seconds": 0}
    with opened(Path(sys.argv[1]), **settings) as library:
        library.generator = Halting(TRUE)
        serve(library, lambda address: print(address, flush=True))  # noqa: T201


if __name__ == "__main__":
    main()
