"""A generator that says what it is told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.types import Prompt


class Script:
    """Streams the same pieces to every question; a piece that is an exception is raised when its turn comes.

    `Script("It does so. [1]\\n")` speaks the truth if excerpt 1 says so, `Script("Cats fly. [9]\\n")` lies,
    `Script(*"It does so. [1]")` stammers, `Script("It does", ConnectionError())` breaks off.
    """

    name = "script"

    def __init__(self, *pieces: str | Exception, context_tokens: int = 1_000_000) -> None:
        self.context_tokens = context_tokens
        self.prompts: list[Prompt] = []
        """Every prompt it was asked, in order."""
        self._pieces = pieces

    def stream(self, prompt: Prompt) -> Iterator[str]:
        self.prompts.append(prompt)
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece
