"""Libraries that are served, and who asks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest

from carrel import Library
from carrel.testing import HashedWords
from tests.http.door import Doors, doors_of
from tests.http.serving import running
from tests.saved_answers import opened

Serve: TypeAlias = Callable[..., str]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """Three small papers, two of them about granite, and the sources' own sentences as answers."""
    with opened(tmp_path, **{"answer.threshold": 0.0}) as made:
        yield made


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Doors]:
    """The guard of an empty library, asked without a server."""
    with Library.init(tmp_path, embedder=HashedWords()) as made:
        yield doors_of(made)


@pytest.fixture
def served() -> Iterator[Serve]:
    """`served(library, **settings)` starts a server and returns its address; it is stopped when the test is over.

    `require_token=True` is a setting of `serve`, `jobs__queued=3` one of another section. Who needs the service behind
    it, too, takes `running` of tests/http/serving.py.
    """
    with ExitStack() as stack:
        yield lambda library, **settings: stack.enter_context(running(library, **settings)).url
