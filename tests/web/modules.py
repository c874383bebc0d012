"""The page's scripts as what they are: files that import one another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

WEB = Path(str(files("carrel") / "web"))
_STATIC = re.compile(r"""^\s*(?:import|export)\b(?:[^"';]*?\bfrom\s*)?\s*["']([^"']+)["']""", re.MULTILINE)


def imported(path: Path) -> Iterator[Path]:
    """What is loaded before it runs; what it loads later, by `import(…)`, is not."""
    for name in _STATIC.findall(path.read_text(encoding="utf-8")):
        yield (path.parent / name).resolve()


def needed(*names: str) -> set[str]:
    """These and everything that they import, as the page names it."""
    waiting, found = [WEB / name for name in names], set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported(path)
    return {f"/static/{path.relative_to(WEB)}" for path in found}
