"""How the whole suite runs, and the servers that some of it needs."""

from __future__ import annotations

import gc
import signal
import ssl
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import TypeVar

import pytest
from hypothesis import settings

from tests import servers

Started = TypeVar("Started")

# No deadline: on shared cores the time of one example says nothing.
settings.register_profile("carrel", deadline=None, max_examples=60, database=None)
settings.load_profile("carrel")
# In the background of a shell it is ignored, by children too, and some tests are about it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Each client would read the machine's certificates anew, which takes longer than most of what it is made for here.
ssl.create_default_context = cache(ssl.create_default_context)  # type: ignore[assignment]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """The tests themselves stay to the end: to look through all of them for garbage was a sixth of the suite's work."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[servers.Server]:
    yield from _started(servers.postgresql())


@pytest.fixture(scope="module")
def stoppable() -> Iterator[servers.Postgresql]:
    """A PostgreSQL of the module's own, to be stopped under it and started again."""
    yield from _started(servers.postgresql_to_stop())


@pytest.fixture(scope="session")
def bolt_server() -> Iterator[servers.Server]:
    yield from _started(servers.bolt())


# It is busy also when nobody asks it anything: a start costs less.
@pytest.fixture(scope="module")
def milvus_server() -> Iterator[servers.Server]:
    yield from _started(servers.milvus())


@pytest.fixture(scope="session")
def milvus_lite_server() -> Iterator[servers.Server]:
    yield from _started(servers.milvus_lite())


def _started(starting: AbstractContextManager[Started]) -> Iterator[Started]:
    try:
        server = starting.__enter__()
    except servers.CannotStart as reason:
        pytest.skip(str(reason))
    try:
        yield server
    finally:
        starting.__exit__(None, None, None)
