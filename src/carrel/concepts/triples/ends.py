"""What may stand at the end of a triple: the name of something, as a reader would look it up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.concepts import lexicon
from carrel.naming import key

if TYPE_CHECKING:
    from collections.abc import Mapping


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


MOST_WORDS = 8
LONGEST = 100
_LED = _set(
    """a an the this that these those its their our your my his her some any all both each every several various many
    few other another such one two three certain different following same given new novel recent recently proposed
    provided existing current previous traditional conventional standard common usual popular well-known famous classic
    classical typical simple simpler simplest basic general generic usual normal ordinary naive efficient effective fast
    faster powerful robust good better best great important main key major specific particular appropriate suitable
    possible available additional more most less only just even also further first second third next last final whole
    entire complete full real actual special state-of-the-art present corresponding respective resulting related
    similar so-called little large larger small smaller big high low highly very quite rather our own early
    interesting useful mere slight slightly single underlying above aforementioned latter former old original
    alternative direct separate"""
)
"""Say nothing of what a thing is; they are cut off at a name's beginning, unless the name is known with them."""
_GENERIC = _set(
    """method approach technique algorithm system model framework scheme procedure process strategy solution way means
    tool result problem task issue question answer paper article work study section chapter page post example case
    instance kind type sort form version variant variation part piece component element member set group class family
    category number amount lot value figure table equation formula data information knowledge structure property
    feature characteristic aspect fact thing something anything nothing everything one other others idea concept notion
    term name word use usage application approach user reader author researcher people person work experiment evaluation
    performance accuracy complexity time space memory cost speed quality efficiency advantage disadvantage benefit
    drawback difference similarity relation relationship connection comparison contrast order step stage phase point
    level degree rate range area field domain topic subject object context situation condition constraint assumption
    requirement goal purpose aim objective reason cause effect impact influence role function operation action
    ability capability capacity possibility chance need implementation code program software line statement
    first second third beginning end start finish middle top bottom left right side hand place position location
    today now then here there example note notice claim proof lemma theorem definition description explanation
    analysis discussion introduction conclusion summary overview review survey literature reference citation
    state-of-the-art baseline default input output mode rest remainder addition sequel turn practice theory principle
    general particular detail detailed total sum average mean minimum maximum addition it they them we you he she i
    this that these those which what who itself themselves each all both none some any many most few more less
    variety majority minority plenty couple pair dozen hundred thousand million percent percentage half quarter
    approximation observation consequence modification improvement extension year day week month test
    alternative choice option construction
    effort attempt help support basis background challenge difficulty setting scenario environment"""
)
"""Of these alone, or of several of them, nobody would look up anything."""
_MEANS = _set(
    """algorithm analysis approach architecture classifier criterion decomposition detector estimator feature filter
    formalism framework grammar heuristic interface kernel learning library machine mechanism method methodology
    model modeling modelling optimization package paradigm parser pipeline procedure program protocol recognizer
    representation scheme search sieve software solver strategy structure system tagger technique technology
    theory tool toolkit tracker transform trick"""
)
"""What something is done with. Of other things, "X for Y" rarely says that Y is done with X."""
_DONE = re.compile(r"(?:tion|sion|ment|[a-z]{3}ing|sis|retrieval|search|task|problem)$")
_INTRODUCED = re.compile(
    r"^(?:(?:an?|the)\s+)?(?:main\s+)?(?:introduction\s+to|articles?\s+(?:on|about)|find(?:ing)?)\s+(?:an?\s+|the\s+)?(?=\S+\s)"
    r"|^(?:an?|the)\s+|^(?:(?:the|main)\s+)*(?:introduction\s+to|articles?\s+(?:on|about))\s+(?:the\s+)?",
    re.IGNORECASE,
)
_NO_NAME = re.compile(r"[$\\{}<>|=\n\N{REPLACEMENT CHARACTER}]|^[\W\d_]*$")
_IN_BRACKETS = re.compile(r"\s+\([^()]*\)$")
_POSSESSIVE = re.compile(r"\s+(['’]s)\b")
_EDGES = " \t,;:.!?\"'“”‘’()[]{}<>|-–—/"
_ACRONYM = re.compile(r"[A-Z][A-Za-z0-9]*[A-Z0-9][A-Za-z0-9+*-]*")


def named(phrase: str, known: Mapping[str, str]) -> str:
    """The name that a noun phrase gives something, as the paper's concepts spell it; empty if it gives none."""
    words = _POSSESSIVE.sub(r"\1", phrase).split()
    if not words or len(phrase) > LONGEST or _has_verb(words):
        return ""
    while words and (found := known.get(key(" ".join(words)))) is None and words[0].lower() in _LED:
        words = words[1:]
    if not words:
        return ""
    name = found or _known_within(words, known) or " ".join(words).strip(_EDGES)
    return name if is_name(name, known) else ""


def is_name(name: str, known: Mapping[str, str], *, alone: bool = False) -> bool:
    """`alone`: a single word may be one though the paper makes nothing of it."""
    words = key(name).split()
    if not words or len(words) > MOST_WORDS or len(name) > LONGEST or _NO_NAME.search(name):
        return False
    if all(is_generic(word) or word in _LED for word in words):
        return _is_set_phrase(words, known)
    return alone or len(words) > 1 or bool(_ACRONYM.fullmatch(name)) or (key(name) in known and _is_special(name))


def _is_set_phrase(words: list[str], known: Mapping[str, str]) -> bool:
    """Whether words that say little make a term together, as in "data structure"."""
    return len(words) > 1 and " ".join(words) in known and _LED.isdisjoint(words)


def _is_special(word: str) -> bool:
    """Whether a word alone is a term: a name, or none of the common words."""
    return word[1:] != word[1:].lower() or not (lexicon.is_known(word.lower()) or lexicon.is_known(key(word)))


def is_generic(word: str) -> bool:
    one = word.removesuffix("s")
    named = any(map(str.isalpha, word)) and len(word) > 1
    return not named or not _GENERIC.isdisjoint((word, one, one.removesuffix("e")))


def _known_within(words: list[str], known: Mapping[str, str]) -> str:
    """The longest known name, of two words or more, that the phrase ends in."""
    for first in range(1, len(words) - 1):
        if found := known.get(key(" ".join(words[first:]))):
            return found
    return ""


def _has_verb(words: list[str]) -> bool:
    """Whether it is more than a noun phrase, as in "oracle acts" or "minimizes cost"."""
    letters = [lexicon.tag(word) if word.islower() and word.endswith("s") else "" for word in words]
    return "V" in letters or "v" in letters[:-1]


def is_task(name: str) -> bool:
    """Whether it is something that is done, as "word alignment" or "action recognition"."""
    words = key(name).split()
    return len(words) > 1 and bool(_DONE.search(words[-1]))


def is_proper(name: str) -> bool:
    """Whether it is the name of one thing, as "WordNet" or "Edmonds-Karp"."""
    return any(letter.isupper() for letter in name)


def is_means(name: str) -> bool:
    words = key(name).split()
    return bool(words) and words[-1] in _MEANS


def linked(text: str, known: Mapping[str, str]) -> str:
    """The name that the text of a link or of an item in a list is; empty if it is none."""
    words = _IN_BRACKETS.sub("", _INTRODUCED.sub("", " ".join(text.split()))).strip(_EDGES)
    name = known.get(key(words), words) if words else ""
    if " " not in name and key(name) not in known and lexicon.tag(name.lower()) not in "NX":
        return ""
    return name if is_name(name, known, alone=True) else ""
