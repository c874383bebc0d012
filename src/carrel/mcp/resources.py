"""Papers as resources: `paper://ID` is a record and outline, `paper://ID/text` the text, `paper://ID/ch1` a part."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from carrel.errors import CarrelError, InvalidInput
from carrel.mcp.inert import packed, plain
from carrel.mcp.refusals import told, unforeseen
from carrel.mcp.threads import Result, stoppable
from carrel.types.service import LOCAL

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from carrel.library import Library
    from carrel.mcp.server import Context

_SCHEME = "paper://"
_TEXT = "/text"
_PAGE = 100
_LONGEST_NAME = 200
_LONGEST_TEXT = 400_000
"""Characters of a text that are given whole."""


class Resources:
    def __init__(self, library: Callable[[], Library]) -> None:
        self._library = library

    async def list(self, _context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        cursor = params.cursor if params and params.cursor else ""
        return await _answered(partial(self._list, cursor))

    async def templates(self, _context: Context, _params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(
            resource_templates=[
                ResourceTemplate(
                    name="paper",
                    uri_template=f"{_SCHEME}{{id}}",
                    description="A paper's record, abstract and outline",
                    mime_type="application/json",
                ),
                ResourceTemplate(
                    name="text",
                    uri_template=f"{_SCHEME}{{id}}{_TEXT}",
                    description="The whole stored text of a paper",
                    mime_type="text/plain",
                ),
            ]
        )

    async def read(self, _context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        return await _answered(partial(self._read, params.uri))

    def _list(self, cursor: str, _stopped: threading.Event) -> ListResourcesResult:
        from carrel.reading.papers import Wanted

        found = self._library().papers(Wanted(limit=_PAGE, cursor=cursor))
        resources = [
            Resource(
                uri=uri_of(one.row.reference.id),
                name=plain(one.row.reference.id)[:_LONGEST_NAME],
                title=plain(" ".join(one.row.reference.title.split()))[:_LONGEST_NAME],
                mime_type="application/json",
            )
            for one in found.papers
        ]
        return ListResourcesResult(resources=resources, next_cursor=found.next_cursor)

    def _read(self, uri: str, stopped: threading.Event) -> ReadResourceResult:
        address = address_of(uri)
        if uri.endswith(_TEXT):
            text = plain(self._library().text(address.removesuffix(_TEXT))[:_LONGEST_TEXT])
            return ReadResourceResult(contents=[TextResourceContents(uri=uri, text=text, mime_type="text/plain")])
        shown = json.dumps(self._shown(address, stopped), ensure_ascii=False)
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, text=shown, mime_type="application/json")])

    def _shown(self, address: str, stopped: threading.Event) -> dict[str, Any]:
        from carrel.mcp import showing
        from carrel.mcp.calls import Call

        library = self._library()
        return packed(showing.shown(Call(library, LOCAL, lambda *_: None, stopped), library.show(address)))


def uri_of(paper_id: str) -> str:
    return f"{_SCHEME}{quote(paper_id, safe='')}"


def address_of(uri: str) -> str:
    """The paper, or the place in it, that a URI names."""
    if not uri.startswith(_SCHEME) or len(uri) == len(_SCHEME):
        raise InvalidInput(f"{uri[:_LONGEST_NAME]!r} names no paper", hint=f"As in {_SCHEME}ID or {_SCHEME}ID/ch1/s2.")
    return unquote(uri.removeprefix(_SCHEME))


async def _answered(work: Callable[[threading.Event], Result]) -> Result:
    """What could not be read is told as the protocol has it: with a code."""
    try:
        return await stoppable(work)
    except CarrelError as error:
        raise MCPError(INVALID_PARAMS, told(error)) from error
    except Exception as error:
        raise MCPError(INTERNAL_ERROR, unforeseen("resources", error)) from error
