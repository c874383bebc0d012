"""What the service offers is documented: by itself, and in docs/."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel import http
from tests.http.reading import shelf

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with shelf(tmp_path_factory.mktemp("described")) as library:
        yield http.create(library).openapi()


def operations(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_route_is_in_the_docs_and_every_documented_route_is_there(described: dict[str, Any]) -> None:
    text = (DOCS / "http.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `((?:GET|POST|DELETE) /[^`]*)` \|", text, re.MULTILINE))
    assert documented == {name for name, _ in operations(described)}


def test_every_figure_is_in_the_docs(tmp_path: Path) -> None:
    text = (DOCS / "http.md").read_text(encoding="utf-8")
    with shelf(tmp_path) as library:
        app = http.create(library)
        names = {family.name for family in app.state.metrics.registry.collect()}
    for name in names:
        known = name.removesuffix("_max") if name.startswith("carrel_queries") else name
        assert f"`{known}" in text or name.startswith("process_"), name


def test_openapi_tells_what_each_route_does_takes_and_answers(described: dict[str, Any]) -> None:
    assert described["openapi"].startswith("3.1")
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for name, operation in operations(described):
        assert operation["summary"], name
        assert {"400", "401", "403", "429", "500", "503"} <= set(operation["responses"]), name
        success = next(response for status, response in operation["responses"].items() if status.startswith("2"))
        assert success["content"], name
        assert "HTTPValidationError" not in str(operation), name
        for status, response in operation["responses"].items():
            assert {"X-Request-ID", "X-Response-Time"} <= set(response["headers"]), f"{name} {status}"


def test_errors_are_declared_with_the_codes_they_have(described: dict[str, Any]) -> None:
    """A client knows them without having met them."""
    responses = described["paths"]["/api/papers/{paper}"]["delete"]["responses"]
    codes = {
        status: set(response["content"]["application/json"]["examples"])
        for status, response in responses.items()
        if status != "200"
    }
    assert codes["404"] == {"PAPER_NOT_FOUND"}
    assert codes["503"] == {"LIBRARY_BUSY", "STORE_UNAVAILABLE"}
    assert codes["507"] == {"STORAGE_FULL"}


def test_no_two_shapes_share_a_name(described: dict[str, Any]) -> None:
    """FastAPI tells such apart by the names of their modules, which are nobody's business."""
    assert not [name for name in described["components"]["schemas"] if "__" in name]
