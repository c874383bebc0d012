"""Where stores are kept: what may stand in the settings that name one, and which server that is."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import SplitResult, parse_qs, urlsplit

_GRAPH_SERVERS = frozenset({"postgresql", "neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"})
_MILVUS = frozenset({"milvus", "milvus+s"})
_KEYWORD_SERVERS = frozenset({"postgresql"}) | _MILVUS
_VECTOR_SERVERS = frozenset({"postgresql", "iris"}) | _MILVUS
_OBJECT_STORES = frozenset({"s3", "gs", "az"})
_DATABASE_OPTIONS = frozenset({"sslmode", "sslrootcert"})
"""Of what may follow a `?`: nothing that names another host than the one that is seen before it."""


def graph_server(graph: str) -> str:
    """The address of the server that keeps the graph; nothing where none does."""
    return graph if graph.partition(":")[0] in _GRAPH_SERVERS else ""


def catalog_server(catalog: str) -> str:
    """The address of the server that keeps the catalog; nothing where none does."""
    return catalog if catalog.startswith("postgresql:") else ""


def vectors_server(vectors: str) -> str:
    """The address of the server that keeps the vectors; nothing where none does."""
    kind, _, place = vectors.partition(":")
    if kind == "lance":
        # Whole: a bucket may be called localhost, and is elsewhere.
        return vectors if "://" in place else ""
    return vectors if kind in _VECTOR_SERVERS and ":" in vectors else ""


def vectors_folder(vectors: str) -> str:
    """The folder that keeps the vectors, where `lance:FOLDER` names one."""
    kind, _, place = vectors.partition(":")
    return place if kind == "lance" and "://" not in place else ""


def keywords_server(keywords: str) -> str:
    """The address of the server that looks up words; nothing where none does."""
    return keywords if keywords.partition(":")[0] in _KEYWORD_SERVERS and ":" in keywords else ""


def vectors_place(name: str) -> str:
    kind, _, place = name.partition(":")
    if kind == "lance":
        _check_lance(place)
        return name
    return _database(name, vectors_server(name), "vectors", " or milvus://host:19530/collection")


def _check_lance(place: str) -> None:
    if "://" in place:
        _check_bucket(urlsplit(place))
    elif place and not (PurePosixPath(place).is_absolute() or PureWindowsPath(place).is_absolute()):
        raise ValueError("needs a whole path, as in lance:/data/vectors")


def _check_bucket(parts: SplitResult) -> None:
    if parts.scheme not in _OBJECT_STORES or not parts.netloc:
        raise ValueError("not an object store like s3://bucket/folder, gs://bucket/folder or az://container/folder")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("has more in it than bucket and folder; keys stand in the environment, as AWS_ACCESS_KEY_ID")


def keywords_place(name: str) -> str:
    return _database(name, keywords_server(name), "keywords", " or milvus://host:19530/collection")


def graph_place(name: str) -> str:
    return _database(name, graph_server(name), "graph", " or neo4j://user@host:7687")


def catalog_place(name: str) -> str:
    return _database(name, catalog_server(name), "catalog")


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        # What is taken for a port may be a piece of a password, and is not repeated.
        raise ValueError("has a port that is no number up to 65535") from None


def _database(name: str, server: str, setting: str, other: str = "") -> str:
    parts = urlsplit(server)
    here = parts.scheme == "postgresql" and not parts.netloc and parts.path.startswith("/")
    if server and not (parts.hostname or here):
        raise ValueError(f"not an address like postgresql://user@host/database{other}")
    if parts.password is not None:
        variable = f"CARREL_{setting.upper()}_PASSWORD"
        raise ValueError(f"has a password in it; set {setting}_password, or {variable}, instead")
    plain = parts.netloc.count("@") <= 1 and not parts.fragment and _port(parts) != 0
    if not plain or not parse_qs(parts.query).keys() <= _DATABASE_OPTIONS:
        raise ValueError("has more in it than user, host, port, database, sslmode and sslrootcert")
    return name
