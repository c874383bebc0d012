"""How much is told at once of what a paper's record, its outline and its places say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from carrel.http import bounds

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Room(NamedTuple):
    """Bytes."""

    title: int
    authors: int
    tags: int


_AMONG_OTHERS = _Room(title=1000, authors=3000, tags=1500)
"""A hundred of these, and their ids, are less than a megabyte."""
_ALONE = _Room(title=10_000, authors=200_000, tags=20_000)
_SHORT = 300
_ABSTRACT = 200_000
_SHORT_ABSTRACT = 3000
_OUTLINE = 400_000
_TEXTS = 600_000
"""Of a place, or of all figures that are found."""
_FIGURE = 6000
_REMARKS = 20_000
_REMARK = 2000


def listed(shown: dict[str, Any]) -> dict[str, Any]:
    """A paper of a list."""
    return _bounded(shown, _AMONG_OTHERS)


def alone(shown: dict[str, Any]) -> dict[str, Any]:
    """A paper with its abstract, outline, remarks and flags."""
    chapters, left_out = _outlined(shown["chapters"])
    more = {
        "chapters": chapters,
        "sections_left_out": left_out,
        "remarks": bounds.texts(shown["remarks"], _REMARKS, longest=_REMARK),
        "flags": bounds.first(shown["flags"], _REMARKS),
    }
    return bounds.with_texts(_bounded({**shown, **more}, _ALONE), abstract=_ABSTRACT)


def near(shown: dict[str, Any]) -> dict[str, Any]:
    """A paper that is near another, or near what was asked for; its authors have two names."""
    authors = {
        "authors": bounds.first(shown["authors"], _AMONG_OTHERS.authors),
        "author_count": len(shown["authors"]),
    }
    made = bounds.with_texts({**shown, **authors}, title=_AMONG_OTHERS.title)
    return bounds.with_texts(made, abstract=_SHORT_ABSTRACT) if "abstract" in made else made


def chunk(shown: dict[str, Any]) -> dict[str, Any]:
    return bounds.with_texts(shown, text=_TEXTS)


def section(shown: dict[str, Any], room: int = _TEXTS) -> dict[str, Any]:
    """With as many of its chunks as there is room for; counts say how many there are."""
    chunks = (bounds.with_texts(one, text=_TEXTS - _FIGURE) for one in shown["chunks"])
    return {**shown, "chunks": bounds.first(chunks, room)}


def chapter(shown: dict[str, Any]) -> dict[str, Any]:
    room, sections = _TEXTS, list[dict[str, Any]]()
    for one in shown["sections"]:
        sections.append(section(one, room))
        room -= bounds.size(sections[-1])
        if room < 0:
            break
    return {**shown, "sections": sections}


def figure(shown: dict[str, Any], among: int = 1) -> dict[str, Any]:
    """One of so many. What a caption says, the text may say again."""
    longest = max(_FIGURE, _TEXTS // among) // 4
    mentions = {"referenced_by": bounds.first(shown["referenced_by"], longest)}
    texts = dict.fromkeys(("text", "caption", "description"), longest)
    return bounds.with_texts({**shown, **mentions}, **texts, title=_AMONG_OTHERS.title)


def _bounded(shown: dict[str, Any], room: _Room) -> dict[str, Any]:
    counted = {"author_count": len(shown["authors"]), "tag_count": len(shown["tags"])}
    lists = {
        "authors": bounds.texts(shown["authors"], room.authors),
        "tags": bounds.texts(shown["tags"], room.tags),
    }
    return bounds.with_texts({**shown, **counted, **lists}, title=room.title, venue=_SHORT, doi=_SHORT)


def _outlined(chapters: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """As much of an outline as there is room for, and how many sections that leaves out."""
    room = _OUTLINE
    told: list[dict[str, Any]] = []
    for chapter in chapters:
        made = _chapter(chapter, room)
        room -= bounds.size(made)
        if room < 0 or not made["sections"]:
            break
        told.append(made)
    whole, shown = (sum(len(one["sections"]) for one in some) for some in (chapters, told))
    return told, whole - shown


def _chapter(chapter: dict[str, Any], room: int) -> dict[str, Any]:
    """The figures are fewer than the sections, as a rule: a quarter of the room is theirs."""
    titled = [bounds.with_texts(one, section_title=_SHORT, summary=2 * _SHORT) for one in chapter["sections"]]
    lists = {"figures": bounds.first(chapter["figures"], room // 4), "sections": bounds.first(titled, room // 2)}
    return bounds.with_texts({**chapter, **lists}, chapter_title=_SHORT)
