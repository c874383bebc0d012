"""Plain text: paragraphs between blank lines."""

from __future__ import annotations

import re

from carrel.parsers import Source, bibliography, title_of
from carrel.parsers.prose import with_bibliography
from carrel.parsers.unseen import seen_text
from carrel.types import Block, BlockKind, Paper, Reference

# Anchored, or a long line of blanks would be tried from each of its characters.
_PARAGRAPH = re.compile(r"^[^\S\n]*\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*", re.MULTILINE)
_LONGEST_TITLE = 100
_APPENDIX = re.compile(r"(?:appendix|appendices|supplement(?:ary material)?)\b[^\n.]{0,80}", re.IGNORECASE)


class PlainText:
    name = "text"
    suffixes = frozenset({".txt", ".text"})

    def parse(self, source: Source) -> Paper:
        text, remarks = seen_text(source, markup=False)
        blocks, cited = with_bibliography(text, [_block(match) for match in _PARAGRAPH.finditer(text)])
        reference = Reference(id="", title=_title(text) or title_of(source))
        return Paper(reference, text, blocks, self.name, cited=cited, remarks=remarks)


def _block(paragraph: re.Match[str]) -> Block:
    """A paragraph of text; the line that begins the bibliography, or what comes after it, is a heading."""
    words = paragraph.group().strip()
    if bibliography.is_heading(words) or _APPENDIX.fullmatch(words):
        return Block(BlockKind.HEADING, *paragraph.span(), level=1, title=words)
    return Block(BlockKind.TEXT, *paragraph.span())


def _title(text: str) -> str:
    """The first line, when it looks like one: short, a capital in front, no full stop at its end."""
    first = text.strip().split("\n", 1)[0].strip()
    looks_like_one = len(first) < _LONGEST_TITLE and first[:1].isupper() and not first.endswith((".", ",", ";", ":"))
    return first if looks_like_one else ""
