"""Libraries of several machines: a folder for each, and servers that all of them share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrel import Library
from tests import servers
from tests.embedders.test_ollama import Scripted
from tests.embedders.test_openai import openai

PASSWORDS = {f"CARREL_{store}_PASSWORD": servers.PASSWORD for store in ("CATALOG", "VECTORS", "KEYWORDS", "GRAPH")}


@dataclass(frozen=True)
class Shared:
    """What several machines are told in common."""

    settings: Mapping[str, str]

    @classmethod
    def on(cls, postgresql: str, milvus: str, bolt: str, name: str, **others: str) -> Shared:
        stores = {"catalog": postgresql, "keywords": "postgresql", "vectors": f"{milvus}/{name}", "graph": bolt}
        return cls({**stores, **{f"{store}_namespace": name for store in stores}, **others})

    def machine(self, folder: Path, *, uploads: Path | None = None, **options: Any) -> Library:
        """A library in a folder of its own; with the uploads of another machine, where they are shared."""
        folder.mkdir(parents=True, exist_ok=True)
        library = Library.init(folder, overrides=dict(self.settings), **options)
        if uploads:
            uploads.mkdir(parents=True, exist_ok=True)
            library.layout.uploads.symlink_to(uploads)
        return library

    @property
    def variables(self) -> dict[str, str]:
        """As a process of its own is told."""
        return {f"CARREL_{key.upper().replace('.', '__')}": value for key, value in self.settings.items()}

    def worker(self, folder: Path, *options: str) -> subprocess.Popen[str]:
        """`carrel worker`, which ends when nothing is waiting."""
        return subprocess.Popen(
            [sys.executable, "-m", "carrel", "-C", str(folder), "worker", "--drain", *options],
            env={**os.environ, **PASSWORDS, **self.variables},
            stderr=subprocess.PIPE,
            text=True,
        )


def ended(worker: subprocess.Popen[str], seconds: float = 300.0) -> tuple[int, str]:
    """How it ended, and what it said."""
    _, said = worker.communicate(timeout=seconds)
    return worker.returncode, said


@contextmanager
def embedding(model: str = "") -> Iterator[dict[str, str]]:
    """What all of them embed with, as settings: a model, or without one a server of their own that counts words."""
    if model:
        yield {"embedder": model}
        return
    server = Scripted(openai)
    try:
        yield {"embedder": "openai:words", "models.base_url": f"{server.url}/v1", "models.dimensions": "64"}
    finally:
        server.shutdown()
        server.server_close()
