"""The words by which a sentence states how two things stand to each other.

A cue stands between two noun phrases. `turned` ones name the object before the subject, as in "Y such as X". The
confidence of each is near its precision on SciERC's training part, less the fewer there are
(`benchmarks/scierc_triples.py --split train --cues`); of the predicates that SciERC does not have, it is a guess.
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
    """What may stand between a cue and the noun phrase before it."""

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
    confidence: float
    left: Left = Left.VERB
    turned: bool = False
    listed: bool = True
    """Whether what stands behind it may be several things."""

    @property
    def loose(self) -> bool:
        """Whether it may belong to something further before: in "the speed of X using Y" it is the speed."""
        return self.left == Left.VERB or self.name in _LOOSE

    @property
    def follows_objects(self) -> bool:
        """Whether it may say how something is done: in "find X using Y" the finding uses Y."""
        return self.name in {"using", "via", "by means", "based", "compared", "than", "more than"}

    @property
    def of_names(self) -> bool:
        """Whether it says something only behind names: "WordNet, a lexical database", not "in this case, a tree"."""
        return self.left == Left.APART

    @property
    def of_means(self) -> bool:
        """Whether it says something only behind what things are done with: "method for", not "time for"."""
        return self.name in _OF_MEANS


_LOOSE = frozenset({"using", "via", "by means", "including", "to verb"})
_OF_MEANS = frozenset({"for", "to", "to verb"})


def _cue(
    name: str, predicate: Predicate, first: str, rest: str, confidence: float, left: Left = Left.VERB, **more: bool
) -> Cue:
    return Cue(name, predicate, tuple(first.split()), re.compile(rest, re.IGNORECASE), confidence, left, **more)


_B = r"(?![\w-])"
_S = r"\s+"
_ING = rf"(?:{_S}(?!(?:string|being|nothing|something)\b)[a-z]{{3,}}ing(?={_S}(?:the|a|an|some|all|any|its|such)\b))?"
_VERB = (
    "solve|compute|find|detect|estimate|learn|build|construct|produce|generate|improve|identify|train|extract|"
    "recognize|recognise|predict|answer|perform|obtain|determine|evaluate|handle|model|represent|parse|translate|"
    "classify|segment|track|select|reduce|optimize|optimise|maximize|minimize|infer|recover|reconstruct|guide|"
    "resolve|rank|retrieve|measure|describe|calculate|check|count|speed up|process|support|implement|enhance|"
    "facilitate|test|discover|acquire|capture|analyze|analyse|control|combine|integrate|create|induce|derive"
)

CUES = (
    _cue(
        "uses",
        USES,
        "uses use employs employ utilizes utilize utilises utilise leverages leverage adopts adopt applies apply",
        rf"(?:{_S}both)?{_B}",
        0.7,
    ),
    _cue(
        "relies", USES, "relies rely relying depends", rf"(?:{_S}(?:heavily|mainly|only|solely))?{_S}(?:up)?on{_B}", 0.7
    ),
    _cue("based", USES, "based", rf"(?:{_S}(?:solely|only|mainly|purely))?{_S}(?:up)?on{_B}", 0.65),
    _cue(
        "using",
        USES,
        "using employing utilizing utilising exploiting leveraging applying",
        rf"{_B}",
        0.5,
        left=Left.TIGHT,
    ),
    _cue("via", USES, "via", rf"{_B}", 0.6, left=Left.TIGHT),
    _cue(
        "by means",
        USES,
        "by with through",
        rf"{_S}(?:means|(?:the{_S})?(?:help|aid|use)){_S}of{_B}",
        0.6,
        left=Left.TIGHT,
    ),
    _cue("makes use", USES, "makes make takes take making taking", rf"{_S}(?:use|advantage){_S}of{_B}", 0.7),
    _cue("trained", USES, "trained", rf"{_S}(?:on|with|from){_B}", 0.5),
    _cue(
        "used for",
        USES,
        "used useful suitable employed needed necessary essential",
        rf"{_S}(?:for|in){_ING}{_B}",
        0.75,
        turned=True,
    ),
    _cue(
        "made for",
        USES,
        "designed developed proposed introduced presented intended devised",
        rf"{_S}for{_ING}{_B}",
        0.7,
        turned=True,
    ),
    _cue(
        "used to",
        USES,
        "used applied employed utilized utilised helps help helped proposed designed developed able needed required "
        "suitable useful",
        rf"{_S}to{_S}(?:{_VERB}){_B}",
        0.65,
        turned=True,
    ),
    _cue("applied to", USES, "applied applicable", rf"{_S}to(?!{_S}(?:{_VERB})\b){_B}", 0.6, turned=True),
    _cue("for", USES, "for", rf"{_ING}{_B}", 0.75, left=Left.TIGHT, turned=True),
    _cue("to", USES, "to", _B, 0.6, left=Left.TIGHT, turned=True),
    _cue("to verb", USES, "to", rf"{_S}(?:{_VERB}){_B}", 0.75, left=Left.TIGHT, turned=True),
    _cue(
        "part of",
        PART_OF,
        "is are as",
        rf"{_S}(?:an?{_S}|the{_S}|one{_S})?(?:\w+{_S}){{0,2}}?(?:part|component|subset|element|member|subfield|ingredient|module|step)s?{_S}of{_B}",
        0.75,
    ),
    _cue("within", PART_OF, "contained included integrated incorporated", rf"{_S}in(?:to)?{_B}", 0.55),
    _cue("belongs", PART_OF, "belongs belong belonging", rf"{_S}to{_B}", 0.6),
    _cue("consists", PART_OF, "consists consist consisting composed comprised", rf"{_S}of{_B}", 0.65, turned=True),
    _cue("made up", PART_OF, "made", rf"{_S}(?:up{_S})?of{_B}", 0.5, turned=True),
    _cue(
        "kind of",
        EXAMPLE_OF,
        "is are",
        rf"{_S}(?:an?|one|another|the)?\s*(?:\w+{_S}){{0,2}}?"
        rf"(?:kind|type|sort|special{_S}case|variant|version|instance|example|form|particular{_S}case){_S}of{_B}",
        0.85,
        listed=False,
    ),
    _cue("is a", EXAMPLE_OF, "is are", rf"{_S}(?:an?|another|one{_S}of{_S}the){_B}", 0.65, listed=False),
    _cue("such as", EXAMPLE_OF, "such", rf"{_S}as{_B}", 0.9, left=Left.COMMA, turned=True),
    _cue("including", EXAMPLE_OF, "including especially particularly", rf"{_B}", 0.5, left=Left.COMMA, turned=True),
    _cue("like", EXAMPLE_OF, "like", rf"{_B}", 0.7, left=Left.COMMA, turned=True),
    _cue("e.g.", EXAMPLE_OF, "e.g", r"\.?,?", 0.75, left=Left.COMMA, turned=True),
    _cue("for example", EXAMPLE_OF, "for", rf"{_S}(?:example|instance),?{_B}", 0.85, left=Left.COMMA, turned=True),
    _cue(
        "called",
        EXAMPLE_OF,
        "called named termed dubbed",
        rf"(?!{_S}entit){_B}",
        0.7,
        left=Left.COMMA,
        turned=True,
        listed=False,
    ),
    _cue("apposition", EXAMPLE_OF, "a an", _B, 0.65, left=Left.APART, listed=False),
    _cue("namely", EXAMPLE_OF, "namely", r",?", 0.6, left=Left.COMMA, turned=True),
    _cue("and other", EXAMPLE_OF, "and or", rf"{_S}(?:other|similar|related){_B}", 0.7, left=Left.COMMA, listed=False),
    _cue("compared", COMPARED_TO, "compared comparable", rf"{_S}(?:to|with|against){_B}", 0.6),
    _cue("versus", COMPARED_TO, "versus vs", rf"\.?{_B}", 0.6),
    _cue(
        "outperforms", COMPARED_TO, "outperforms outperform outperformed outperforming surpasses beats", rf"{_B}", 0.8
    ),
    _cue(
        "than",
        COMPARED_TO,
        "faster slower better worse simpler easier larger smaller higher lower stronger weaker shorter "
        "longer superior inferior",
        rf"(?:{_S}(?:\w+{_S}){{0,3}}?than|{_S}to){_B}",
        0.5,
    ),
    _cue("more than", COMPARED_TO, "more less", rf"{_S}\w+{_S}than{_B}", 0.5),
    _cue("contrast", COMPARED_TO, "in", rf"{_S}(?:contrast|comparison|opposition){_S}(?:to|with){_B}", 0.6),
    _cue("differs", COMPARED_TO, "differs differ different", rf"{_S}from{_B}", 0.6),
    _cue("implements", IMPLEMENTS, "implements", rf"{_B}", 0.7),
    _cue(
        "implementation",
        IMPLEMENTS,
        "is",
        rf"{_S}(?:an?|the){_S}(?:\w+{_S})?implementation{_S}of{_B}",
        0.8,
        listed=False,
    ),
    _cue(
        "knowledge",
        PREREQUISITE,
        "requires require assumes assume needs",
        rf"{_S}(?:\w+{_S}){{0,2}}?(?:knowledge|understanding|familiarity|experience){_S}(?:of|with|about|in){_B}",
        0.8,
        turned=True,
    ),
    _cue(
        "prerequisite",
        PREREQUISITE,
        "is are",
        rf"{_S}(?:an?{_S}|the{_S})?(?:\w+{_S})?prerequisites?{_S}(?:for|of|to){_B}",
        0.9,
    ),
    _cue("builds on", PREREQUISITE, "builds build building", rf"{_S}(?:up)?on{_B}", 0.7, turned=True),
    _cue("extends", PREREQUISITE, "extends generalizes generalises", rf"{_B}", 0.6, turned=True),
    _cue(
        "extension",
        PREREQUISITE,
        "is",
        rf"{_S}(?:an?|the){_S}(?:\w+{_S})?(?:extension|modification|generali[sz]ation|improvement){_S}(?:of|to){_B}",
        0.6,
        turned=True,
    ),
    _cue("related", RELATED_TO, "related similar analogous equivalent akin", rf"{_S}to{_B}", 0.7),
    _cue("resembles", RELATED_TO, "resembles", rf"{_B}", 0.7),
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
    confidence: float
    turned: bool = False


def _pair(
    name: str, predicate: Predicate, first: str, rest: str, middle: str, confidence: float, *, turned: bool = False
) -> Pair:
    between = re.compile(rf"\s*{middle}\s*(?:(?:the|an?|our|its)\s+)?", re.IGNORECASE)
    behind = re.compile(rest, re.IGNORECASE)
    return Pair(name, predicate, tuple(first.split()), behind, between, confidence, turned)


PAIRS = (
    _pair(
        "difference between",
        COMPARED_TO,
        "difference differences comparison comparisons trade-off",
        rf"{_S}(?:between|of){_B}",
        rf"(?:and|with|versus|to){_B}",
        0.6,
    ),
    _pair("unlike", COMPARED_TO, "unlike", rf"{_B}", r",", 0.6),
    _pair("compared to", COMPARED_TO, "compared", rf"{_S}(?:to|with){_B}", r",", 0.6),
    _pair("in contrast to", COMPARED_TO, "in", rf"{_S}(?:contrast|comparison){_S}(?:to|with){_B}", r",", 0.6),
    _pair(
        "relation between",
        RELATED_TO,
        "relation relationship connection link similarity correspondence equivalence analogy",
        rf"{_S}between{_B}",
        rf"and{_B}",
        0.7,
    ),
    _pair(
        "to understand",
        PREREQUISITE,
        "to before",
        rf"{_S}(?:understand|understanding|reading|studying|learning){_B}",
        rf",?\s*(?:you|one|we|the{_S}reader)?\s*(?:must|should|needs?|have|has)(?:{_S}to)?(?:{_S}first)?"
        rf"(?:{_S}(?:know|understand|learn|read|be{_S}familiar{_S}with))?(?:{_S}about)?{_B}",
        0.8,
        turned=True,
    ),
)

BY_FIRST_WORD: dict[str, tuple[Cue, ...]] = {
    word: tuple(cue for cue in CUES if word in cue.first) for word in {word for cue in CUES for word in cue.first}
}

PAIRS_BY_FIRST_WORD: dict[str, tuple[Pair, ...]] = {
    word: tuple(pair for pair in PAIRS if word in pair.first)
    for word in {word for pair in PAIRS for word in pair.first}
}
