"""From a name in the settings to the class that does the work, imported only when it is asked for.

Third parties add their own by entry points: group `carrel.embedders`, name `mine`, value `my_package:MyEmbedder`.
"""

from __future__ import annotations

import importlib
import inspect
from importlib.metadata import entry_points
from typing import Any

from carrel.errors import MissingExtra, UnknownComponent

BUILT_IN: dict[str, dict[str, str]] = {
    "embedders": {
        "granite": "carrel.embedders.granite:Granite",
        "minilm": "carrel.embedders.minilm:MiniLM",
        "ollama": "carrel.embedders.ollama:Ollama",
        "onnx": "carrel.embedders.onnx:Onnx",
        "openai": "carrel.embedders.openai:OpenAI",
    },
    "vectors": {
        "flat": "carrel.vectors.flat:FlatVectors",
        "iris": "carrel.vectors.iris:IrisVectors",
        "lance": "carrel.vectors.lance:LanceVectors",
        "milvus": "carrel.vectors.milvus:MilvusVectors",
        "milvus+s": "carrel.vectors.milvus:MilvusVectors",
        "pgvector": "carrel.vectors.pgvector:PgVectors",
        "postgresql": "carrel.vectors.pgvector:PgVectors",
    },
    "keywords": {
        "milvus": "carrel.keywords.milvus:MilvusKeywords",
        "milvus+s": "carrel.keywords.milvus:MilvusKeywords",
        "postgresql": "carrel.keywords.postgresql:PostgresqlKeywords",
        "tantivy": "carrel.keywords.tantivy:TantivyKeywords",
    },
    "graphs": {
        "sqlite": "carrel.graphs.sqlite:SqliteGraph",
        "postgresql": "carrel.graphs.postgresql:PostgresqlGraph",
        **dict.fromkeys(
            ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"), "carrel.graphs.neo4j:Neo4jGraph"
        ),
    },
    "catalogs": {
        "sqlite": "carrel.catalogs.sqlite:SqliteCatalog",
        "postgresql": "carrel.catalogs.postgresql:PostgresqlCatalog",
    },
    "rerankers": {
        "fused": "carrel.rerankers.fused:Fused",
        "http": "carrel.rerankers.http:Http",
        "onnx-cross-encoder": "carrel.rerankers.onnx:CrossEncoder",
    },
    "generators": {
        "anthropic": "carrel.generators.anthropic:Anthropic",
        "extractive": "carrel.generators.extractive:Extractive",
        "gguf": "carrel.generators.gguf:Gguf",
        "ollama": "carrel.generators.ollama:Ollama",
        "openai": "carrel.generators.openai:OpenAI",
    },
    "parsers": {
        "markdown": "carrel.parsers.markdown:Markdown",
        "marker": "carrel.parsers.marker:Marker",
        "pdf": "carrel.parsers.pdf:Pdf",
        "text": "carrel.parsers.text:PlainText",
        "xml": "carrel.parsers.xml:Xml",
    },
}
"""Seam → name → where the class is."""
_KEPT = frozenset({"catalogs", "vectors", "keywords", "graphs"})
"""Those of stores, of which some are on servers."""
_ONE = {"vectors": "vector store", "keywords": "keyword index"}
"""What one of them is called, where the name of the seam does not tell."""


def names(seam: str) -> list[str]:
    """Every name that can be asked for."""
    return sorted({*BUILT_IN[seam], *(point.name for point in entry_points(group=f"carrel.{seam}"))})


def make(seam: str, name: str, **offered: object) -> Any:  # noqa: ANN401
    """The component behind a name, given those of the offered values that its constructor names.

    A name may carry an `argument`: `ollama:nomic-embed-text`; what comes before the colon is its `kind`.
    """
    kind, _, argument = name.partition(":")
    component = find(seam, kind)
    wanted = inspect.signature(component).parameters
    _check_argument(seam, name, argument, wanted.get("argument"))
    offered["kind"] = kind
    if argument:
        offered["argument"] = argument
    return component(**{key: value for key, value in offered.items() if key in wanted})


def _check_argument(seam: str, name: str, argument: str, parameter: inspect.Parameter | None) -> None:
    kind = name.partition(":")[0]
    if argument and parameter is None:
        raise UnknownComponent(f"{kind!r} takes no {argument!r} after its name", hint=f"Write {kind!r}, not {name!r}.")
    if not argument and parameter is not None and parameter.default is parameter.empty:
        if seam in _KEPT:
            raise UnknownComponent(f"{name!r} does not say on which server", hint=f"Write '{kind}://user@host/name'.")
        raise UnknownComponent(f"{name!r} does not say which model", hint=f"Write '{kind}:MODEL'.")


def find(seam: str, name: str) -> Any:  # noqa: ANN401
    """The class behind a name."""
    target = BUILT_IN[seam].get(name)
    if target is None:
        point = next(iter(entry_points(group=f"carrel.{seam}", name=name)), None)
        if point is None:
            one = _ONE.get(seam, seam.removesuffix("s"))
            raise UnknownComponent(f"no {one} is called {name!r}", hint=f"There are: {', '.join(names(seam))}.")
        target = point.value
    module, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name is None or module.startswith(error.name):
            raise
        # Carrel's own extras are called as the one file that needs them.
        extra = module.rpartition(".")[2] if module.startswith("carrel.") else name
        raise MissingExtra(
            f"{name!r} needs an extra: pip install 'carrel[{extra}]'",
            hint=f"The module {error.name!r} is not installed.",
        ) from error
