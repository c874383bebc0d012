"""What papers call their figures, tables and algorithms, in captions and where the text speaks of them.

One spelling for each: `Fig. 3:`, `FIGURE 3.` and `图3` are `Figure 3`, `S1 Table` and `Supplementary Table 1` are
`Table S1`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.types import ExhibitKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_SINGULAR = {
    "Figure": "fig figure abb abbildung figura рис рисунок 图 圖 図",
    "Scheme": "scheme",
    "Chart": "chart",
    "Plate": "plate",
    "Table": "tab table tbl tabelle tableau tabla tabela табл таблица 表",
    "Algorithm": "alg algo algorithm algorithmus algorithme algoritmo 算法",
    "Listing": "listing",
    "Procedure": "procedure",
    "Pseudocode": "pseudocode pseudo-code",
    "Code": "code",
}
_PLURAL = {
    "Figure": "figs figures abbildungen figuras",
    "Scheme": "schemes",
    "Chart": "charts",
    "Plate": "plates",
    "Table": "tabs tables tabellen tableaux tablas tabelas",
    "Algorithm": "algs algorithms algorithmen algorithmes",
    "Listing": "listings",
}
_PLURALS = {word: name for name, words in _PLURAL.items() for word in words.split()}
_NAMES = {**_PLURALS, **{word: name for name, words in _SINGULAR.items() for word in words.split()}}
_KINDS = {
    **dict.fromkeys(("Figure", "Scheme", "Chart", "Plate"), ExhibitKind.FIGURE),
    "Table": ExhibitKind.TABLE,
    **dict.fromkeys(("Algorithm", "Listing", "Procedure", "Pseudocode", "Code"), ExhibitKind.ALGORITHM),
}
_MOST_OF_A_RANGE = 50

_WORD = "|".join(sorted(_NAMES, key=len, reverse=True))
_NUMBER = r"(?P<number>(?:[A-Za-z]{1,2}[.-]?)?\d{1,4}(?:\.\d{1,3}){0,3}(?!\d))"
_PANEL = r"(?:\s?\([A-Za-z]{1,2}\)|[A-Za-z](?![^\W_]))"
_PANELS = rf"(?P<panels>{_PANEL}(?:\s?[-–,]\s?\(?[A-Za-z]\)?(?![^\W_])){{0,20}})?"
_FIRST = re.compile(
    # Chinese writes no spaces; 代表 and 发表 are no tables.
    r"(?:(?<![^\W_])|(?=[图圖図算表])(?<![代发發列]))(?:(?P<before>supp(?:l(?:ement(?:ary|al)?)?)?\.?|supporting|extended\sdata)\s{1,3})?"
    rf"(?:(?P<own>S\d{{1,3}})\s(?P<kind>fig(?:ure)?|table|algorithm)(?![^\W_])"
    rf"|(?P<word>{_WORD})\.?\s{{0,3}}(?:{_NUMBER}(?:-(?P<part>\d{{1,3}})(?!\d))?{_PANELS}|(?P<roman>(?-i:[IVX]{{1,6}}))(?![^\W_])))",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\s{0,2}(?:(?P<dash>[-–—]|to\s|bis\s)|,\s{0,2}(?:and|und|et|y|&)\s|,|&|and\s|und\s|et\s|y\s|、|和|及|或|or\s)\s{0,2}"
    rf"{_NUMBER}{_PANELS}",
    re.IGNORECASE,
)
_MARKUP = " \t\n*_#>|"


def label_of(caption: str) -> str:
    """The label a caption begins with; empty when it begins with none."""
    found = _FIRST.match(caption.lstrip(_MARKUP)[:200])
    if not found:
        return ""
    part = f"-{found['part']}" if found["part"] else ""
    return f"{_name(found)} {_first_number(found)}{part}"


def kind_of(text: str) -> ExhibitKind | None:
    """What a label or caption belongs to; None when it does not say."""
    found = _FIRST.match(text.lstrip(_MARKUP)[:200])
    return _KINDS[_NAMES[(found["kind"] or found["word"]).lower()]] if found else None


def mentions(text: str) -> Iterator[tuple[str, int, int]]:
    """Every label a text speaks of, with where it stands: each of `Figs. 3 and 4`, all of `Figures 2–4`.

    `Figure 3-1` may be one figure of chapter 3 or a range: both readings are given.
    """
    position = 0
    while found := _FIRST.search(text, position):
        name, first = _name(found), _first_number(found)
        start, position = found.span()
        yield f"{name} {first}", start, position
        if part := found["part"]:
            yield f"{name} {first}-{part}", start, position
            yield from ((f"{name} {number}", start, position) for number in _between(first, part))
        for number, begin, position in _listed(text, found, first):
            yield f"{name} {number}", begin, position


def _listed(text: str, found: re.Match[str], last: str) -> Iterator[tuple[str, int, int]]:
    """What follows the first number of a list. After a singular word only ranges and numbers with a panel's letter
    do, for in `Table 1, 20 patients` the 20 is no table."""
    plural = (found["word"] or "").lower() in _PLURALS
    position = found.end()
    while following := _NEXT.match(text, position):
        if not (plural or following["dash"] or following["panels"]):
            return
        number = following["number"].upper()
        start, position = following.start("number"), following.end()
        reach = _between(last, number) if following["dash"] else []
        yield from ((member, start, position) for member in reach or [number])
        last = number


def _name(found: re.Match[str]) -> str:
    name = _NAMES[(found["kind"] or found["word"]).lower()]
    return f"Extended Data {name}" if (found["before"] or "").lower().startswith("ext") else name


def _first_number(found: re.Match[str]) -> str:
    number: str = (found["own"] or found["number"] or found["roman"]).upper()
    supplementary = (found["before"] or "").lower().startswith("sup")
    return f"S{number}" if supplementary and number[0].isdigit() else number


def _between(first: str, last: str) -> list[str]:
    """The numbers after the first up to the last; none when they make no sensible range."""
    letters = first.rstrip("0123456789")
    beginning, end = first[len(letters) :], last.removeprefix(letters)
    if not (beginning.isdigit() and end.isdigit()) or not 0 < int(end) - int(beginning) <= _MOST_OF_A_RANGE:
        return []
    return [f"{letters}{number}" for number in range(int(beginning) + 1, int(end) + 1)]
