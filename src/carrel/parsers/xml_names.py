"""Elements by their plain names, whatever namespace, prefix or case a publisher writes them in."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element


def local(element: _Element) -> str:
    return _local(element.tag)  # type: ignore[arg-type]  # a bytearray is never a parsed element's tag


@lru_cache(maxsize=4096)
def _local(tag: object) -> str:
    """Empty for a comment or processing instruction, whose tag is a function."""
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""


def children(element: _Element | None, *names: str) -> Iterator[_Element]:
    """Those directly inside an element that have one of the names."""
    return (child for child in (element if element is not None else ()) if local(child) in names)


def child(element: _Element | None, *names: str) -> _Element | None:
    return next(children(element, *names), None)


def descendants(element: _Element | None, *names: str) -> Iterator[_Element]:
    """Those anywhere inside an element that have one of the names, in order."""
    if element is None:
        return iter(())
    return (found for found in element.iterdescendants() if local(found) in names)


def first(element: _Element | None, *names: str) -> _Element | None:
    return next(descendants(element, *names), None)


def attribute(element: _Element, name: str) -> str:
    """By its plain name: `xlink:href` is `href`."""
    if (value := element.get(name)) is not None:
        return value.strip()
    # Names first: lxml looks for each value from the beginning again.
    return next((str(element.get(key)).strip() for key in element.attrib if _local(key) == name), "")
