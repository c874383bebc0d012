"""Where words are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from carrel.types import Chunk, Filter, Hit


@runtime_checkable
class KeywordIndex(Protocol):
    """Chunks found by the words of their heading and text, and by their authors' names, ranked by BM25.

    An abstract is also found by its paper's note and tags.

    Words are compared without case, accents and the endings of English, whatever their language; Chinese, Japanese and
    Korean by pairs of characters. Any text is a query: nothing in it is syntax.
    One process writes at a time; any number read, and see either all of a `put` or nothing of it.
    """

    def put(self, chunks: Sequence[Chunk]) -> None:
        """Store whole papers. All that these papers had before is replaced, in one step."""
        ...

    def delete(self, paper_ids: Collection[str]) -> None:
        """Forget these papers. Unknown ids are no error."""
        ...

    def search(
        self,
        text: str,
        *,
        limit: int,
        where: Filter,
        phrases: Sequence[str] = (),
        also: Sequence[tuple[str, str]] = (),
    ) -> list[Hit]:
        """The best chunks that the filter allows, by falling score above 0, then by address.

        A chunk must have all of the phrases: their words side by side, in this order, in any form. `also` are names
        in the text, each with another name that is as good: for one word, it counts instead of it where that is more;
        for several, as a little more of them.
        """
        ...

    def matches(self, text: str, *, where: Filter, phrases: Sequence[str] = ()) -> int:
        """How many chunks that the filter allows have all phrases or, without any, one of the words."""
        ...

    def frequencies(self, words: Sequence[str]) -> list[int]:
        """How many chunks have each of these words, in any form or as an author's name.

        Chunks that were deleted or replaced may still be counted for a while.
        """
        ...

    def near(self, word: str, *, distance: int, beside: str, limit: int) -> list[str]:
        """Addresses of chunks with a word that is spelled like this one up to so many letters, and of some without.

        Those come first that have more of the words beside it.
        """
        ...

    def count(self) -> int: ...

    def addresses(self) -> set[str]:
        """Every address held: what health checks compare with the catalog."""
        ...

    def clear(self) -> None: ...

    def close(self) -> None: ...
