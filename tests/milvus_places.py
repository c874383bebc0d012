"""Collections for tests. A server takes seconds to make one: those that were left as they were made are used again."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from pymilvus import MilvusClient

from carrel.databases.milvus import CHANNEL, one_of

_free: dict[tuple[str, str], list[str]] = {}
_EVERYTHING = "year >= -9000000000000000000"


@contextmanager
def place(address: str, *, model: str = "") -> Iterator[str]:
    """A name of which nothing is held, or an empty collection of that model."""
    free = _free.setdefault((address, model), [])
    name = free.pop() if free else f"carrel_{uuid.uuid4().hex}"
    client = connected(address)
    try:
        yield name
    finally:
        _clean(client, name, model)
        free.append(name)
        client.close()


def connected(address: str) -> MilvusClient:
    """As Carrel is."""
    return MilvusClient(address.replace("milvus:", "http:"), timeout=10, dedicated=True, grpc_options=CHANNEL)


def _clean(client: MilvusClient, name: str, model: str) -> None:
    """Leave no rows, and no collection that is not as it was made first."""
    names = [found for found in client.list_collections() if found.startswith(name)]
    if all(found.endswith("_v1") and _model(client, found) == model for found in names):
        for found in names:
            _empty(client, found)
        return
    for found in names:
        for alias in client.list_aliases(found)["aliases"]:
            client.drop_alias(alias)
        client.drop_collection(found)


def _empty(client: MilvusClient, name: str) -> None:
    if not name.endswith("_spelling_v1"):
        rows = client.query(name, filter=_EVERYTHING, output_fields=["chunk_id"], consistency_level="Strong")
        if rows:
            client.delete(name, filter=one_of("chunk_id", (row["chunk_id"] for row in rows)))


def _model(client: MilvusClient, name: str) -> str:
    return str(client.describe_collection(name)["properties"].get("carrel.model", ""))
