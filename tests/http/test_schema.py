"""What the API says of itself is so: schemathesis asks everything it can think of, on either database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from schemathesis.engine import StopReason, events, from_schema

from carrel import Library
from tests import servers
from tests.http.reading import shelf
from tests.http.serving import running

_CHOSEN: dict[str, Any] = {
    "seed": 8,
    "request-timeout": 60,
    "generation": {"max-examples": 5, "deterministic": True, "database": "none", "no-shrink": True},
    "phases": {"stateful": {"max-steps": 6}},
    "cache": {"enabled": False},
    # Every check of schemathesis is on.
    "checks": {
        # A forged cursor, a chapter without its paper, a question of nothing but spaces: no schema can tell.
        "positive_data_acceptance": {"expected-statuses": ["2xx", "400", "404", "409", "422"]},
        "negative_data_rejection": {"expected-statuses": ["400", "404", "405", "408", "413", "422"]},
    },
}


def complaints(library: Library) -> list[str]:
    """What is wrong, with the request that shows it: of the examples, of every bound of every parameter, of chance."""
    config = schemathesis.Config.from_dict(_CHOSEN)
    found: list[str] = []
    tested = set()
    with running(library, requests_per_minute=0) as served:
        schema = schemathesis.openapi.from_url(f"{served.url}/openapi.json", config=config)
        for event in from_schema(schema).execute():
            match event:
                case events.ScenarioFinished():
                    tested |= {event.label} if event.recorder.interactions else set()
                    found += _failures(event)
                case events.NonFatalError() | events.FatalError():
                    found.append(f"schemathesis itself failed: {event}")
                case events.EngineFinished():
                    assert event.stop_reason == StopReason.COMPLETED
        described = [
            f"{method.upper()} {path}" for path, methods in schema.raw_schema["paths"].items() for method in methods
        ]
        assert tested >= set(described)
    return found


def _failures(event: events.ScenarioFinished) -> Iterator[str]:
    for case_id, checks in event.recorder.checks.items():
        response = event.recorder.interactions[case_id].response
        for check in checks:
            if told := check.failure_info:
                answer = response.content[:300] if response else b""
                yield f"{check.name}: {told.failure}\n{told.code_sample}\n{answer!r}"


# The server's threads may use `random` while an example is drawn, which Hypothesis takes for the example's doing.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")


def test_nothing_undocumented_happens_on_sqlite(tmp_path: Path) -> None:
    with shelf(tmp_path) as library:
        found = complaints(library)
    assert not found, "\n\n".join(found)


def test_nothing_undocumented_happens_on_postgresql(
    tmp_path: Path, postgresql_server: servers.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CARREL_CATALOG_PASSWORD", "CARREL_GRAPH_PASSWORD"):
        monkeypatch.setenv(name, servers.PASSWORD)
    with shelf(tmp_path, catalog=postgresql_server.address, graph=postgresql_server.address) as library:
        found = complaints(library)
    assert not found, "\n\n".join(found)
