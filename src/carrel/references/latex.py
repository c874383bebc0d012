"""LaTeX as bibliographies have it, decoded to the characters it means; formulas stay as they are."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323", "c": "\u0327", "k": "\u0328",
    "b": "\u0331", "t": "\u0361", "textcommabelow": "\u0326", "ocirc": "\u030a", "ogonek": "\u0328",
}  # fmt: skip
_LETTERS = {
    "i": "ı", "j": "ȷ", "l": "ł", "L": "Ł", "o": "ø", "O": "Ø", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "ss": "ß", "SS": "SS", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ",
    "ng": "ŋ", "NG": "Ŋ", "ij": "ĳ", "IJ": "Ĳ",
}  # fmt: skip
_SYMBOLS = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textasciigrave": "`", "textbar": "|",
    "textless": "<", "textgreater": ">", "textunderscore": "_", "textdollar": "$", "textbraceleft": "{",
    "textbraceright": "}", "textquotesingle": "'", "textquotedbl": '"', "textquoteleft": "‘", "textquoteright": "’",
    "textquotedblleft": "“", "textquotedblright": "”", "guillemotleft": "«", "guillemotright": "»",
    "guilsinglleft": "‹", "guilsinglright": "›", "quotedblbase": "„", "quotesinglbase": "‚", "glqq": "„", "grqq": "“",
    "flqq": "«", "frqq": "»", "textendash": "–", "textemdash": "—", "ldots": "…", "dots": "…", "textellipsis": "…",
    "slash": "/", "S": "§", "textsection": "§", "P": "¶", "dag": "†", "ddag": "‡", "copyright": "©",
    "textcopyright": "©", "textregistered": "®", "texttrademark": "™", "pounds": "£", "textsterling": "£",
    "texteuro": "€", "euro": "€", "textyen": "¥", "textcent": "¢", "textdegree": "°", "degree": "°", "textmu": "µ",
    "textpm": "±", "pm": "±", "times": "×", "texttimes": "×", "div": "÷", "cdot": "·", "textperiodcentered": "·",
    "textbullet": "•", "bullet": "•", "neg": "¬", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "neq": "≠",
    "equiv": "≡", "approx": "≈", "sim": "∼", "infty": "∞", "langle": "⟨", "rangle": "⟩", "rightarrow": "→",
    "to": "→", "leftarrow": "←", "textrightarrow": "→", "Box": "□", "Diamond": "◇", "circ": "∘", "prime": "′",
    "textonehalf": "½", "textonequarter": "¼", "textordfeminine": "ª", "textordmasculine": "º",
    "textexclamdown": "¡", "textquestiondown": "¿", "TeX": "TeX", "LaTeX": "LaTeX", "BibTeX": "BibTeX",
    "LaTeXe": "LaTeX2e", "quad": " ", "qquad": " ", "space": " ", "newline": " ", "linebreak": " ", "par": "\n\n",
    "backslash": "\\", "less": "<", "greater": ">", "lbrace": "{", "rbrace": "}", "dash": "–", "textnumero": "№",
    "minus": "−", "bibrangedash": "–", "textthreequarters": "¾",
}  # fmt: skip
# What the Astrophysics Data System writes for the journals it knows.
_JOURNALS = {
    "aap": "Astronomy and Astrophysics", "aaps": "Astronomy and Astrophysics Supplement", "aj": "Astronomical Journal",
    "aapr": "Astronomy and Astrophysics Reviews", "apj": "Astrophysical Journal",
    "apjl": "Astrophysical Journal Letters", "apjs": "Astrophysical Journal Supplement",
    "apss": "Astrophysics and Space Science", "araa": "Annual Review of Astronomy and Astrophysics",
    "icarus": "Icarus", "jcap": "Journal of Cosmology and Astroparticle Physics",
    "jgr": "Journal of Geophysical Research", "mnras": "Monthly Notices of the Royal Astronomical Society",
    "nat": "Nature", "pasj": "Publications of the Astronomical Society of Japan", "planss": "Planetary Space Science",
    "pasp": "Publications of the Astronomical Society of the Pacific", "physrep": "Physics Reports",
    "pra": "Physical Review A", "prb": "Physical Review B", "prc": "Physical Review C", "prd": "Physical Review D",
    "pre": "Physical Review E", "prl": "Physical Review Letters", "rmp": "Reviews of Modern Physics",
    "solphys": "Solar Physics", "ssr": "Space Science Reviews",
}  # fmt: skip
_GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
)  # fmt: skip


def _greek(name: str, case: str) -> str:
    return unicodedata.lookup(f"GREEK {case} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}")


_WORDS = {
    **{name: _greek(name, "SMALL") for name in _GREEK},
    **{name.capitalize(): _greek(name, "CAPITAL") for name in _GREEK},
    **_JOURNALS,
    **_SYMBOLS,
    **_LETTERS,
}
_CHARACTERS = {
    "\\": " ", ",": " ", ";": " ", ":": " ", " ": " ", "\n": " ", "\t": " ", ">": " ", "-": "", "/": "", "!": "",
    "@": "", "+": "",
}  # fmt: skip
_QUOTING = {"enquote": ("“", "”"), "mkbibquote": ("“", "”"), "ensuremath": ("$", "$")}
_LEAVING_OUT = {"href": 1, "textcolor": 1, "colorbox": 1, "discretionary": 3, "hspace": 1, "vspace": 1, "label": 1}
_SILENT = frozenset(
    [
        "em",
        "it",
        "sl",
        "sc",
        "bf",
        "rm",
        "sf",
        "tt",
        "tiny",
        "small",
        "large",
        "Large",
        "huge",
        "normalfont",
        "itshape",
        "bfseries",
        "scshape",
        "upshape",
        "rmfamily",
        "sffamily",
        "ttfamily",
        "slshape",
        "relax",
        "protect",
        "noindent",
        "ignorespaces",
        "unskip",
        "xspace",
        "allowbreak",
        "nobreak",
        "sloppy",
        "left",
        "right",
        "displaystyle",
        "emph",
        "textit",
        "textbf",
        "textrm",
        "textsc",
        "textsf",
        "texttt",
        "textsl",
        "textup",
        "textmd",
        "textnormal",
        "mbox",
        "hbox",
        "makebox",
        "textsubscript",
        "textsuperscript",
        "mkbibemph",
        "mkbibbold",
        "mkbibitalic",
        "mathrm",
        "mathit",
        "mathbf",
        "text",
        "uppercase",
        "lowercase",
        "MakeUppercase",
        "underline",
        "overline",
        "NoCaseChange",
        "BibUpper",
        "verb",
        "symbol",
    ]
)
_DEEPEST = 100

_TOKEN = re.compile(
    # Bounded and possessive: text without an end to its formula must not be scanned again and again.
    r"(?P<math>\$[^$\\]*+(?:\\.[^$\\]*+)*+\$|\\\((?:[^\\]|\\[^()]){0,2000}+\\\))"
    r"|\\(?:url|path|nolinkurl)\s*\{(?P<verbatim>[^{}]*)\}"
    r"|\\symbol\s*\{(?P<code>\d{1,6})\}"
    r"|\\(?P<word>[a-zA-Z]+)\*?(?P<gap>\s*)"
    r"|\\(?P<character>.)"
    r"|(?P<open>\{)|(?P<close>\})"
    r"|(?P<ligature>---?|``|''|~|[?!]`)"
    r"|(?P<space>\s+)"
    r"|(?P<text>[^\\${}~\-`'?!\s]+|.)",
    re.DOTALL,
)
_LIGATURES = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " ", "?`": "¿", "!`": "¡"}
_PLAIN = re.compile(r"[^\\${}~\-`']*")


class _Awaited(NamedTuple):
    """What a command does with the piece that follows it."""

    accent: str = ""
    before: str = ""
    after: str = ""
    left_out: int = 0
    name: str = ""


class _Group:
    """The text of one pair of braces, and the commands that wait for their argument in it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.awaited: list[_Awaited] = []

    def put(self, piece: str, *, group: bool = False) -> None:
        while self.awaited:
            command = self.awaited.pop()
            if command.left_out:
                if command.left_out > 1:
                    self.awaited.append(command._replace(left_out=command.left_out - 1))
                return
            if command.name:
                piece = piece if group else f"\\{command.name}{piece}"
            elif command.accent:
                piece = accented(piece, command.accent)
            else:
                piece = f"{command.before}{piece}{command.after}"
        self.parts.append(piece)

    def text(self) -> str:
        """What is in the group; a command whose argument never came is its own name, if it is not known."""
        names = [f"\\{command.name}" for command in self.awaited if command.name]
        return "".join([*self.parts, *names])


def decode(text: str) -> str:
    """The plain text of LaTeX. Formulas stay `$…$`; commands that nobody knows give way to their argument."""
    if _PLAIN.fullmatch(text):
        return text
    groups, ignored = [_Group()], 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "open":
            if len(groups) < _DEEPEST:
                groups.append(_Group())
            else:
                ignored += 1
        elif kind == "close":
            if ignored:
                ignored -= 1
            elif len(groups) > 1:
                piece = groups.pop().text()
                groups[-1].put(piece, group=True)
        else:
            _take(token, groups[-1])
    while len(groups) > 1:
        piece = groups.pop().text()
        groups[-1].put(piece, group=True)
    return groups[0].text()


def accented(piece: str, accent: str) -> str:
    """`o` and a combining diaeresis are one letter; the rest of the piece follows as it is."""
    if not piece.strip():
        return {"\u0303": "~", "\u0302": "^"}.get(accent, "") + piece
    first = {"ı": "i", "ȷ": "j"}.get(piece[0], piece[0])
    return unicodedata.normalize("NFC", first + accent) + piece[1:]


def _take(token: re.Match[str], group: _Group) -> None:
    kind, piece = token.lastgroup, token.group()
    if kind in ("word", "gap"):
        _command(token["word"], token["gap"], group)
    elif kind == "character":
        _control(token["character"], group)
    elif kind == "space":
        # Space between a command and its argument is not the argument.
        if not group.awaited:
            group.put(piece)
    elif kind == "math":
        group.put(f"${piece[2:-2]}$" if piece.startswith("\\") else piece)
    elif kind == "verbatim":
        group.put(token["verbatim"])
    elif kind == "code":
        group.put(chr(min(int(token["code"]), 0x10FFFF)))
    elif kind == "ligature":
        group.put(_LIGATURES[piece])
    else:
        _letters(piece, group)


def _letters(piece: str, group: _Group) -> None:
    """An accent falls on the first letter only."""
    if group.awaited and len(piece) > 1:
        group.put(piece[0])
        piece = piece[1:]
    group.put(piece)


def _control(character: str, group: _Group) -> None:
    if character in _ACCENTS:
        group.awaited.append(_Awaited(accent=_ACCENTS[character]))
    else:
        group.put(_CHARACTERS.get(character, character))


def _command(name: str, gap: str, group: _Group) -> None:
    if name in _ACCENTS:
        group.awaited.append(_Awaited(accent=_ACCENTS[name]))
    elif name in _WORDS:
        group.put(_WORDS[name])
    elif name in _QUOTING:
        before, after = _QUOTING[name]
        group.awaited.append(_Awaited(before=before, after=after))
    elif name in _LEAVING_OUT:
        group.awaited.append(_Awaited(left_out=_LEAVING_OUT[name]))
    elif name not in _SILENT:
        group.awaited.append(_Awaited(name=f"{name}{gap}"))
