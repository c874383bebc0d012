"""Which stores a library may be made of, together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests import servers
from tests.congruence import shelf

POSTGRESQL, MILVUS, LITE, BOLT = "postgresql_server", "milvus_server", "milvus_lite_server", "bolt_server"


@dataclass(frozen=True)
class Combination:
    """The settings that name its stores; of a server, its fixture instead of its address."""

    settings: Mapping[str, str]
    beside: Mapping[str, str] = field(default_factory=dict)
    """Stores that live where the catalog does, and other settings."""
    papers: int = shelf.PAPERS

    def chosen(self, fixture: Callable[[str], servers.Server], name: str) -> dict[str, str]:
        """As a library is told of them, under a name of its own on each server."""
        made = dict(self.beside)
        for setting, server in self.settings.items():
            made |= {setting: _address(setting, fixture(server).address, name)}
            made |= {f"{setting}_namespace": name}
        return made | {f"{setting}_namespace": name for setting in self.beside if setting in ("vectors", "keywords")}


def _address(setting: str, address: str, name: str) -> str:
    return f"{address}/{setting}_{name}" if address.startswith("milvus") else address


WITHOUT_GRAPH = {"concepts.extractor": "none"}
ALL = {
    "lance": Combination({}, {"vectors": "lance", **WITHOUT_GRAPH}),
    "pgvector": Combination({"catalog": POSTGRESQL}, {"vectors": "pgvector", **WITHOUT_GRAPH}),
    "milvus": Combination({"vectors": MILVUS}, WITHOUT_GRAPH),
    "words in postgresql": Combination({"catalog": POSTGRESQL}, {"keywords": "postgresql", **WITHOUT_GRAPH}),
    "words in milvus": Combination({"keywords": LITE}, WITHOUT_GRAPH, shelf.FEW),
    "graph in postgresql": Combination({"graph": POSTGRESQL}, papers=shelf.FEW),
    "graph by bolt": Combination({"graph": BOLT}, papers=shelf.FEW),
    "all in postgresql": Combination(
        {"catalog": POSTGRESQL, "graph": POSTGRESQL}, {"vectors": "pgvector", "keywords": "postgresql"}, shelf.FEW
    ),
    "milvus, postgresql and bolt": Combination(
        {"catalog": POSTGRESQL, "vectors": MILVUS, "graph": BOLT}, {"keywords": "postgresql"}, shelf.FEW
    ),
}
