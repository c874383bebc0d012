"""What a word of English is when nothing is known of its neighbours, as a letter.

N noun          J adjective      V verb                E participle in -ed    G form in -ing
X name          W weak adjective v noun or verb        A auxiliary            M modal
D determiner    P preposition    C conjunction         B adverb               R pronoun
U number        o of             T to                  d particle of names    K which, who, that
Q possessive    | anything else
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

_LISTS = Path(__file__).with_name("english.txt")
_SECTION = re.compile(r"^\[(.+)\]$", re.MULTILINE)
_CLOSED = {
    "determiners": "D",
    "relatives": "K",
    "numbers": "D",
    "pronouns": "R",
    "prepositions": "P",
    "conjunctions": "C",
    "adverbs": "B",
    "auxiliaries": "A",
    "modals": "M",
}
_OPEN = {"adjectives": "J", "nouns": "N", "past": "E", "finite": "V", "weak": "W"}
_PARTICLES = "al bin da de del della den der di du el ibn la las le los san ten ter van von y zu"
_ADJECTIVE = re.compile(
    r"(?:[a-z]{2,}(?:al|ive|ous|ic|able|ible|ful|less|ical|ish|ular|oid|wise|esque)|[a-z]{4,}(?:ary|ant|ent))$"
)
_NOUN = re.compile(r"(?:ment|tion|sion|ness|ity|ance|ence|ism|ist|ship|hood|ology|er|or|ics|ist|ure|age|cy)s?$")
_REMEMBERED = 65_536


@cache
def section(name: str) -> frozenset[str]:
    return frozenset(_sections()[name].split())


@lru_cache(maxsize=_REMEMBERED)
def tag(word: str) -> str:
    """Of a word in small letters."""
    return _known().get(word) or _by_ending(word)


def is_known(word: str) -> bool:
    return word in _known()


def is_closed(word: str) -> bool:
    """Whether it belongs to the few words that hold sentences together."""
    return _known().get(word, "|") in "DKRPCBAMoT"


@cache
def _sections() -> dict[str, str]:
    parts = _SECTION.split(_LISTS.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def _known() -> dict[str, str]:
    """The lists in one; what stands in several is what the last of them says."""
    found = dict.fromkeys(_PARTICLES.split(), "d")
    for verb in section("verbs"):
        found |= dict.fromkeys((verb, f"{verb}s"), "v") | _forms(verb)
    for verb in section("plain verbs"):
        found |= {verb: "V", _third_person(verb): "V"} | _forms(verb)
    for name, letter in (_OPEN | _CLOSED).items():
        found |= dict.fromkeys(section(name), letter)
    return found | {"of": "o", "to": "T"}


def _third_person(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{verb}s"


def _forms(verb: str) -> dict[str, str]:
    stem = verb.removesuffix("e")
    past = f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{stem}ed"
    return {past: "E", f"{stem}ing": "G", f"{verb}{verb[-1]}ing": "G", f"{verb}{verb[-1]}ed": "E"}


def _by_ending(word: str) -> str:
    if len(word) < 4:
        return "N"
    if word.endswith("ly"):
        return "B"
    if word.endswith("ed") and not word.endswith("eed"):
        return "E"
    if word.endswith("ing"):
        return "G" if len(word) > 5 else "N"
    return "J" if _ADJECTIVE.search(word) and not _NOUN.search(word) else "N"
