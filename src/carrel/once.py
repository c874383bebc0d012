"""What a library makes when it is first needed, once, however many threads need it at that moment."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

Made = TypeVar("Made")
_turn = RLock()
"""One for all: what is made first may need what is made second."""


class once(cached_property[Made]):  # noqa: N801
    """From Python 3.12 on, a `cached_property` may be made by two threads at the same time."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        super().__init__(make)

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Made: ...

    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | Made:
        if instance is None:
            return self
        with _turn:
            return super().__get__(instance, owner)
