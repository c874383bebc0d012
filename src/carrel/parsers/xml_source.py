"""A file of XML as a tree, whatever is wrong with it: no entity is expanded, nothing outside the file is opened."""

from __future__ import annotations

import html.entities
import re
from typing import TYPE_CHECKING

from carrel.errors import SourceError
from carrel.parsers import Source, decode

if TYPE_CHECKING:
    from lxml.etree import XMLParser, _Element

_DECLARATION = re.compile(r"\s*<\?xml\b[^>]{0,200}\?>")
_DECLARED = re.compile(rb"<\?xml\b[^>]{0,100}encoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")
# Only those: a file must not choose `zip` or `unicode_escape` for itself.
_PLAIN_ENCODING = re.compile(r"(?:iso|cp\d|windows|latin|gb|big5|shift|sjis|euc|koi|mac|ms\d|us-ascii)", re.IGNORECASE)
_SEVEN_BITS = re.compile(r"iso-2022|hz", re.IGNORECASE)
_DOCTYPE = re.compile(
    r"<!DOCTYPE[^\[>]*+(?:\[(?P<subset>(?:[^\]\"'<]|\"[^\"]*+\"|'[^']*+'|<!--(?:[^-]|-(?!->))*+-->|<(?!!--))*+)\]\s*+)?>"
)
_ENTITY = re.compile(r"<!ENTITY\s+([\w.-]{1,40})\s+(?:\"([^\"%&<]{0,64})\"|'([^'%&<]{0,64})')\s*>")
_REFERENCE = re.compile(
    r"<!\[CDATA\[(?:[^\]]|\](?!\]>))*+(?:\]\]>|\Z)"
    r"|&(?:(?P<known>#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos);|(?P<name>[A-Za-z][\w.-]{0,40});)?"
)
_MOST_SAID = 120
_LARGEST_HEAD = 100_000


def read(source: Source) -> tuple[_Element, list[str]]:
    """The root of a file, and what had to be left out of it."""
    from lxml import etree

    content = _without_entities(_text(source)).encode()
    try:
        return etree.fromstring(content, _parser(recover=False)), []
    except etree.XMLSyntaxError as error:
        root = _recovered(content)
        if root is None:
            raise SourceError(
                f"{source.name!r} is not XML: {_said(error)}", hint="Check the file's true format."
            ) from error
        return root, [f"the XML is broken ({_said(error)}); what could be read of it was read"]


def _recovered(content: bytes) -> _Element | None:
    from lxml import etree

    try:
        # Typed as never None, which it is for a file without a single tag.
        root: _Element | None = etree.fromstring(content, _parser(recover=True))
    except etree.XMLSyntaxError:
        return None
    return root


def _parser(*, recover: bool) -> XMLParser[_Element]:
    from lxml import etree

    return etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _text(source: Source) -> str:
    """The file's text. What is UTF-8 is UTF-8, whatever it declares; else its declaration is believed."""
    declared = _declared(source.content[:200])
    if declared and (_SEVEN_BITS.match(declared) or not _is_utf8(source.content)):
        try:
            return decode(Source(source.name, source.content.decode(declared).encode()))
        except (UnicodeError, LookupError):
            pass
    return decode(source)


def _declared(head: bytes) -> str:
    found = _DECLARED.match(head)
    name = found[1].decode("ascii", "replace") if found else ""
    return name if _PLAIN_ENCODING.match(name) or _SEVEN_BITS.match(name) else ""


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return True


def _without_entities(text: str) -> str:
    """Publishers' entities as characters, and `&` as itself where it names nothing: neither would survive a parser
    that has no DTD. Those a file defines itself are taken when they are short and plain."""
    text = _DECLARATION.sub("", text, count=1)
    defined: dict[str, str] = {}
    if doctype := _DOCTYPE.match(text, max(text.find("<!DOCTYPE", 0, _LARGEST_HEAD), 0), _LARGEST_HEAD):
        for name, *values in _ENTITY.findall(doctype["subset"] or ""):
            defined[name] = "".join(values)
        text = f"{text[: doctype.start()]}{text[doctype.end() :]}"
    return _REFERENCE.sub(lambda found: _character(found, defined), text)


def _character(found: re.Match[str], defined: dict[str, str]) -> str:
    whole = found.group()
    if not whole.startswith("&") or found["known"]:
        return whole
    name = found["name"]
    if name is None:
        return "&amp;"
    value = defined.get(name) or html.entities.html5.get(f"{name};")
    return html.escape(value) if value is not None else f"&amp;{whole[1:]}"


def _said(error: SyntaxError) -> str:
    return " ".join((error.msg or "nothing in it").split())[:_MOST_SAID]
