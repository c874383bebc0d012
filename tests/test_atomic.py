"""Every code block, formula and table of real Markdown comes out whole, in exactly one chunk."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from carrel import chunking
from carrel.chunking import Limits
from carrel.parsers import Source
from carrel.parsers.markdown import Markdown

DATA = Path(__file__).parents[2] / "shared" / "data" / "fulltext"
_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n`]*\n.*?^[ \t]*(?P=mark)[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_FORMULA = re.compile(r"^\$\$.*?\$\$[ \t]*$", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"^\|.*\|[ \t]*\n\|[ \t:|-]+\|[ \t]*(?:\n\|.*\|[ \t]*)*", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def texts_of(name: str) -> Iterator[tuple[str, str]]:
    archive = DATA / name / f"{name}.tar.xz"
    if not archive.exists():
        pytest.skip(f"the texts are not here: shared/data/fulltext/{name} beside the repository")
    with tarfile.open(archive) as files:
        for member in files:
            if member.name.endswith(".md") and (file := files.extractfile(member)):
                yield member.name, file.read().decode().replace("\r\n", "\n")


def elements(text: str) -> list[tuple[str, int, int]]:
    """Where each element stands, found without our parser: those of the top level, outside of each other."""
    found: list[tuple[str, int, int]] = []
    # A comment hides what is in it; blanks in its place keep every offset true.
    plain = _COMMENT.sub(lambda comment: re.sub(r"\S", " ", comment.group()), text)
    for kind, pattern in (("code", _FENCE), ("formula", _FORMULA), ("table", _TABLE)):
        for match in pattern.finditer(plain):
            if not any(start < match.end() and match.start() < end for _, start, end in found):
                found.append((kind, match.start(), match.start() + len(match.group().rstrip())))
    return found


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("cp_algorithms_tree", {"code": 427, "formula": 639, "table": 1}),
        ("docling_pairs", {"code": 4, "formula": 61, "table": 18}),
        ("oi_wiki_sample_zh", {"code": 150, "formula": 119}),
    ],
)
def test_every_element_is_in_exactly_one_chunk_byte_for_byte(name: str, least: dict[str, int]) -> None:
    counted, broken = Counter[str](), list[str]()
    for file, text in texts_of(name):
        paper = Markdown().parse(Source(file, text.encode()))
        chunks = chunking.split(paper, count_tokens=words, limits=Limits(20, 60, 120))
        seen = 0
        for kind, start, end in sorted(elements(text), key=lambda one: one[1]):
            counted[kind] += 1
            # What no reader sees, as a comment, is left out before: all that follows stands farther to the front.
            element, at = text[start:end], paper.text.find(text[start:end], seen)
            holding = [one for one in chunks if one.start < at + len(element) and at < one.end]
            if at < 0 or len(holding) != 1 or element not in holding[0].text:
                broken.append(f"{file} {kind} at {start}: in {len(holding)} chunks: {element[:60]!r}")
            seen = max(at, seen)
    assert not broken, f"{len(broken)} of {counted.total()}:\n" + "\n".join(broken[:20])
    assert all(counted[kind] >= number for kind, number in least.items()), counted
