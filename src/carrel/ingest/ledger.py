"""Which papers a store that is being filled has already, and as what: so that what is interrupted goes on.

A line says what is filled, and each line after it which papers were put whole. What a crash left of a last line is
passed over. The file is derived: without it, papers are put once more.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from carrel.files import writing
from carrel.identifiers import paper_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from carrel.types import Chunk, Contribution


class Ledger:
    def __init__(self, path: Path, **heading: Any) -> None:  # noqa: ANN401
        self._path = path
        self._heading = heading
        lines = _lines(path)
        self.is_resumed = bool(lines) and lines[0] == heading
        """Whether the same was begun before."""
        self._is_open = self.is_resumed
        self._marks: dict[str, str] = {}
        for marks in lines[1:] if self.is_resumed else ():
            self._marks.update(marks)

    def open(self) -> None:
        """Begin anew, unless it is resumed."""
        if not self._is_open:
            self._write("w", self._heading)
            self._is_open = True

    def has(self, name: str, mark: str) -> bool:
        return self._marks.get(name) == mark

    def arrived(self, meant: Mapping[str, Sequence[Chunk]], held: Mapping[str, set[str]]) -> set[str]:
        """Those of these papers that were put as they are now, and of which all is held, and nothing else."""
        return {
            paper_id
            for paper_id, chunks in meant.items()
            if held.get(paper_id, set()) == {chunk.address for chunk in chunks} and self.has(paper_id, mark_of(chunks))
        }

    def note(self, marks: Mapping[str, str]) -> None:
        self._marks.update(marks)
        self._write("a", marks)

    def forget(self) -> None:
        self._marks = {}
        self.is_resumed = self._is_open = False
        with writing(self._path):
            self._path.unlink(missing_ok=True)

    def _write(self, how: str, line: Mapping[str, Any]) -> None:
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open(how, encoding="utf-8") as file:
                # Of a line that a crash cut short, this one is no part.
                file.write("\n" * (how == "a") + json.dumps(line) + "\n")


def mark_of(told: Iterable[Chunk | Contribution]) -> str:
    """Becomes another with anything that a store has of a paper."""
    digest = blake2b(digest_size=16)
    for each in told:
        digest.update(repr(each).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def by_paper(addresses: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for address in addresses:
        found.setdefault(paper_of(address), set()).add(address)
    return found


def grouped(paper_ids: Iterable[str], chunks: Iterable[Chunk]) -> dict[str, list[Chunk]]:
    """By paper, also of those that have none."""
    found: dict[str, list[Chunk]] = {paper_id: [] for paper_id in paper_ids}
    for chunk in chunks:
        found[chunk.paper_id].append(chunk)
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return []
    return [line for line in map(_line, text.split("\n")) if line]


def _line(text: str) -> dict[str, Any]:
    try:
        line = json.loads(text) if text else {}
    except ValueError:
        return {}
    return line if isinstance(line, dict) else {}
