"""What a file says that no reader of it sees is left out before anything else looks at it, and reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel import hidden, screening
from carrel.errors import EmptyDocument
from carrel.parsers import Source, decode

if TYPE_CHECKING:
    from lxml.etree import _Element


def seen_text(source: Source, *, markup: bool) -> tuple[str, tuple[str, ...]]:
    """The text that is seen, and what is to be told of the rest. Comments are told of only if they command."""
    plain = hidden.without_unseen_characters(decode(source))
    freed = hidden.without_hidden_markup(plain.text) if markup else hidden.Freed(plain.text)
    orders = sum(len(comment) for comment in freed.comments if screening.instructions(comment))
    if not freed.text.strip():
        raise EmptyDocument(f"{source.name!r} has no text that a reader would see", hint="Look at it in an editor.")
    return freed.text, _told(plain.hidden + freed.hidden + orders)


def left_out_of_tree(root: _Element) -> tuple[str, ...]:
    """Take hidden elements and characters out of a tree of XML, in place."""
    count = 0
    for element in [*root.iter()]:
        if element is not root and hidden.is_hidden({str(name): str(value) for name, value in element.attrib.items()}):
            count += sum(len("".join(words.split())) for words in element.itertext())
            element.clear(keep_tail=True)
        for place in ("text", "tail"):
            freed = hidden.without_unseen_characters(getattr(element, place) or "")
            count += freed.hidden
            if freed.text != (getattr(element, place) or ""):
                setattr(element, place, freed.text)
    return _told(count)


def left_out_of_blocks(document: dict[str, Any]) -> tuple[str, ...]:
    """Take hidden text out of the HTML of Marker's blocks, in place. Without recursion: they nest as they like."""
    count, stack = 0, [document]
    while stack:
        block = stack.pop()
        if isinstance(block.get("html"), str):
            plain = hidden.without_unseen_characters(block["html"])
            freed = hidden.without_hidden_markup(plain.text)
            block["html"] = freed.text
            count += plain.hidden + freed.hidden
        listed = [part for part in block.values() if isinstance(part, list)]
        stack += [child for children in listed for child in children if isinstance(child, dict)]
    return _told(count)


def _told(characters: int) -> tuple[str, ...]:
    return (hidden.remark(characters),) if characters else ()
