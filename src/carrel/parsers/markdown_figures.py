"""Pictures, tables and code of a Markdown text that carry a caption."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from carrel.parsers import captions
from carrel.types import Block, BlockKind, Exhibit, ExhibitKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markdown_it.token import Token

_HTML_IMAGE = re.compile(r"<img\b[^>]{0,2000}>", re.IGNORECASE)
_HTML_ATTRIBUTE = re.compile(r"\b(src|alt)\s{0,3}=\s{0,3}(?:\"([^\"]{0,2000})\"|'([^']{0,2000})')", re.IGNORECASE)
_HTML_CAPTION = re.compile(r"<figcaption[^>]{0,200}>(.{0,5000}?)</figcaption>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]{0,2000}>")
_LABELLED = re.compile(r"[*_\s]{0,4}[^\W\d_]{2,12}\.?\s{0,2}[\w.-]{1,8}[*_]{0,2}\s{0,2}[:.|—–]")
"""`Figure 3:`, `**Table 1.**`, but not `Figure 3 shows`."""
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|/|\\|#", re.IGNORECASE)
_MARKUP = "*_ \n"
_KINDS = {
    BlockKind.FIGURE: ExhibitKind.FIGURE,
    BlockKind.TABLE: ExhibitKind.TABLE,
    BlockKind.CODE: ExhibitKind.ALGORITHM,
}


@dataclass(frozen=True, slots=True)
class Picture:
    """What stands in a picture's place."""

    file: str
    alternative: str
    caption: str = ""


def picture(inline: Token) -> Picture | None:
    """The picture that is a whole paragraph, alone or with its caption; None for any other paragraph."""
    children = inline.children or []
    if not children or children[0].type != "image":
        return None
    beside = [child for child in children if child.type not in ("image", "softbreak", "hardbreak")]
    rest = "".join(child.content for child in beside).strip()
    in_italics = bool(beside) and (beside[0].type, beside[-1].type) == ("em_open", "em_close")
    if rest and not captions.label_of(rest) and not in_italics:
        return None
    image = children[0]
    return Picture(_file(str(image.attrs.get("src", ""))), image.content, rest or str(image.attrs.get("title", "")))


def html_picture(html: str) -> Picture | None:
    image = _HTML_IMAGE.search(html)
    if not image:
        return None
    said = {name.lower(): double or single for name, double, single in _HTML_ATTRIBUTE.findall(image.group())}
    caption = _HTML_CAPTION.search(html)
    words = " ".join(_TAG.sub(" ", caption[1]).split()) if caption else ""
    return Picture(_file(said.get("src", "")), said.get("alt", ""), words)


def with_captions(
    text: str, blocks: Sequence[Block], pictures: Mapping[int, Picture]
) -> tuple[tuple[Block, ...], tuple[Exhibit, ...]]:
    """The blocks, captions told from prose, and the exhibits that they make. `pictures` are by start of their block."""
    told = list(blocks)
    made: list[Exhibit] = []
    for place, block in enumerate(blocks):
        kind = _KINDS.get(block.kind)
        shown = pictures.get(block.start)
        if kind is None or (block.kind == BlockKind.FIGURE and shown is None):
            continue
        beside = next((other for other in (place + 1, place - 1) if _is_caption(text, told, other, kind)), None)
        if beside is not None:
            told[beside] = replace(told[beside], kind=BlockKind.CAPTION)
        if shown or beside is not None:
            made.append(_exhibit(text, kind, block, told[beside] if beside is not None else None, shown))
    return tuple(told), tuple(made)


def _is_caption(text: str, blocks: Sequence[Block], place: int, kind: ExhibitKind) -> bool:
    if not 0 <= place < len(blocks) or blocks[place].kind != BlockKind.TEXT:
        return False
    words = text[blocks[place].start : blocks[place].end]
    return captions.kind_of(words) == kind and _LABELLED.match(words) is not None


def _exhibit(text: str, kind: ExhibitKind, block: Block, caption: Block | None, shown: Picture | None) -> Exhibit:
    said = text[caption.start : caption.end] if caption else (shown.caption or shown.alternative if shown else "")
    words = " ".join(said.split()).strip(_MARKUP)
    return Exhibit(
        kind=kind,
        start=min(block.start, caption.start) if caption else block.start,
        end=max(block.end, caption.end) if caption else block.end,
        label=captions.label_of(words),
        caption=words,
        description=shown.alternative if shown else "",
        image=shown.file if shown else "",
    )


def _file(address: str) -> str:
    """A path in the text's own folder; empty for what lies elsewhere."""
    return "" if _ELSEWHERE.match(address) or ".." in address.split("/") else address


def pictures_of(tokens: Sequence[Token]) -> Iterator[tuple[int, Picture]]:
    """The number of the token that begins each picture's block, and the picture."""
    for number, token in enumerate(tokens):
        found = None
        if token.level == 0 and token.type == "paragraph_open":
            found = picture(tokens[number + 1])
        elif token.level == 0 and token.type == "html_block" and "<table" not in token.content.lower():
            found = html_picture(token.content)
        if found:
            yield number, found
