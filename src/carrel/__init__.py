"""Carrel answers questions from a researcher's own papers, on their own machine, and proves every sentence.

from carrel import Library

with Library.open() as library:
    print(library.ask("What did we learn about X?").answer)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel import release

__version__ = release.VERSION
__all__ = ["Library", "__version__"]

if TYPE_CHECKING:
    from carrel.library import Library


def __getattr__(name: str) -> object:
    # Late, so that `carrel --help` does not pay for the models' libraries.
    if name == "Library":
        from carrel.library import Library

        return Library
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
