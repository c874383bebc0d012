"""The tools, as an agent sees their list. All of it takes fewer than 3,000 tokens: agents read it before every task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_types import Tool, ToolAnnotations

from carrel.mcp import shapes, wishes
from carrel.types.service import Scope

if TYPE_CHECKING:
    from pydantic import BaseModel

_NOT_ADVERTISED = frozenset({"$defs", "title", "minLength", "maxLength", "maxItems"})
"""What costs an agent tokens and tells it nothing; the bounds hold all the same."""
_READS = ToolAnnotations(read_only_hint=True)
_WRITES = ToolAnnotations(destructive_hint=False)


@dataclass(frozen=True, slots=True)
class Verb:
    """What a tool is called, takes and gives; the function of the same name in `place` does it."""

    name: str
    place: str
    says: str
    wish: type[wishes.Wish]
    gives: type[shapes.Shape]
    is_query: bool = False
    """Whether it waits for its turn where questions queue."""
    needs: Scope = Scope.READ

    def listed(self) -> Tool:
        return Tool(
            name=self.name,
            description=self.says,
            input_schema=_schema(self.wish),
            output_schema=_schema(self.gives),
            annotations=_READS if self.needs is Scope.READ else _WRITES,
        )


_READING = (
    Verb(
        "search",
        "finding",
        "Find passages in the user's papers. Cite by address; `show` gives the whole text.",
        wishes.Search,
        shapes.Found,
        is_query=True,
    ),
    Verb(
        "search_figures",
        "finding",
        "Find figures, tables and algorithms by what they show; `show` has the picture.",
        wishes.SearchFigures,
        shapes.FiguresFound,
        is_query=True,
    ),
    Verb(
        "ask",
        "asking",
        "Answer a question from the papers alone: each statement [n] has a citation whose quote stands in its source. "
        "Says so when the papers do not answer it.",
        wishes.Ask,
        shapes.Answered,
        is_query=True,
    ),
    Verb(
        "show",
        "showing",
        "Read a paper's record and outline, or the text of a chapter, section, passage or figure.",
        wishes.Show,
        shapes.Shown,
    ),
    Verb("similar", "finding", "Papers nearest to one.", wishes.Similar, shapes.Papers, is_query=True),
    Verb("list_papers", "listing", "List papers by what their records say.", wishes.ListPapers, shapes.Papers),
    Verb("list_tags", "listing", "The papers' tags, the most used first.", wishes.ListTags, shapes.Tags),
    Verb(
        "concepts",
        "listing",
        "Concepts the papers speak of, and how one stands to others, with evidence.",
        wishes.Concepts,
        shapes.ConceptsFound,
    ),
)
_WRITING = (Verb("add", "adding", "Take papers or references in.", wishes.Add, shapes.Added, needs=Scope.WRITE),)


def offered(*, allow_add: bool) -> dict[str, Verb]:
    """By name, in the order in which they are listed."""
    return {verb.name: verb for verb in (*_READING, *(_WRITING if allow_add else ()))}


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    small = _small(schema, schema.get("$defs", {}))
    asked = small.get("required", [])
    return {**small, "properties": dict(sorted(small["properties"].items(), key=lambda pair: pair[0] not in asked))}


def _small(schema: Any, known: dict[str, Any]) -> Any:  # noqa: ANN401
    """A schema without references, titles, and what goes without saying."""
    if isinstance(schema, list):
        return [_small(one, known) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _small(known[schema["$ref"].removeprefix("#/$defs/")], known)
    if "anyOf" in schema:
        # What is not known is left out, so that nothing is ever null.
        meant = next(one for one in schema["anyOf"] if one != {"type": "null"})
        return _small({**{name: value for name, value in schema.items() if name != "anyOf"}, **meant}, known)
    return {name: _small_part(name, value, known) for name, value in schema.items() if _is_told(name, value)}


def _small_part(name: str, value: Any, known: dict[str, Any]) -> Any:  # noqa: ANN401
    if name == "properties":
        return {one: _small(schema, known) for one, schema in value.items()}
    return _small(value, known)


def _is_told(name: str, value: Any) -> bool:  # noqa: ANN401
    is_usual = name == "default" and value in (None, "", [], False)
    return name not in _NOT_ADVERTISED and not is_usual
