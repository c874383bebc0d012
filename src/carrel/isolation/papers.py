"""A paper as a message and back: each record as the list of its fields, the text and the pictures as bytes.

Reading one back trusts nothing: types, offsets and order are what `Paper` promises, or the paper is `Nonsense`.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from itertools import accumulate, pairwise
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from carrel.types import Image, Paper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from carrel.types import Block, Exhibit, Place

_MOST_NUMBER = 2**53
_MOST_LEVEL = 100


class Nonsense(ValueError):
    """It is no paper; says why."""


def packed(paper: Paper) -> tuple[dict[str, Any], bytes]:
    text = paper.text.encode()
    content = {
        "paper": _plain(replace(paper, text="", images=())),
        "text": len(text),
        "images": [[image.name, len(image.content)] for image in paper.images],
    }
    return content, b"".join([text, *(image.content for image in paper.images)])


def unpacked(structure: object, text: int, images: Sequence[object], data: bytes) -> Paper:
    named = [_image(image) for image in images]
    starts = list(accumulate((size for _, size in named), initial=text))
    if text < 0 or starts[-1] != len(data):
        raise Nonsense("its parts do not add up")
    pictures = [Image(name, data[start:end]) for (name, _), (start, end) in zip(named, pairwise(starts), strict=True)]
    bare: Paper = _READ_PAPER(structure)
    paper = replace(bare, text=_decoded(data[:text]), images=tuple(pictures))
    _check(paper)
    return paper


# Writing


def _plain(value: object) -> object:
    if type(value) in _SCALARS:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return [_plain(getattr(value, name)) for name in value.__dataclass_fields__]
    return value


# Reading


def _image(value: object) -> tuple[str, int]:
    match value:
        case [str(name), int(size)] if size >= 0:
            return _text(name), size
    raise Nonsense("one of its pictures is none")


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise Nonsense("its text is not UTF-8") from error


def _reader(kind: Any) -> Callable[[Any], Any]:  # noqa: ANN401
    """What makes a value of this type from JSON, or finds that it is none."""
    if is_dataclass(kind):
        return _record_reader(kind)
    if get_origin(kind) is tuple:
        return _list_reader(_reader(get_args(kind)[0]))
    if isinstance(kind, UnionType):
        return _optional_reader(_reader(get_args(kind)[0]))
    return _member_reader(kind) if issubclass(kind, StrEnum) else _SCALARS[kind]


def _record_reader(kind: Any) -> Callable[[Any], Any]:  # noqa: ANN401
    hints = get_type_hints(kind)
    readers = [_reader(hints[field.name]) for field in fields(kind)]

    def read(value: object) -> Any:  # noqa: ANN401
        if not isinstance(value, list) or len(value) != len(readers):
            raise Nonsense(f"{_shown(value)} is no {kind.__name__}")
        return kind(*[reader(item) for reader, item in zip(readers, value, strict=True)])

    return read


def _list_reader(reader: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Nonsense(f"{_shown(value)} is no list")
        return tuple([reader(item) for item in value])

    return read


def _optional_reader(reader: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else reader(value)


def _member_reader(kind: type[StrEnum]) -> Callable[[Any], Any]:
    members = {member.value: member for member in kind}

    def read(value: object) -> StrEnum:
        if not isinstance(value, str) or value not in members:
            raise Nonsense(f"{_shown(value)} is no {kind.__name__}")
        return members[value]

    return read


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Nonsense(f"{_shown(value)} is no text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Nonsense("half a surrogate pair is no text") from error
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _MOST_NUMBER:
        raise Nonsense(f"{_shown(value)} is no whole number")
    return value


def _measure(value: object) -> float:
    # Asked this way round, since NaN is not larger than anything.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _MOST_NUMBER:
        raise Nonsense(f"{_shown(value)} is no measure")
    return float(value)


def _no_bytes(value: object) -> bytes:
    """They come behind the JSON."""
    raise Nonsense(f"{_shown(value)} is no picture")


_SCALARS: dict[type, Callable[[Any], Any]] = {str: _text, int: _whole, float: _measure, bytes: _no_bytes}
_READ_PAPER = _record_reader(Paper)


def _shown(value: object) -> str:
    return "a list" if isinstance(value, (list, dict)) else repr(value)[:40]


# Checking


def _check(paper: Paper) -> None:
    length = len(paper.text)
    _check_spans("block", paper.blocks, length, apart=True)
    _check_spans("exhibit", paper.exhibits, length, apart=True)
    _check_spans("place", paper.places, length, apart=False)
    for block in paper.blocks:
        if not 0 <= block.level <= _MOST_LEVEL:
            raise Nonsense(f"a block has level {block.level}")
    boxes = [place.box for place in paper.places]
    for box in (*boxes, *(exhibit.box for exhibit in paper.exhibits if exhibit.box)):
        if box.page < 0:
            raise Nonsense(f"a box is on page {box.page}")


def _check_spans(name: str, spans: Iterable[Block | Exhibit | Place], length: int, *, apart: bool) -> None:
    """In order of text and inside of it; those that lie `apart` do not overlap."""
    least = 0
    for span in spans:
        if not least <= span.start <= span.end <= length:
            raise Nonsense(f"{name} {span.start}–{span.end} is not within {least}–{length}")
        least = span.end if apart else span.start
