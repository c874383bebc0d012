"""Follow-up questions made whole: what an earlier question was about is added to one that cannot stand alone.

No model is asked. A question depends on an earlier one if it points back ("it", "these", "the latter"), goes on with it
("and in mice?", "what about BM25?"), or names nothing of its own ("why?", "what were the results?").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput
from carrel.words import stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.catalogs.conversations import Turn

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_LONGEST = 40
"""Words. Who writes more has said what is meant; an earlier question is looked at no further."""
_MOST_TERMS = 10
_MOST_NAMES = 3
_FAR_BACK = 20
"""Turns: nobody points further back."""
_LONGEST_NAME = 100
_SHORT = 4
_FEW = 2
_BRIEF = 8
_MUCH = 7
"""Words of its own: a question that has so many stands alone, unless it begins as one that goes on."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ASKING = _set("what which who whom whose when where why how")
_HELPING = _set(
    "am is are was were be been do does did has have had can could may might must shall should will would isn't aren't "
    "wasn't weren't don't doesn't didn't hasn't haven't can't couldn't won't wouldn't"
)
_LEADING = _set(
    "about against among as at before after by during for from in into like of on over than through to toward towards "
    "under versus via vs with within without"
)
_SMALL = (
    _ASKING
    | _HELPING
    | _LEADING
    | _set(
        """
        a across all also although an and another any anything are because being best better between both but cannot
        compared comparing each either else even ever every few get give go given good he hence her here hers him his
        however i if instead it its itself just less let like made make many me mean means more most much my need
        neither no none nor not now off one ones only or other others our out own per please possible quite really same
        say says see she show so some something still such tell that the their theirs them themselves then there these
        they thing things this those though thus too true up us use used uses using very way ways we well whether while
        whole worse yes yet you your
        """
    )
)
"""Words that every question may have, whatever it is about."""
_RELATIONAL = """
    accuracy advantage alternative answer application approach argument assumption author baseline benefit case
    cause comparison complexity conclusion condition consequence cost data dataset definition detail difference
    disadvantage discussion dose downside drawback effect estimate evaluation evidence example experiment
    explanation figure finding goal idea implementation implication importance improvement intuition issue key
    limit limitation main meaning measure mechanism method metric model number objective outcome paper parameter
    part participant people performance point problem procedure process proof property purpose quality reason
    recommendation reference report result risk role runtime sample score section setting setup significance side
    size solution source speed statement step strength study summary support table task technique test theory time
    title trial type usage value variant version weakness work year
    apply assess become big calculate change cheap choose chosen collect compare compute conduct consistent correct
    define depend describe design detect determine differ different evaluate exact exist explain fail fast find fit
    found gain great happen help hold important improve include increase interpret large obtain occur perform
    practical prove published rate recent reduce relate relevant reliable report require robust safe significant
    similar slow small solve strong take train try useful valid verify weak write wrote
    """
"""Words that say something of a thing without naming it: a question of these alone is about the thing spoken of."""
_PRONOUNS = _set("it its they them their theirs he him his she her hers")
_BEFORE_THAT = _HELPING | _ASKING | _LEADING | {"", "and", "or"}
"""Where `that` means something; behind a noun or an adjective it begins a clause."""
_KINDS = _set(
    """
    algorithm approach architecture author authors compound cohort device disease disorder drug dataset enzyme
    experiment framework gene intervention method model molecule paper participants patients procedure protein results
    strategy study system technique theory therapy tool treatment trial vaccine virus
    """
)
"""What a thing may be called once it has been named."""
_GOING_ON = re.compile(
    r"(?:and|but|or|so|then|also|what about|how about|what else|why not|what if|how so|how come|in that case|if so"
    r"|if not|for example|such as|same for|more about|tell me more|go on|really)\b"
)
_GOING_BACK = re.compile(
    r"\bthe (?:former|latter|others|previous|earlier|above|(?:first|second|third|last) one)\b"
    r"|\bwhich ones?\b|\b(?:too|as well|instead|otherwise|either|then|though)$"
    r"|\b(?:what|who|where|anything|anyone|which) else\b"
)
_NOBODY = re.compile(
    r"\b(?:is|was|be|would|does|did) it (?:\w+ ){0,2}?(?:true|possible|known|likely|necessary|better|best|important"
    r"|safe|useful|worth|clear|common|feasible|reasonable|cost-effective|beneficial|time|take|cost|matter)\b"
    r"(?: (?:that|to|for|whether|if|how|which|long|much|more)\b| \w+ing\b)"
    r"|\b(?:(?:is|was) it|it (?:is|was)) (?:\w+ ){1,3}that\b|\bit (?:takes?|took|seems?|appears?|turns? out)\b"
)
"""An `it` that stands for nothing."""
_DEFINING = re.compile(r"(?:what|who) (?:is|are|was|were) (?:an? )?[^\W_]+(?: [^\W_]+)?|define [^\W_]+")
_FOR_A_THING = re.compile(r"(?:which|who|what (?!is|are|was|were|does|do|did|happens))")


def checked_name(name: str) -> str:
    """A name that a session can have: a line of a hundred characters at most, none of them unseen."""
    if not name.strip() or name != name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidInput(
            f"{name[:_LONGEST_NAME]!r} cannot be a session's name",
            hint=f"Take 1 to {_LONGEST_NAME} characters that can be seen, without blanks around them.",
        )
    return name


def standalone(question: str, earlier: Sequence[Turn]) -> str:
    """The question as it can be searched for: with what earlier ones were about, if it depends on them."""
    said = _Said(question)
    if not said.depends:
        return question
    terms = _terms(said, list(reversed(earlier[-_FAR_BACK:])))
    return f"{question.strip()} ({' '.join(terms)})" if terms else question


def depends(question: str) -> bool:
    """Whether a question can be understood only by those before it."""
    return _Said(question).depends


def subjects(question: str) -> list[str]:
    """The words that say what a question is about, as they are written."""
    return _Said(question).words_of_its_own


def _terms(said: _Said, latest_first: Sequence[Turn]) -> list[str]:
    """What was spoken of, back to the last question that stood alone."""
    terms: list[str] = []
    for number, turn in enumerate(latest_first):
        before = _Said(turn.question)
        terms += before.words_of_its_own if said.content else before.content
        if not number and _FOR_A_THING.match(before.text):
            terms += _names(turn.answer)
        if not before.depends:
            break
    known = set(said.stems)
    fresh = {stem: word for word in reversed(terms) if (stem := _stem(word)) not in known}
    return list(reversed(fresh.values()))[:_MOST_TERMS]


def _names(answer: str) -> list[str]:
    """What an answer calls by name: words with a capital or a number inside of its first sentence."""
    words = _WORD.findall(answer.split("[", 1)[0])[:_LONGEST]
    named = [word for before, word in pairwise(words) if not word.islower() and before not in {".", "!"}]
    return [word for word in dict.fromkeys(named) if word.lower() not in _SMALL and not word.isdigit()][:_MOST_NAMES]


@dataclass(frozen=True)
class _Said:
    """A question as words."""

    question: str

    @cached_property
    def written(self) -> list[str]:
        return _WORD.findall(self.question)[: _LONGEST + 1]

    @cached_property
    def words(self) -> list[str]:
        return [word.lower().replace("’", "'").removesuffix("'s") for word in self.written]

    @cached_property
    def text(self) -> str:
        return " ".join(self.words)

    @cached_property
    def content(self) -> list[str]:
        """The words that say what it is about, as they were written."""
        return [shown for shown, word in zip(self.written, self.words, strict=True) if word not in _SMALL]

    @cached_property
    def words_of_its_own(self) -> list[str]:
        """Those of them that name something; where none does, all."""
        return [word for word in self.content if not _is_relational(word)] or self.content

    @cached_property
    def stems(self) -> list[str]:
        return [_stem(word) for word in self.words]

    @property
    def names_something(self) -> bool:
        return any(not _is_relational(word) for word in self.content)

    @property
    def depends(self) -> bool:
        if _GOING_ON.match(self.text) and len(self.words) <= _LONGEST:
            return True
        if any(self._points_back(place) for place in range(len(self.words))):
            return True
        says_much = self.names_something and len(self.words_of_its_own) >= _MUCH
        return not says_much and bool(_GOING_BACK.search(self.text) or self._is_fragment or self._names_nothing)

    @property
    def _is_fragment(self) -> bool:
        """As `In mice?`, `Only for adults?`"""
        asks = any(word in _ASKING or word in _HELPING for word in self.words)
        first = next(iter(self.words), "") if len(self.words) <= _SHORT else ""
        return not asks and (first in _LEADING or first in {"only", "even", "not"})

    @property
    def _names_nothing(self) -> bool:
        if self.names_something or not self.words or self.words == self.content:
            return False
        # Who asks what evaluation is means evaluation; who asks what the result is means another's.
        return not (self.content and ("the" not in self.words) and _DEFINING.fullmatch(self.text))

    def _points_back(self, place: int) -> bool:
        before, word, after = ["", *self.words, ""][place : place + 3]
        if word in _PRONOUNS:
            means_another = self._is_first(place) or before == "than" or self._is_asked_of(place)
            return means_another and not _NOBODY.search(self.text)
        if word in {"this", "these"}:
            return self._is_first(place) or len(self.words) <= _BRIEF
        if word == "that":
            means_a_thing = before in _BEFORE_THAT and after not in _LEADING | {"which", "who"}
            return means_a_thing and (self._is_first(place) or len(self.words) <= _BRIEF)
        if word == "the" and after in _KINDS:
            return self._stands_bare(place + 1)
        if (word == "the" and after in {"same", "other", "rest"}) or word in {"those", "such"}:
            return self._is_first(place) and after not in _LEADING | _ASKING | {"that"}
        return False

    def _is_asked_of(self, place: int) -> bool:
        """As in `how dark is it`, `which diseases does it cause`: what comes before is asked of it."""
        verb, before = self.words[place - 1], self.words[: place - 1]
        named = sum(word not in _SMALL for word in before)
        return verb in _HELPING and before[:1] in (["how"], ["what"], ["which"]) and named <= _FEW

    def _is_first(self, place: int) -> bool:
        """Whether nothing is named before this that it could mean."""
        return all(word in _SMALL or _is_relational(word) for word in self.words[:place])

    def _stands_bare(self, place: int) -> bool:
        """Whether a thing is called by its kind alone, as what the question is about: `does the drug help`."""
        rest = self.written[place + 1 : place + 2]
        named = any(word in _LEADING or word in {"that", "which", "called", "between"} for word in map(str.lower, rest))
        named = named or any(not (word.islower() and word.isalpha()) for word in rest)
        return not named and all(word in _SMALL for word in self.words[: place - 1])


def _stem(word: str) -> str:
    return " ".join(stems(word))


def _is_relational(word: str) -> bool:
    return _stem(word) in _relational()


@cache
def _relational() -> frozenset[str]:
    return frozenset(stems(_RELATIONAL))
