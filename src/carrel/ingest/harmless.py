"""A record and a text as they may be kept, and what their reader should know of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from carrel import hidden, screening

if TYPE_CHECKING:
    from carrel.types import Reference


def harmless(reference: Reference) -> tuple[Reference, int]:
    """A record without what no reader of it sees, and how many characters of that look hidden on purpose."""
    count = 0

    def seen(text: str) -> str:
        nonlocal count
        plain = hidden.without_unseen_characters(text)
        freed = hidden.without_hidden_markup(plain.text)
        count += plain.hidden + freed.hidden
        return freed.text

    authors = tuple(replace(author, last=seen(author.last), first=seen(author.first)) for author in reference.authors)
    clean = replace(
        reference,
        title=seen(reference.title) or reference.title,
        abstract=seen(reference.abstract),
        venue=seen(reference.venue),
        note=seen(reference.note),
        tags=tuple(map(seen, reference.tags)),
        authors=authors,
    )
    return (clean, count) if clean != reference else (reference, 0)


def remarks_of(text: str, hidden_characters: int = 0) -> tuple[str, ...]:
    """What is to be known of a text beside what its parser says."""
    found = screening.instructions(text)
    told = [hidden.remark(hidden_characters)] if hidden_characters else []
    return (*told, screening.remark(text, found)) if found else tuple(told)
