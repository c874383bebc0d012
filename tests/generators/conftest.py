from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest

from carrel import servers
from tests.generators.chat import Chat, Reply, llama_cpp, serving, smollm2

Serve: TypeAlias = Callable[[Callable[[str, Any], Reply]], Chat]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as running:
        yield lambda script: running.enter_context(serving(script))


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    smollm2()
    with llama_cpp() as address:
        yield address


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "PAUSES", (0.01, 0.01))
