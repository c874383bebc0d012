"""How the whole suite runs, and the servers that some of it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from hypothesis import settings

from tests import servers

# No deadline: on shared cores the time of one example says nothing.
settings.register_profile("carrel", deadline=None, max_examples=60, database=None)
settings.load_profile("carrel")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[servers.Server]:
    yield from _started(servers.postgresql())


@pytest.fixture(scope="session")
def bolt_server() -> Iterator[servers.Server]:
    yield from _started(servers.bolt())


def _started(starting: AbstractContextManager[servers.Server]) -> Iterator[servers.Server]:
    try:
        server = starting.__enter__()
    except servers.CannotStart as reason:
        pytest.skip(str(reason))
    try:
        yield server
    finally:
        starting.__exit__(None, None, None)
