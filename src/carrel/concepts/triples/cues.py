"""The words by which a sentence may state how two things stand to each other.

A cue stands between two noun phrases. `turned` ones name the object before the subject, as in "Y such as X". How far
each can be believed is learned (`carrel.concepts.triples.belief`). Those of which there was little or nothing to learn
from have a confidence here, and count only in the plainest of statements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from carrel.types import Predicate

USES, PART_OF, EXAMPLE_OF = Predicate.USES, Predicate.PART_OF, Predicate.EXAMPLE_OF
COMPARED_TO, IMPLEMENTS = Predicate.COMPARED_TO, Predicate.IMPLEMENTS
PREREQUISITE, RELATED_TO = Predicate.PREREQUISITE, Predicate.RELATED_TO


class Left(Enum):
    """What usually stands between a cue and the noun phrase before it."""

    TIGHT = auto()
    COMMA = auto()
    APART = auto()
    """A comma, and nothing else."""
    VERB = auto()
    """As in "which is often"."""


@dataclass(frozen=True, slots=True)
class Cue:
    name: str
    predicate: Predicate
    first: tuple[str, ...]
    """The words it may begin with."""
    rest: re.Pattern[str]
    """What follows the first word."""
    left: Left = Left.VERB
    turned: bool = False
    listed: bool = True
    """Whether what stands behind it may be several things."""
    confidence: float | None = None


def _cue(
    name: str,
    predicate: Predicate,
    first: str,
    rest: str = "",
    left: Left = Left.VERB,
    *,
    turned: bool = False,
    listed: bool = True,
    confidence: float | None = None,
) -> Cue:
    pattern = re.compile(rest + _B, re.IGNORECASE)
    return Cue(name, predicate, tuple(first.split()), pattern, left, turned, listed, confidence)


_B = r"(?![\w-])"
_S = r"\s+"
_A = rf"{_S}(?:(?:an?|the|one|another){_S})?(?:\w+{_S}){{0,2}}?"
_ING = rf"(?:{_S}(?!(?:string|being|nothing|something)\b)[a-z]{{3,}}ing(?={_S}(?:the|a|an|some|all|any|its|such)\b))?"
_DO = (
    "(?:solve|compute|find|detect|estimate|learn|build|construct|produce|generate|improve|identify|train|extract|"
    "recognize|recognise|predict|answer|perform|obtain|determine|evaluate|handle|model|represent|parse|translate|"
    "classify|segment|track|select|reduce|optimize|optimise|maximize|minimize|infer|recover|reconstruct|guide|"
    "resolve|rank|retrieve|measure|describe|calculate|check|count|speed up|process|support|implement|enhance|"
    "facilitate|test|discover|acquire|capture|analyze|analyse|control|combine|integrate|create|induce|derive)"
)
_USE = "uses use employs employ utilizes utilize utilises utilise leverages leverage adopts adopt applies apply"
_USING = "using employing utilizing utilising exploiting leveraging applying"
_MADE = "designed developed proposed introduced presented intended devised"
_USEFUL = "used useful suitable employed needed necessary essential"
_USED = (
    "used applied employed utilized utilised helps help helped proposed designed developed able needed required "
    "suitable useful"
)
_WAY_TO = "|".join(f"(?<={way} to)" for way in ("approach", "approaches", "solution", "solutions", "method", "methods"))
_CONSIST = "consists consist consisting composed comprised"
_PART = "(?:part|component|subset|element|member|subfield|ingredient|module|step)s?"
_KIND = rf"(?:kind|type|sort|special{_S}case|variant|version|instance|example|form|particular{_S}case)"
_BETTER = (
    "faster slower better worse simpler easier larger smaller higher lower stronger weaker shorter longer superior "
    "inferior than"
)
_KNOWING = "(?:knowledge|understanding|familiarity|experience)"
_FURTHER = "(?:extension|modification|generali[sz]ation|improvement)"

CUES = (
    _cue("uses", USES, _USE, rf"(?:{_S}both)?"),
    _cue("relies", USES, "relies rely relying depends", rf"(?:{_S}(?:heavily|mainly|only|solely))?{_S}(?:up)?on"),
    _cue("based", USES, "based", rf"(?:{_S}(?:solely|only|mainly|purely))?{_S}(?:up)?on"),
    _cue("using", USES, _USING, left=Left.TIGHT),
    _cue("via", USES, "via through", left=Left.TIGHT),
    _cue("by means", USES, "by with through", rf"{_S}(?:means|(?:the{_S})?(?:help|aid|use)){_S}of", Left.TIGHT),
    _cue("makes use", USES, "makes make takes take making taking", rf"{_S}(?:use|advantage){_S}of"),
    _cue("trained", USES, "trained", rf"{_S}(?:on|with|from)"),
    _cue("used for", USES, _USEFUL, rf"{_S}(?:for|in){_ING}", turned=True),
    _cue("made for", USES, _MADE, rf"{_S}for{_ING}", turned=True),
    _cue("used to", USES, _USED, rf"{_S}to{_S}{_DO}", turned=True),
    _cue("applied to", USES, "applied applicable", rf"{_S}to(?!{_S}{_DO}\b)", turned=True),
    _cue("for", USES, "for", _ING, Left.TIGHT, turned=True),
    _cue("to", USES, "to", rf"(?:{_WAY_TO})", Left.TIGHT, turned=True),
    _cue("to verb", USES, "to", rf"{_S}{_DO}", Left.TIGHT, turned=True),
    _cue("part of", PART_OF, "is are as", rf"{_A}{_PART}{_S}of", confidence=0.75),
    _cue("within", PART_OF, "contained included integrated incorporated", rf"{_S}in(?:to)?", confidence=0.55),
    _cue("belongs", PART_OF, "belongs belong belonging", rf"{_S}to", confidence=0.6),
    _cue("consists", PART_OF, _CONSIST, rf"{_S}of", turned=True, confidence=0.65),
    _cue("made up", PART_OF, "made", rf"{_S}(?:up{_S})?of", turned=True, confidence=0.55),
    _cue("kind of", EXAMPLE_OF, "is are", rf"{_A}{_KIND}{_S}of", listed=False),
    _cue("is a", EXAMPLE_OF, "is are", rf"{_S}(?:an?|another|one{_S}of{_S}the)", listed=False),
    _cue("such as", EXAMPLE_OF, "such", rf"{_S}as", Left.COMMA, turned=True),
    _cue("including", EXAMPLE_OF, "including especially particularly", left=Left.COMMA, turned=True),
    _cue("like", EXAMPLE_OF, "like", left=Left.COMMA, turned=True),
    _cue("e.g.", EXAMPLE_OF, "e.g", r"\.?,?", Left.COMMA, turned=True),
    _cue("for example", EXAMPLE_OF, "for", rf"{_S}(?:example|instance),?", Left.COMMA, turned=True),
    _cue("called", EXAMPLE_OF, "called named termed dubbed", rf"(?!{_S}entit)", Left.COMMA, turned=True, listed=False),
    _cue("apposition", EXAMPLE_OF, "a an", left=Left.APART, listed=False),
    _cue("namely", EXAMPLE_OF, "namely", ",?", Left.COMMA, turned=True),
    _cue("and other", EXAMPLE_OF, "and or", rf"{_S}(?:other|similar|related)", Left.COMMA, listed=False),
    _cue("compared", COMPARED_TO, "compared comparable", rf"{_S}(?:to|with|against)"),
    _cue("versus", COMPARED_TO, "versus vs", r"\.?"),
    _cue("outperforms", COMPARED_TO, "outperforms outperform outperformed outperforming surpasses beats"),
    _cue("than", COMPARED_TO, _BETTER, rf"(?:{_S}(?:\w+{_S}){{0,3}}?than|{_S}to)?"),
    _cue("more than", COMPARED_TO, "more less", rf"{_S}\w+{_S}than"),
    _cue("contrast", COMPARED_TO, "in as", rf"{_S}(?:contrast|comparison|opposition|opposed){_S}(?:to|with)"),
    _cue("differs", COMPARED_TO, "differs differ different", rf"{_S}from"),
    _cue("implements", IMPLEMENTS, "implements", confidence=0.7),
    _cue("implementation", IMPLEMENTS, "is", rf"{_A}implementation{_S}of", listed=False, confidence=0.8),
    _cue(
        "knowledge",
        PREREQUISITE,
        "requires require assumes assume needs",
        rf"{_S}(?:\w+{_S}){{0,2}}?{_KNOWING}{_S}(?:of|with|about|in)",
        turned=True,
        confidence=0.8,
    ),
    _cue("prerequisite", PREREQUISITE, "is are", rf"{_A}prerequisites?{_S}(?:for|of|to)", confidence=0.9),
    _cue("builds on", PREREQUISITE, "builds build building", rf"{_S}(?:up)?on", turned=True, confidence=0.7),
    _cue("extends", PREREQUISITE, "extends generalizes generalises", turned=True, confidence=0.6),
    _cue("extension", PREREQUISITE, "is", rf"{_A}{_FURTHER}{_S}(?:of|to)", turned=True, confidence=0.6),
    _cue("related", RELATED_TO, "related similar analogous equivalent akin", rf"{_S}to", confidence=0.7),
    _cue("resembles", RELATED_TO, "resembles", confidence=0.7),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A cue that stands before both of what it is said of, as in "the difference between X and Y"."""

    name: str
    predicate: Predicate
    first: tuple[str, ...]
    rest: re.Pattern[str]
    middle: re.Pattern[str]
    """What stands between the two."""
    turned: bool
    confidence: float


def _pair(
    name: str,
    predicate: Predicate,
    first: str,
    rest: str,
    middle: str,
    *,
    turned: bool = False,
    confidence: float,
) -> Pair:
    between = re.compile(rf"\s*{middle}\s*(?:(?:the|an?|our|its)\s+)?", re.IGNORECASE)
    behind = re.compile(rest + _B, re.IGNORECASE)
    return Pair(name, predicate, tuple(first.split()), behind, between, turned, confidence)


_COMPARE = "difference differences comparison comparisons trade-off compare comparing compares"
_ALIKE = "relation relationship connection link similarity correspondence equivalence analogy"
_STUDY = f"{_S}(?:understand|understanding|reading|studying|learning)"
_MUST = (
    rf",?\s*(?:you|one|we|the{_S}reader)?\s*(?:must|should|needs?|have|has)(?:{_S}to)?(?:{_S}first)?"
    rf"(?:{_S}(?:know|understand|learn|read|be{_S}familiar{_S}with))?(?:{_S}about)?{_B}"
)

PAIRS = (
    _pair(
        "difference", COMPARED_TO, _COMPARE, rf"(?:{_S}(?:between|of))?", rf"(?:and|with|versus|to){_B}", confidence=0.6
    ),
    _pair("unlike", COMPARED_TO, "unlike", "", ",", confidence=0.6),
    _pair("compared to", COMPARED_TO, "compared", rf"{_S}(?:to|with)", ",", confidence=0.6),
    _pair("in contrast to", COMPARED_TO, "in", rf"{_S}(?:contrast|comparison){_S}(?:to|with)", ",", confidence=0.6),
    _pair("relation", RELATED_TO, _ALIKE, rf"{_S}between", rf"and{_B}", confidence=0.7),
    _pair("to understand", PREREQUISITE, "to before", _STUDY, _MUST, turned=True, confidence=0.8),
)

BY_FIRST_WORD: dict[str, tuple[Cue, ...]] = {
    word: tuple(cue for cue in CUES if word in cue.first) for word in {word for cue in CUES for word in cue.first}
}
PAIRS_BY_FIRST_WORD: dict[str, tuple[Pair, ...]] = {
    word: tuple(pair for pair in PAIRS if word in pair.first)
    for word in {word for pair in PAIRS for word in pair.first}
}
