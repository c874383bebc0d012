"""Text that a file holds and no reader sees: characters without width, and stretches that markup hides."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SEEN_BY_NOBODY = re.compile(
    "[\u200b\u2060-\u2064\u180e\ufeff\ufff9-\ufffb\u202d\u202e\U000e0000-\U000e007f]"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
    # Emoji and several scripts need these two; Latin words do not.
    "|(?<=[A-Za-z0-9 ])[\u200c\u200d]|[\u200c\u200d](?=[A-Za-z0-9 ])"
)
_MEANT = re.compile(
    "[\U000e0000-\U000e007f\u202d\u202e]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}|[\u200b-\u200d\u2060-\u2064\ufeff]{4,}"
    "|(?<=[A-Za-z])[\u200b-\u200d\u2060\ufeff](?=[A-Za-z])"
)
"""What does not get into a text by chance: tags, overridden directions, long runs, words that are cut through."""
_POINT = re.compile(r"^[ \t]*(?:`{3,}|~{3,})|`+|<!--|<(?=[A-Za-z])", re.MULTILINE)
_LONGEST_CODE_MARK = 10
_TAG = re.compile(
    r"<([A-Za-z][\w:-]{0,30})"
    r"((?:\s+[\w:-]{1,40}(?:\s*=\s*(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|[^\s<>\"'=]{1,200}))?){0,30})\s*(/?)>"
)
_ATTRIBUTE = re.compile(r"([\w:-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+)))?")
_NEVER_SHOWN = frozenset({"script", "style", "template", "noscript"})
_EMPTY = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
_NOTE = re.compile(r"^\[(?://|comment|_|#)?\]: *(?:#|<>) *[(\"'](.*)[)\"'] *\n?", re.MULTILINE)
"""Markdown's own way of saying something to nobody."""
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?<![-\w])opacity\s*:\s*0*(?:\.0*)?%?\s*(?:;|!|$)"
    r"|(?<![-\w])(?:left|top|right|text-indent|margin-left)\s*:\s*-\d{3,}|clip-path\s*:\s*inset\((?:100|50)%"
    r"|(?<![-\w])clip\s*:\s*rect\(\s*0",
    re.IGNORECASE,
)
_WHITE = re.compile(
    r"(?:white|transparent|#f{3}|#f[a-f]f[a-f]f[a-f]|rgba?\(\s*25\d\s*,\s*25\d\s*,\s*25\d\b.*|rgba\(.*,\s*0(?:\.0+)?\s*\))",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"(?<![-\w])color\s*:\s*([^;!]+)", re.IGNORECASE)
_SIZE = re.compile(r"font-size\s*:\s*(\d*\.?\d+)\s*(px|pt|em|rem|%)?", re.IGNORECASE)
_POINTS = {"px": 0.75, "pt": 1.0, "em": 12.0, "rem": 12.0, "%": 0.12, "": 0.75}
_SMALLEST = 2.0


class Freed(NamedTuple):
    """A text without what nobody sees of it."""

    text: str
    hidden: int = 0
    """Characters that look as if somebody had hidden them."""
    comments: tuple[str, ...] = ()
    """What was said beside the text, as every writer may."""


def remark(characters: int) -> str:
    return f"{characters} characters of hidden text left out"


def is_about_hidden_text(told: str) -> bool:
    """Whether a remark is one of these, whoever made it."""
    return told.endswith("characters of hidden text left out")


def without_unseen_characters(text: str) -> Freed:
    """Without characters of no width, tags and overridden directions."""
    if text.isascii():
        return Freed(text)
    meant = sum(len(found.group()) for found in _MEANT.finditer(text))
    return Freed(_SEEN_BY_NOBODY.sub("", text), meant)


def without_hidden_markup(text: str) -> Freed:
    """Markdown or HTML without what its tags hide from a reader, and without comments; code stays as it is."""
    if "<" not in text and "]:" not in text:
        return Freed(text)
    kept: list[str] = []
    comments: list[str] = []
    position, hidden = 0, 0
    for start, end, is_comment in _stretches(text):
        if is_comment:
            comments.append(text[start:end].removeprefix("<!--").removesuffix("-->").strip())
        else:
            hidden += _letters(text[start:end])
        kept.append(text[position:start])
        position = end
    rest = "".join([*kept, text[position:]])
    comments += [found[1] for found in _NOTE.finditer(rest)]
    return Freed(_NOTE.sub("", rest), hidden, tuple(comments))


def is_hidden(attributes: Mapping[str, str]) -> bool:
    """Whether an element with these attributes shows nothing of what is in it."""
    style = f"{attributes.get('style', '')};{attributes.get('rend', '')}"
    if "hidden" in attributes or _HIDING.search(style):
        return True
    size = _SIZE.search(style)
    if size and float(size[1]) * _POINTS[(size[2] or "").lower()] < _SMALLEST:
        return True
    colour = _COLOUR.search(style)
    named = colour[1] if colour else attributes.get("color", "")
    return bool(_WHITE.fullmatch(named.strip())) and "background" not in style and "bgcolor" not in attributes


def _stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where something is that nobody sees, in order, and whether it is a comment."""
    position, unfinished = 0, set[str]()
    while point := _POINT.search(text, position):
        mark, position = point.group().strip(), point.end()
        if mark == "<":
            tag = _TAG.match(text, point.start())
            position = tag.end() if tag else position
            if tag and _hides(tag):
                position = _end_of(text, tag)
                yield point.start(), position, False
            continue
        closing = "-->" if mark == "<!--" else mark
        end = -1 if closing in unfinished or len(mark) > _LONGEST_CODE_MARK else text.find(closing, position)
        if end < 0:
            unfinished.add(closing)
            continue
        position = end + len(closing)
        if mark == "<!--":
            yield point.start(), position, True


def _hides(tag: re.Match[str]) -> bool:
    attributes = {name.lower(): "".join(values) for name, *values in _ATTRIBUTE.findall(tag[2])}
    return tag[1].lower() in _NEVER_SHOWN or is_hidden(attributes)


def _end_of(text: str, tag: re.Match[str]) -> int:
    """Where the element ends that a tag begins; one that is never closed hides the rest."""
    if tag[3] or tag[1].lower() in _EMPTY:
        return tag.end()
    depth = 1
    for other in re.finditer(rf"<(/?){re.escape(tag[1])}\b[^<>]*>", text[tag.end() :], re.IGNORECASE):
        depth += -1 if other[1] else 1
        if not depth:
            return tag.end() + other.end()
    return len(text)


def _letters(markup: str) -> int:
    return sum(not character.isspace() for character in _TAG.sub("", re.sub(r"</[^<>]*>", "", markup)))
