"""MathML as the LaTeX a person would read: `<mfrac>` is `\\frac{a}{b}`, letters and signs stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.parsers.xml_names import local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lxml.etree import _Element

_HIDDEN = frozenset({"annotation", "annotation-xml", "mphantom", "maligngroup", "malignmark", "none", "mprescripts"})
_TEMPLATES = {
    "mfrac": ("\\frac{", "}{", "}"),
    "msup": ("", "^{", "}"),
    "msub": ("", "_{", "}"),
    "msubsup": ("", "_{", "}^{", "}"),
    "mover": ("", "^{", "}"),
    "munder": ("", "_{", "}"),
    "munderover": ("", "_{", "}^{", "}"),
}
_ACCENTS = {
    "¯": "\\bar", "‾": "\\bar", "_": "\\bar", "^": "\\hat", "ˆ": "\\hat", "~": "\\tilde", "˜": "\\tilde", "→": "\\vec",
    "⃗": "\\vec", "˙": "\\dot", "¨": "\\ddot",
}  # fmt: skip


def latex(element: _Element) -> str:
    """What a `math` element says."""
    tex = next((node for node in element.iter() if "tex" in (node.get("encoding") or "")), None)
    if tex is not None and tex.text:
        return " ".join(tex.text.split())
    return " ".join(_latex(element).split())


def _latex(node: _Element) -> str:
    name = local(node)
    if name in _HIDDEN:
        return ""
    if not len(node):
        return _token(node, name)
    parts = [_latex(child) for child in node if local(child) not in _HIDDEN]
    return _WAYS.get(name, _plain)(node, parts)


def _token(node: _Element, name: str) -> str:
    text = node.text or ""
    if name == "mspace":
        return " "
    return f" {text.strip()} " if name == "mtext" and len(text.strip()) > 1 else text.strip()


def _filled(node: _Element, parts: list[str]) -> str:
    signs = _TEMPLATES[local(node)]
    if len(parts) != len(signs) - 1:
        return _side_by_side(parts)
    return "".join(sign + part for sign, part in zip(signs, [*parts, ""], strict=True))


def _over(node: _Element, parts: list[str]) -> str:
    accent = _ACCENTS.get(parts[1]) if len(parts) == 2 else None
    return f"{accent}{{{parts[0]}}}" if accent else _filled(node, parts)


def _root(_node: _Element, parts: list[str]) -> str:
    return f"\\sqrt[{parts[1]}]{{{parts[0]}}}" if len(parts) == 2 else _side_by_side(parts)


def _fenced(node: _Element, parts: list[str]) -> str:
    separator = (node.get("separators") or ",").strip()[:1]
    return f"{node.get('open', '(')}{separator.join(parts)}{node.get('close', ')')}"


def _plain(_node: _Element, parts: list[str]) -> str:
    return _side_by_side(parts)


def _side_by_side(parts: Iterable[str]) -> str:
    """One after the other, and a space where two would become one word."""
    out = ""
    for part in parts:
        glued = out[-1:].isalnum() and part[:1].isalnum() and (len(part) > 1 or out[-2:].isalpha())
        out += f" {part}" if glued else part
    return out


_WAYS: dict[str, Callable[[_Element, list[str]], str]] = {
    **dict.fromkeys(_TEMPLATES, _filled),
    "mover": _over,
    "mroot": _root,
    "msqrt": lambda _node, parts: f"\\sqrt{{{_side_by_side(parts)}}}",
    "mfenced": _fenced,
    "mtr": lambda _node, parts: " & ".join(parts),
    "mlabeledtr": lambda _node, parts: " & ".join(parts),
    "mtable": lambda _node, parts: " \\\\ ".join(parts),
}
