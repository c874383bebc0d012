"""Who puts an answer into words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.types import Prompt


@runtime_checkable
class Generator(Protocol):
    """Writes an answer from numbered excerpts, in a stream.

    Each sentence ends with the numbers of the excerpts it rests on, as in `It does so. [1] [3]`. What a generator says
    is checked against the excerpts afterwards: it is trusted with style, not with truth.
    """

    name: str
    context_tokens: int
    """How many tokens of prompt it can read."""

    def stream(self, prompt: Prompt) -> Iterator[str]: ...
