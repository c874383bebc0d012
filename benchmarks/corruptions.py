"""Sentences changed so that they say something else, or the same: what a check of statements has to tell apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.claims.wording import SMALL

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")
_UNIT = re.compile(r"(?<=\d)( ?)(%|mg|µg|kg|g|ml|mm|cm|nm|years?|months?|weeks?|days?|hours?|minutes?|fold)(?!\w)")
_OTHER_UNIT = {"%": "mg", "mg": "g", "µg": "mg", "kg": "g", "g": "kg", "ml": "l", "mm": "cm", "cm": "mm", "nm": "mm"}
_OTHER_TIME = ["years", "months", "weeks", "days", "hours", "minutes"]
_VERB = re.compile(r"\b(is|are|was|were|can|could|may|does|did|has|have|had|will|would)\b(?! not)")
_DENIAL = re.compile(r"\b(is|are|was|were|can|could|may|does|did|has|have|had|will|would) not\b|\b[Nn]o (?=\w)")
_TURNED = {
    "increased": "decreased", "increase": "decrease", "increases": "decreases", "higher": "lower", "more": "less",
    "greater": "smaller", "improved": "worsened", "improves": "worsens", "reduced": "raised", "reduces": "raises",
    "inhibits": "activates", "inhibited": "activated", "promotes": "prevents", "before": "after", "with": "without",
    "positive": "negative", "better": "worse", "upregulated": "downregulated", "dependent": "independent",
    "enhanced": "impaired", "significantly": "insignificantly", "early": "late", "longer": "shorter",
}  # fmt: skip
_TURNED |= {other: word for word, other in _TURNED.items()}
_DIRECTION = re.compile(rf"\b({'|'.join(_TURNED)})\b")
_NAME = re.compile(r"(?<=[a-z,] )(?:[A-Z][\w-]*[A-Z0-9][\w-]*|[A-Z][a-z]{3,}\w*)")
_COMPARED = re.compile(r"\b(\w{4,}) (than|versus|compared with|compared to) (\w{4,})\b")
_ASIDE = re.compile(r"\s*\([^()]*\)|\s*\[[^\[\]]*\]")
_OPENING = re.compile(r"^(?:[A-Z]{4,}:? |(?:\w+ ){0,3}\w+, )(?=\w{2})")


def number(sentence: str, chance: random.Random, names: Sequence[str]) -> str:
    def other(match: re.Match[str]) -> str:
        place = chance.choice([i for i, digit in enumerate(match[0]) if digit.isdigit()])
        digit = chance.choice([digit for digit in "123456789" if digit != match[0][place]])
        return match[0][:place] + digit + match[0][place + 1 :]

    return _one(_NUMBER, sentence, chance, other)


def unit(sentence: str, chance: random.Random, names: Sequence[str]) -> str:
    def other(match: re.Match[str]) -> str:
        times = [time for time in _OTHER_TIME if time.rstrip("s") != match[2].rstrip("s")]
        return match[1] + (_OTHER_UNIT.get(match[2]) or chance.choice(times))

    return _one(_UNIT, sentence, chance, other)


def denied(sentence: str, chance: random.Random, names: Sequence[str]) -> str:
    return _one(_VERB, sentence, chance, lambda match: f"{match[0]} not")


def affirmed(sentence: str, chance: random.Random, names: Sequence[str]) -> str:
    return _one(_DENIAL, sentence, chance, lambda match: match[1] or "")


def direction(sentence: str, chance: random.Random, names: Sequence[str]) -> str:
    return _one(_DIRECTION, sentence, chance, lambda match: _TURNED[match[0]])


def name(sentence: str, chance: random.Random, names: Sequence[str]) -> str:
    others = [other for other in names if other not in sentence]
    return _one(_NAME, sentence, chance, lambda _: chance.choice(others)) if others else sentence


def swapped(sentence: str, chance: random.Random, names: Sequence[str]) -> str:
    """What is compared with what, turned round; two names, where nothing is compared."""
    found = _COMPARED.search(sentence)
    if found and found[1] != found[3]:
        return sentence[: found.start()] + f"{found[3]} {found[2]} {found[1]}" + sentence[found.end() :]
    inside = list(dict.fromkeys(match.group() for match in _NAME.finditer(sentence)))
    if len(inside) < 2:
        return sentence
    one, other = chance.sample(inside, 2)
    pattern = re.compile(rf"(?<!\w)(?:{re.escape(one)}|{re.escape(other)})(?!\w)")
    return pattern.sub(lambda match: other if match.group() == one else one, sentence)


def shortened(sentence: str) -> str:
    """The same without what stands in brackets and without its opening words, as a summary would have it."""
    plain = _ASIDE.sub("", sentence)
    opened = _OPENING.sub("", plain)
    return opened[:1].upper() + opened[1:]


WRONG: dict[str, Callable[[str, random.Random, Sequence[str]], str]] = {
    "number": number,
    "unit": unit,
    "negation added": denied,
    "negation dropped": affirmed,
    "direction": direction,
    "name": name,
    "swapped": swapped,
}


def _one(pattern: re.Pattern[str], sentence: str, chance: random.Random, other: Callable[[re.Match[str]], str]) -> str:
    """The sentence with one match of the pattern changed; as it was if there is none."""
    found = list(pattern.finditer(sentence))
    if not found:
        return sentence
    match = chance.choice(found)
    return sentence[: match.start()] + other(match) + sentence[match.end() :]


def names_in(sentences: Sequence[str]) -> list[str]:
    found = {match.group() for sentence in sentences for match in _NAME.finditer(sentence)}
    return sorted(name for name in found if name.lower() not in SMALL)
