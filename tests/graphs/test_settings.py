"""Which server keeps a library's graph, and who may say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel import registry, settings
from carrel.errors import InvalidInput, MissingExtra
from carrel.graphs.neo4j import Neo4jGraph
from carrel.graphs.postgresql import PostgresqlGraph
from carrel.graphs.sqlite import SqliteGraph
from carrel.layout import Layout
from carrel.parts import Parts

REMOTE = "postgresql://carrel@db.example.org/papers"


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    for name in ("CARREL_GRAPH", "CARREL_GRAPH_PASSWORD", "CARREL_GRAPH_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The library's own, which may come from somebody else."""
    path = tmp_path / "library" / ".carrel" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def personal(text: str) -> None:
    path = settings.user_config()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def graph_of(config: Path) -> object:
    return Parts(Layout(config.parent)).assembling.graph()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sqlite", SqliteGraph),
        (REMOTE, PostgresqlGraph),
        ("postgresql://127.0.0.1:5433/papers?sslmode=require", PostgresqlGraph),
        ("postgresql:///papers", PostgresqlGraph),
        ("neo4j://db.example.org", Neo4jGraph),
        ("neo4j+s://me@db.example.org:7687/papers", Neo4jGraph),
        ("bolt://127.0.0.1:7687", Neo4jGraph),
    ],
)
def test_a_name_or_address_makes_its_graph_without_asking_a_server(config: Path, name: str, kind: type) -> None:
    personal(f'graph = "{name}"')
    assert isinstance(graph_of(config), kind)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("postgresql", "not an address"),
        ("neo4j:db", "not an address"),
        ("bolt://", "not an address"),
        ("postgresql://me:secret@host/db", "password"),
        ("postgresql://127.0.0.1/db?host=evil.example.org", "more in it"),
        ("postgresql://127.0.0.1/db?%68ost=evil.example.org", "more in it"),
        ("postgresql://me@evil.example.org@127.0.0.1/db", "more in it"),
        ("neo4j://host:7687#x", "more in it"),
    ],
)
def test_what_is_no_plain_address_is_refused(address: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_GRAPH", address)
    with pytest.raises(InvalidInput, match=reason):
        settings.load()


@pytest.mark.parametrize(
    "address", [REMOTE, "neo4j://db.example.org", "postgresql://127.0.0.1,db.example.org/x", "postgresql:///papers"]
)
def test_a_librarys_config_sends_its_texts_to_no_other_machine_without_the_users_word(
    config: Path, address: str
) -> None:
    config.write_text(f'graph = "{address}"')
    with pytest.raises(InvalidInput, match="would send its texts to another machine: graph"):
        settings.load(config)
    personal("[models]\nallow_remote = true")
    assert settings.load(config)[0].graph == address


def test_the_password_is_the_users_alone(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('graph_password = "x"')
    with pytest.raises(InvalidInput, match="graph_password may not be set in"):
        settings.load(config)
    config.write_text('graph = "postgresql://127.0.0.1/papers"')
    monkeypatch.setenv("CARREL_GRAPH_PASSWORD", "hunter2")
    listed = {each.key: each.value for each in settings.listing(*settings.load(config))}
    assert "hunter2" not in str(listed["graph_password"])
    assert vars(vars(graph_of(config))["_database"])["_password"] == ""
    config.write_text("")
    personal('graph = "postgresql://127.0.0.1/papers"')
    assert vars(vars(graph_of(config))["_database"])["_password"] == "hunter2"  # noqa: S105


def test_each_library_has_a_namespace_that_is_carrels(config: Path, tmp_path: Path) -> None:
    personal(f'graph = "{REMOTE}"')
    one = vars(vars(graph_of(config))["_database"])["namespace"]
    assert one.startswith("carrel_library_")
    other = Layout(tmp_path / "other" / "library" / ".carrel")
    assert one != f"carrel_{other.namespace}" != f"carrel_{Layout(tmp_path / 'Öl & Co' / '.carrel').namespace}"
    config.write_text('graph_namespace = "shared"')
    assert vars(vars(graph_of(config))["_database"])["namespace"] == "carrel_shared"
    for wrong in ('a"b', "x" * 41, "A", "a-b"):
        config.write_text(f"graph_namespace = '{wrong}'")
        with pytest.raises(InvalidInput, match="graph_namespace"):
            settings.load(config)


def test_a_driver_that_is_not_installed_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "neo4j", None)
    monkeypatch.delitem(sys.modules, "carrel.graphs.neo4j", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'carrel\[neo4j\]'"):
        registry.find("graphs", "bolt+s")
