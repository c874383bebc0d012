"""What agents may ask for. Descriptions are part of every tool's list, so they are short."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _several(value: Any) -> Any:  # noqa: ANN401
    """Some agents write a list as a text, and a list of one without its brackets."""
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return [value]
    return read if isinstance(read, list) else [value]


Name = Annotated[str, Field(min_length=1, max_length=500)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_several), Field(max_length=100)]
Cursor = Annotated[str, Field(max_length=20_000, description="next_cursor of the page before")]


class Wish(BaseModel):
    # A field that does not exist is an error: who misspells one would take the result for what was asked.
    model_config = ConfigDict(extra="forbid", frozen=True)


class Narrow(Wish):
    papers: Annotated[Names, Field(description="only these, by id or title")] = ()
    tags: Annotated[Names, Field(description="any of these")] = ()
    year_from: int | None = None
    year_to: int | None = None


class Search(Narrow):
    query: str
    authors: Names = ()
    mode: Literal["hybrid", "vector", "keyword", "graph"] = "hybrid"
    by_paper: Annotated[bool, Field(description="one result a paper")] = False
    limit: Annotated[int, Field(ge=1, le=50)] = 8
    cursor: Cursor = ""


class SearchFigures(Narrow):
    query: str
    kind: Literal["figure", "table", "algorithm"] | None = None
    limit: Annotated[int, Field(ge=1, le=50)] = 8
    cursor: Cursor = ""


class Ask(Narrow):
    question: str
    top_k: Annotated[int | None, Field(ge=1, le=20, description="passages to draw on")] = None


class Show(Wish):
    address: Annotated[
        str,
        Field(min_length=1, max_length=2000, description="PAPER, PAPER/ch1, PAPER/ch1/s2, PAPER/ch1/s2/p3, PAPER/fig1"),
    ]
    cursor: Cursor = ""


class Similar(Wish):
    paper: Annotated[Name, Field(description="id or title")]
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class ListPapers(Narrow):
    authors: Names = ()
    venue: Annotated[str, Field(max_length=500)] = ""
    sort: Literal["id", "year", "title", "added"] = "id"
    limit: Annotated[int, Field(ge=1, le=200)] = 30
    cursor: Cursor = ""


class ListTags(Wish):
    cursor: Cursor = ""


class Concepts(Wish):
    query: Annotated[str, Field(max_length=500, description="part of a name; a whole name gets all about it")] = ""
    limit: Annotated[int, Field(ge=1, le=200)] = 20
    cursor: Cursor = ""


class Add(Wish):
    path: Annotated[str, Field(min_length=1, max_length=4000, description="file, from the library's folder")]
    tags: Names = ()
