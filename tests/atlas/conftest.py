from __future__ import annotations

from pathlib import Path

import pytest

from tests.atlas.graphs import Written, memory, sqlite


@pytest.fixture(params=["memory", "sqlite"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Written:
    """An empty graph with its catalog, on the test double and on the embedded store."""
    return memory() if request.param == "memory" else sqlite(tmp_path)
