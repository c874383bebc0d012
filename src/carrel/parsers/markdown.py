"""Markdown: YAML front matter, headings, and blocks as markdown-it finds them."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from carrel.identifiers import normalise_doi
from carrel.parsers import Source, title_of
from carrel.parsers.markdown_figures import pictures_of, with_captions
from carrel.parsers.prose import with_bibliography
from carrel.parsers.unseen import seen_text
from carrel.types import ANY_YEAR, Author, Block, BlockKind, Exhibit, Paper, Published, Reference

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_MOST_FRONT_MATTER = 64_000
_NULLS = ("", "~", "null", "Null", "NULL")
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_BRACKETED_FORMULA = re.compile(r"\s*\\\[.*\\\]\s*", re.DOTALL)
_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$", re.MULTILINE)
_ATOMIC_TOKENS = {
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "math_block": BlockKind.FORMULA,
    "math_block_label": BlockKind.FORMULA,
    "amsmath": BlockKind.FORMULA,
    "table_open": BlockKind.TABLE,
}


class Markdown:
    name = "markdown"
    suffixes = frozenset({".md", ".markdown", ".mdown"})

    def parse(self, source: Source) -> Paper:
        text, remarks = seen_text(source, markup=True)
        front, start = _front_matter(text)
        blocks, exhibits = _structure(text, start)
        blocks, cited = with_bibliography(text, blocks)
        reference = _reference(front, title=_first_title(blocks) or title_of(source))
        topic = _word(front.get("topic") or front.get("category"))
        return Paper(reference, text, blocks, self.name, topic=topic, exhibits=exhibits, cited=cited, remarks=remarks)


def _front_matter(text: str) -> tuple[dict[str, Any], int]:
    """What stands between the first two `---`, and where the text begins after it."""
    import yaml

    found = _FRONT_MATTER.match(text[:_MOST_FRONT_MATTER])
    if not found:
        return {}, 0
    try:
        # Every scalar as it is written: typed, `id: 2020_05` is a number and `date: 2020-13-45` an exception.
        front = yaml.load(found.group(1), Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        return {}, 0
    if not isinstance(front, dict):
        return {}, 0
    return {key: value for key, value in front.items() if value not in _NULLS}, found.end()


def _reference(front: dict[str, Any], title: str) -> Reference:
    return Reference(
        id=_word(front.get("id") or front.get("citekey")),
        title=_word(front.get("title")) or title,
        doi=normalise_doi(_word(front.get("doi"))),
        authors=tuple(_authors(front.get("authors") or front.get("author"))),
        abstract=_word(front.get("abstract")),
        venue=_word(front.get("venue") or front.get("journal") or front.get("booktitle")),
        published=Published(_year(front.get("year") or front.get("date"))),
        tags=tuple(_words(front.get("tags") or front.get("keywords"))),
    )


def _word(value: object) -> str:
    """A scalar as text. Anything nested is not a word: YAML aliases could make it endless."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def _words(value: object) -> Iterator[str]:
    listed = value.split(",") if isinstance(value, str) else value
    if isinstance(listed, list):
        yield from dict.fromkeys(word for item in listed if (word := _word(item)))


def _authors(value: object) -> Iterator[Author]:
    listed = value if isinstance(value, list) else [value]
    for item in listed:
        if isinstance(item, dict):
            last = _word(item.get("last") or item.get("family") or item.get("name"))
            first = _word(item.get("first") or item.get("given"))
        else:
            first, last = _split_name(_word(item))
        if last:
            yield Author(last=last, first=first)


def _split_name(name: str) -> tuple[str, str]:
    """`Tim Yu` and `Yu, Tim` → Tim, Yu."""
    if "," in name:
        last, _, first = name.partition(",")
        return first.strip(), last.strip()
    first, _, last = name.rpartition(" ")
    return first, last


def _year(value: object) -> int:
    found = _YEAR.search(str(value)) if value is not None else None
    return int(found.group()) if found else ANY_YEAR


def _first_title(blocks: Sequence[Block]) -> str:
    return next((block.title for block in blocks if block.kind == BlockKind.HEADING and block.level == 1), "")


def _structure(text: str, start: int) -> tuple[tuple[Block, ...], tuple[Exhibit, ...]]:
    """The blocks, and what is shown among them."""
    tokens = _markdown_it().parse(text[start:])
    shown = dict(pictures_of(tokens))
    blocks = dict(_unbroken(_blocks(text, start, tokens, shown.keys()), list(_fences(text, start))))
    pictures = {blocks[number].start: picture for number, picture in shown.items() if number in blocks}
    return with_captions(text, tuple(blocks.values()), pictures)


def _blocks(text: str, start: int, tokens: Sequence[Token], shown: Collection[int]) -> Iterator[tuple[int, Block]]:
    """Each block by the number of the token that it begins at."""
    line_starts = [start]
    for line in text[start:].split("\n"):
        line_starts.append(min(line_starts[-1] + len(line) + 1, len(text)))
    for position, token in enumerate(tokens):
        kind = BlockKind.FIGURE if position in shown else _kind(tokens, position)
        if kind and token.map:
            first, last = (line_starts[line] for line in token.map)
            last = first + len(text[first:last].rstrip())
            if first == last:
                continue
            heading = kind == BlockKind.HEADING
            level, title = (int(token.tag[1:]), _plain(tokens[position + 1])) if heading else (0, "")
            yield position, Block(kind, first, last, level=level, title=title)


def _fences(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Fenced code wherever it is indented: dialects put it under notes and tabs that CommonMark does not know."""
    opened: re.Match[str] | None = None
    for mark in _FENCE.finditer(text, start):
        if opened is None:
            opened = mark
        elif mark["indent"] == opened["indent"] and mark["fence"].startswith(opened["fence"]) and not mark["info"]:
            yield opened.start(), mark.end()
            opened = None


def _unbroken(blocks: Iterator[tuple[int, Block]], fences: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Block]]:
    """The blocks; what has a fence in it is code, and those that share one are one, for code is never split."""
    waiting: tuple[int, Block] | None = None
    for number, block in blocks:
        held = replace(block, kind=BlockKind.CODE) if _begun(fences, block.start, block.end) else block
        reach = _begun(fences, waiting[1].start, waiting[1].end) if waiting else 0
        if waiting and reach > block.start:
            waiting = waiting[0], Block(BlockKind.CODE, waiting[1].start, block.end)
            continue
        if waiting:
            yield waiting
        waiting = number, held
    if waiting:
        yield waiting


def _begun(fences: Sequence[tuple[int, int]], start: int, end: int) -> int:
    """Where the last fence ends that has lines in a stretch of text; 0 when none has."""
    last = bisect_left(fences, (end, 0)) - 1
    return fences[last][1] if last >= 0 and fences[last][1] > start else 0


def _kind(tokens: Sequence[Token], position: int) -> BlockKind | None:
    """What block begins at a token, if one does: those of the top level, and the items of its lists."""
    token = tokens[position]
    if token.type == "list_item_open" and token.level == 1:
        return _container_kind(tokens, position, BlockKind.LIST)
    if token.level:
        return None
    if token.type in ("blockquote_open", "footnote_reference_open"):
        return _container_kind(tokens, position, BlockKind.TEXT)
    if token.type == "paragraph_open":
        formula = _BRACKETED_FORMULA.fullmatch(tokens[position + 1].content)
        return BlockKind.FORMULA if formula else BlockKind.TEXT
    if token.type == "html_block":
        return _html_kind(token.content)
    return BlockKind.HEADING if token.type == "heading_open" else _ATOMIC_TOKENS.get(token.type)


def _container_kind(tokens: Sequence[Token], position: int, kind: BlockKind) -> BlockKind:
    """A list item or quotation with code, a formula or a table inside must not be split either."""
    # By number: a slice would copy the rest of the file for each item of a list.
    for number in range(position + 1, len(tokens)):
        if tokens[number].level <= tokens[position].level:
            break
        if tokens[number].type in _ATOMIC_TOKENS:
            return _ATOMIC_TOKENS[tokens[number].type]
    return kind


def _html_kind(html: str) -> BlockKind | None:
    if html.lstrip().startswith("<!--"):
        return None
    return BlockKind.TABLE if "<table" in html.lower() else BlockKind.TEXT


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ()).strip()


def _markdown_it() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.amsmath import amsmath_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    made = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin).use(amsmath_plugin).use(footnote_plugin)
    # Footnotes stay where they are written, so that blocks stay in order.
    return made.disable("footnote_tail")
