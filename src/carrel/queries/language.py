"""The language of a few words. A classifier of languages needs a second to load, which no query has."""

from __future__ import annotations

import re

_SCRIPTS = {
    "ja": r"[\u3040-\u30ff]",
    "ko": r"[\uac00-\ud7af\u1100-\u11ff]",
    "zh": r"[\u3400-\u9fff\uf900-\ufaff]",
    "ru": r"[\u0400-\u04ff]",
    "el": r"[\u0370-\u03ff]{2}",
    "he": r"[\u0590-\u05ff]",
    "ar": r"[\u0600-\u06ff]",
    "hi": r"[\u0900-\u097f]",
    "th": r"[\u0e00-\u0e7f]",
}
"""Japanese goes before Chinese, whose characters it uses; one Greek letter is a formula's."""
_SMALL_WORDS = {
    "en": "the of and to in is are for with on by from what how does do which that an be as at or can when why no",
    "de": "der die das und ist sind mit von für wie was welche ein eine auf bei zu im nicht durch den dem wird werden",
    "fr": "le la les des et est sont pour avec sur par dans que quel quelle une un du au aux comment ne pas ce",
    "es": "el la los las de es son para con por en que cual una un del como se no al cómo qué",
    "it": "il lo gli della delle sono per con su da nel che quale una un di come si non dei",
    "pt": "os as da do das dos são para com por em que qual uma um como se não ao na no",
    "nl": "de het een en is zijn voor met op van door in dat welke wat hoe niet bij wordt worden",
}
_SETS = {code: frozenset(words.split()) for code, words in _SMALL_WORDS.items()}
_ENOUGH = 2
_MOSTLY = 0.25
"""Of the letters: a character of Chinese says as much as four of English."""
_WORD = re.compile(r"[^\W\d_]+")


def by_script(text: str) -> str:
    """The code of a language that much of a text is written in and that does not use the Latin script; else empty."""
    letters = sum(map(str.isalpha, text))
    for code, script in _SCRIPTS.items():
        found = sum(map(len, re.findall(script, text)))
        if found and found >= _MOSTLY * letters:
            return code
    return ""


def of(text: str) -> str:
    """A two-letter code: by script, else by the small words; English when too little speaks for another."""
    for code, script in _SCRIPTS.items():
        if re.search(script, text):
            return code
    words = _WORD.findall(text.casefold())
    found = {code: sum(word in small for word in words) for code, small in _SETS.items()}
    # The first of equals, which is English.
    best = max(found, key=lambda code: found[code])
    return best if found[best] >= _ENOUGH else "en"
