"""Texts without their mark-up, each character where it was."""

from __future__ import annotations

import re

HIDDEN = "\N{REPLACEMENT CHARACTER}"
"""Stands for every character of a formula: it is no word, and no blank either."""
_FORMULA = re.compile(r"\$\$[^$]*\$\$|\$[^$\n]*\$|\\\([^\n]*?\\\)")
_BLANKED = re.compile(
    r"!\[[^\[\]\n]*\]\([^()\n]*\)"  # a picture
    r"|\[\^?\d[\d,;\s–-]{0,40}\](?!\()"  # a citation, [3, 5–7]
    r"|\]\((?:<[^<>\n]*>|[^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)"  # a link's target
    r"|</?[A-Za-z][^<>\n]*>"
    r"|\([A-Z][A-Za-z]{0,8}[A-Z]s?\)"  # (BFS), behind what it stands for
    r"|\((?:e\.g\.,? )?[^()\n]{2,60}?(?:19|20)\d\d[a-z]?\)"  # (Smith et al., 2010)
    r"|[\[\]`\s]|\*\*|(?<!\b[A-Z])\*|\*(?=\w)|(?<!\w)_|_(?!\w)"  # but A* stays
)


def plain(text: str) -> str:
    hidden = _FORMULA.sub(lambda formula: HIDDEN * len(formula.group()), text)
    return _BLANKED.sub(lambda markup: " " * len(markup.group()), hidden)
