"""What went wrong, told to an agent so that it knows what to do next."""

from __future__ import annotations

import logging
import re
import secrets
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput
from carrel.mcp.inert import plain, warning
from carrel.telemetry import log

if TYPE_CHECKING:
    from pydantic import ValidationError

    from carrel.errors import CarrelError
    from carrel.mcp.tools import Verb

_COMMAND = re.compile(r"'carrel (list|tags|show|search|similar|concepts)(?: ([^']*))?'")
_TOOLS = {"list": "list_papers", "tags": "list_tags"}
_LONGEST_NAME = 80


def told(error: CarrelError) -> str:
    """An error in one text: what is wrong, and which tool helps."""
    hint = _COMMAND.sub(_as_tool, error.hint)
    # It may name papers by their titles.
    sentences = (error.message, hint, warning(error.message))
    return plain(". ".join(sentence.rstrip(".") for sentence in sentences if sentence) + "." * bool(hint))


def unforeseen(name: str, error: Exception) -> str:
    """What nobody has thought of is for the log alone; the agent gets a mark to ask by."""
    mark = secrets.token_hex(4)
    log("mcp", logging.ERROR, "unforeseen", tool=name, mark=mark, error=repr(error))
    return f"something went wrong; the log has it under {mark}"


def wrong_wish(verb: Verb, error: ValidationError) -> InvalidInput:
    first = error.errors(include_url=False)[0]
    named = ".".join(str(step) for step in first["loc"])[:_LONGEST_NAME]
    known = ", ".join(verb.wish.model_fields)
    return InvalidInput(f"{verb.name}: {named}: {first['msg'].lower()}", hint=f"Its arguments are {known}.")


def _as_tool(command: re.Match[str]) -> str:
    name = _TOOLS.get(command[1], command[1])
    return f"The tool `{name}` with {command[2]!r}" if command[2] else f"The tool `{name}`"
