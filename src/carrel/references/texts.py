"""The text of the files people have: any encoding, HTML in the fields, and bytes that no text has."""

from __future__ import annotations

import codecs
import html
import io
import re
from typing import TYPE_CHECKING

from carrel import hidden
from carrel.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Tell = Callable[[int, int], None]
    """Takes how much of a file is read, and its size in the same measure."""

_LINES_BETWEEN = 2_000
"""Lines read between two words of progress."""
_SAMPLE = 65_536
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"^%\s*Encoding:\s*([\w-]+)", re.IGNORECASE | re.MULTILINE)
# Only those: a file must not choose `zip` or `unicode_escape` for itself.
_PLAIN_ENCODING = re.compile(r"(?:iso|cp\d|windows|latin|gb|big5|shift|sjis|euc|koi|mac|ms\d)", re.IGNORECASE)

_ATTRIBUTE = r"""\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s<>"']+)"""
_BLOCKS = "p|br|div|li|ul|ol|tr|table|h[1-6]|blockquote|title|sec|jats:(?:p|title|sec|list|list-item)"
_INLINE = (
    "i|b|em|u|s|tt|sub|sup|inf|strong|span|font|small|big|sc|scp|code|pre|mark|del|ins|a|img|q|cite|td|th|tbody|html"
    "|body|script|style|math|m(?:i|o|n|row|sub|sup|text)|mml:\\w+|jats:[\\w-]+"
)
_BLOCK = re.compile(rf"</?(?:{_BLOCKS})(?:{_ATTRIBUTE}){{0,20}}\s*/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_INLINE})(?:{_ATTRIBUTE}){{0,20}}\s*/?>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)
# Controls, among them those that C1 bytes become, and the mark of byte order; tab and line ends are spaces.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")


def line(text: str) -> str:
    """One line of plain text: tags taken off, entities decoded, runs of space closed up."""
    return " ".join(_plain(text, " ").split())


def paragraphs(text: str) -> str:
    """Plain text that keeps its empty lines and nothing else of its layout."""
    parts: list[list[str]] = [[]]
    for text_line in _plain(text, "\n\n").split("\n"):
        if words := text_line.split():
            parts[-1] += words
        elif parts[-1]:
            parts.append([])
    return "\n\n".join(" ".join(words) for words in parts if words)


def _plain(text: str, block: str) -> str:
    text = hidden.without_unseen_characters(text).text
    if "<" in text or "&" in text:
        # Twice: publishers write `&lt;i&gt;` and mean a tag.
        text = _without_tags(_ENTITY.sub(lambda found: html.unescape(found.group()), _without_tags(text, block)), block)
    return _NO_TEXT.sub("", text)


def _without_tags(text: str, block: str) -> str:
    return _TAG.sub("", _BLOCK.sub(block, hidden.without_hidden_markup(text).text)) if "<" in text else text


def untold(_done: int, _size: int) -> None:
    """Nobody wants to know how far the reading is."""


def lines(path: Path, tell: Tell = untold) -> Iterator[str]:
    """The lines of a file in whatever encoding it is, without NULs, read as they are asked for."""
    try:
        encoding, errors = _encoding(path)
        size = path.stat().st_size
        with path.open("rb") as file, io.TextIOWrapper(file, encoding=encoding, errors=errors) as decoded:
            for number, text in enumerate(decoded):
                if not number % _LINES_BETWEEN:
                    tell(file.tell(), size)
                yield text.replace("\0", "") if "\0" in text else text
    except (OSError, UnicodeError) as error:
        raise unreadable(path, error) from error


def whole(path: Path) -> str:
    return "".join(lines(path))


def head(path: Path, size: int) -> str:
    """The beginning of a file, for telling what it is."""
    try:
        encoding, _errors = _encoding(path)
        with path.open(encoding=encoding, errors="replace") as file:
            return file.read(size).replace("\0", "")
    except (OSError, UnicodeError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> SourceError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return SourceError(f"cannot read {str(path)!r}: {reason}", hint="Check that the file is there and may be read.")


def _encoding(path: Path) -> tuple[str, str]:
    """The encoding of a file and what to do with bytes that are not in it."""
    with path.open("rb") as file:
        sample = file.read(_SAMPLE)
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding, _FALLBACK if encoding == "utf-8-sig" else "replace"
    if wide := _unmarked_utf_16(sample):
        return wide, "replace"
    declared = _DECLARED.search(sample)
    if declared and (encoding := _known(declared[1].decode())) and not _is_utf_8(path):
        return encoding, "replace"
    return "utf-8", _FALLBACK


def _unmarked_utf_16(sample: bytes) -> str:
    """Western text in UTF-16 has a NUL in every other byte."""
    even, odd, half = sample[::2].count(0), sample[1::2].count(0), len(sample) // 2
    if half >= 2 and max(even, odd) > 0.6 * half and min(even, odd) < 0.1 * half:
        return "utf-16-le" if odd > even else "utf-16-be"
    return ""


def _known(name: str) -> str:
    try:
        return codecs.lookup(name).name if _PLAIN_ENCODING.match(name) else ""
    except LookupError:
        return ""


def _is_utf_8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while piece := file.read(_SAMPLE):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _as_western(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not UTF-8 are nearly always Windows' Western alphabet, often in one entry among thousands."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


_FALLBACK = "carrel-western"
codecs.register_error(_FALLBACK, _as_western)
