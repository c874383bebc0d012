"""What every library here needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.congruence.fleet import PASSWORDS


@pytest.fixture(scope="module", autouse=True)
def variables() -> Iterator[None]:
    """To be let in by the servers, and to read files here: in processes apart that takes a second for each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARREL_INGEST__ISOLATE", "false")
        for name, password in PASSWORDS.items():
            patch.setenv(name, password)
        yield
