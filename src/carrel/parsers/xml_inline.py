"""The words inside an element, as one reads them: tags neither glue words together nor split them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.parsers import mathml
from carrel.parsers.xml_names import attribute, local

if TYPE_CHECKING:
    from lxml.etree import _Element

_BRACKETS = ("[", "(")
_NUMBERS = re.compile(r"\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,20}")
_AFTER_A_WORD = re.compile(r"(?:[a-z]{4}|[.,;:)”\"])\Z")
_EXPONENT = re.compile(r"[-−–+]?\d")
_TEX_BODY = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_TEX_SIGNS = "$ \n\t"


@dataclass(frozen=True, slots=True)
class Tags:
    """What the elements of a format are, by their plain names."""

    breaks: frozenset[str]
    """Words in them stand apart from those around."""
    skipped: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    """To a note or an entry of the bibliography: `shown¹²` is `shown[12]`."""
    formulas: frozenset[str] = frozenset({"math", "tex-math", "inline-formula"})


def inline(element: _Element, tags: Tags) -> str:
    """All its words on one line, without the tail."""
    pieces: list[str] = []
    _inside(element, tags, pieces)
    return " ".join("".join(pieces).split())


def collect(element: _Element, tags: Tags, pieces: list[str]) -> None:
    """Add an element's words, and what white space they have around them, to the pieces of a line."""
    name = local(element)
    if not name or name in tags.skipped:
        pieces.append(" " if name in tags.breaks else "")
        return
    if name in tags.formulas:
        pieces.append(formula(element, tags))
    elif name == "sup":
        pieces.append(_raised(element, tags, pieces))
    elif name in tags.links and attribute(element, "ref-type" if name == "xref" else "type") in {"bibr", "fn", "foot"}:
        pieces.append(_link(element, tags, pieces))
    else:
        between = " " if name in tags.breaks else ""
        pieces.append(between)
        _inside(element, tags, pieces)
        pieces.append(between)


def formula(element: _Element, tags: Tags) -> str:
    """`$…$` where it is mathematics, else the words it is set in."""
    tex = latex(element)
    if tex is None:
        return inline(element, tags)
    after = " " if (element.text or "").endswith(" ") else ""
    return f"${tex}${after}" if tex else ""


def latex(element: _Element) -> str | None:
    """The formula an element holds, as LaTeX; None when it is set in plain words and letters."""
    nodes = [element, *element.iterdescendants()]
    tex = next((node for node in nodes if local(node) == "tex-math"), None)
    if tex is not None:
        found = _TEX_BODY.search(tex.text or "")
        return " ".join((found[1] if found else tex.text or "").strip(_TEX_SIGNS).split())
    math = next((node for node in nodes if local(node) == "math"), None)
    if math is None:
        return None
    return mathml.latex(math) if len(math) else " ".join((math.text or "").strip(_TEX_SIGNS).split())


def _inside(element: _Element, tags: Tags, pieces: list[str]) -> None:
    pieces.append(element.text or "")
    for inner in element:
        collect(inner, tags, pieces)
        pieces.append(inner.tail or "")


def _raised(element: _Element, tags: Tags, pieces: list[str]) -> str:
    """A superscript: a mark of a note or citation in brackets, an exponent with `^`, anything else as it is."""
    text, after = _with_space(element, tags)
    before = "".join(pieces[-4:])
    parent = element.getparent()
    links = (parent is not None and local(parent) in tags.links) or any(local(inner) in tags.links for inner in element)
    if links or (_NUMBERS.fullmatch(text) and _AFTER_A_WORD.search(before)):
        return _bracketed(text) + after
    return f"{'^' if before[-1:].isdigit() and _EXPONENT.match(text) else ''}{text}{after}"


def _link(element: _Element, tags: Tags, pieces: list[str]) -> str:
    """A citation or note mark, set apart only where it would run into the word before it."""
    text, after = _with_space(element, tags)
    glued = "".join(pieces[-4:])[-1:].isalnum() and text[:1].isalnum()
    return f"{_bracketed(text) if glued else text}{after}"


def _with_space(element: _Element, tags: Tags) -> tuple[str, str]:
    """An element's words, and the space that ends them if one does."""
    pieces: list[str] = []
    _inside(element, tags, pieces)
    whole = "".join(pieces)
    return " ".join(whole.split()), " " if whole[-1:].isspace() else ""


def _bracketed(text: str) -> str:
    return f"[{text}]" if text and not text.startswith(_BRACKETS) and text[-1:] not in {"]", ")"} else text
