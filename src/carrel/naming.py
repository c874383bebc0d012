"""What the spellings of one concept's name share."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from carrel.words import american

_REMEMBERED = 131_072
_NO_NAME = "\ufffd"
"""The key of names without a single printable character: a database would refuse the characters themselves."""
_PLAIN = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")
_COMMAND = re.compile(r"\\(?:math[a-z]+|text[a-z]*|emph|operatorname)\b")
_MARKUP = re.compile(r"[$\\{}`\"“”„«»]")
_OPENS_A_STAR = re.compile(r"(?<!\w)\*+(?=\w)")
_POSSESSIVE = re.compile(r"(?<=\w)['’](?:s\b|(?!\w))")
_PLURAL_ACRONYM = re.compile(r"\b([A-Z][A-Z0-9]+)s\b")
_DASH = re.compile(r"(?<!\d)[-\u2010-\u2015\u2212]|[-\u2010-\u2015\u2212](?!\d)|_")
_ARTICLE = re.compile(r"(?:(?:an?|the) )+(?=\S)")
_PREFIX = re.compile(r"\b(non|multi|semi|pre|anti|inter|intra|hyper|pseudo|meta) (?=[a-z]{3})")
_EDGES = " ,;:!?"
_MOST_ROUNDS = 8

_PLURALS = """
    matrices=matrix vertices=vertex indices=index simplices=simplex appendices=appendix automata=automaton
    criteria=criterion phenomena=phenomenon corpora=corpus genera=genus loci=locus nuclei=nucleus stimuli=stimulus
    radii=radius foci=focus fungi=fungus formulae=formula lemmata=lemma schemata=schema larvae=larva mice=mouse
    vertebrae=vertebra antennae=antenna children=child men=man women=woman feet=foot teeth=tooth geese=goose axes=axis
    crises=crisis leaves=leaf halves=half wolves=wolf lives=life wives=wife knives=knife shelves=shelf selves=self
    calves=calf loaves=loaf caches=cache headaches=headache lenses=lens gases=gas biases=bias buses=bus focuses=focus
    aliases=alias canvases=canvas atlases=atlas quizzes=quiz movies=movie cookies=cookie ties=tie zombies=zombie
    calories=calorie shoes=shoe toes=toe canoes=canoe menus=menu gpus=gpu cpus=cpu tpus=tpu apis=api taxis=taxi
    topics=topic metrics=metric heuristics=heuristic characteristics=characteristic logics=logic clinics=clinic
    critics=critic fabrics=fabric antibiotics=antibiotic lyrics=lyric mosaics=mosaic skis=ski epidemics=epidemic
"""
_IRREGULAR = dict(pair.split("=") for pair in _PLURALS.split())
_IN_S = """
    aids alias always arkansas asbestos athens atlas bahamas barbados bayes bias brussels canvas caries carlos chaos
    christmas cors cosmos dallas douglas ethos gas gauss hits honduras jones kansas kudos lagos laos las lens los lucas
    marcos means mips news nicholas pancreas pandas pathos pythagoras rabies sars series species stokes texas thermos
    thomas vegas wales yes
"""
_SINGULAR = frozenset(_IN_S.split())
_SINGULAR_ENDINGS = ("ss", "us", "is", "ics")
_IN_ES = re.compile(r"(?:ss|x|ch|sh|zz|[rtpnm]us)(?=es$)")
_OTHER_SPELLINGS = tuple(
    (re.compile(written), instead)
    for written, instead in (
        (r"\b(fi|cali|sa|lou|som)bre\b", r"\1ber"),
        (r"(?<=\w{3})aem(?=i)", "em"),
        (r"\bhaem(?=[ao])", "hem"),
        (r"\bpaed(?=i)", "ped"),
        (r"\boes(?=tr|oph)", "es"),
        (r"\bfoet(?=[au])", "fet"),
        (r"\bsulph(?=[aiu])", "sulf"),
        (r"\b(model|label|travel|signal|cancel|channel|tunnel|level|parallel)l(?=ed|er|ers|ing)", r"\1"),
        (r"\b(cata|dia|ana)logue\b", r"\1log"),
        (r"\bgrey(?=s?\b|scale)", "gray"),
        (r"\bartef(?=act)", "artif"),
        (r"\b(de|of|pre)fence\b", r"\1fense"),
        (r"\bprogramme\b", "program"),
    )
)


@lru_cache(maxsize=_REMEMBERED)
def key(name: str) -> str:
    """The name without case, article, mark-up and hyphens, in the singular and in American spelling.

    The key of a key is itself. Only of an empty name is it empty.
    """
    found = _once(_printable(name))
    for _ in range(_MOST_ROUNDS):
        again = _once(found)
        if again == found:
            break
        found = again
    return found


def _printable(name: str) -> str:
    if name.isascii() and name.isprintable():
        return name
    # What is no text, as an argument of the shell may be, would be refused by a database.
    text = unicodedata.normalize("NFKC", name.encode("utf-8", "replace").decode())
    shown = "".join(letter for letter in text if unicodedata.category(letter) not in {"Cf", "Co", "Cn"})
    return "".join(" " if unicodedata.category(letter) == "Cc" else letter for letter in shown) or (name and _NO_NAME)


def _once(text: str) -> str:
    if _PLAIN.fullmatch(text):
        # Most names, and every key but a few: there is nothing to be taken away but an article.
        return _respelt(_ARTICLE.sub("", text) if text[:1] in {"a", "t"} else text)
    plain = " ".join(unicodedata.normalize("NFKC", text.casefold()).split())
    bare = _POSSESSIVE.sub("", _MARKUP.sub("", _COMMAND.sub("", text)))
    if _OPENS_A_STAR.search(bare):
        bare = bare.replace("*", "")
    bare = _DASH.sub(" ", _PLURAL_ACRONYM.sub(r"\1", bare))
    bare = " ".join(unicodedata.normalize("NFKC", bare.casefold()).split()).strip(_EDGES).rstrip(".")
    bare = _ARTICLE.sub("", bare) if bare[:1] in {"a", "t"} else bare
    return _respelt(bare) or plain or (text and _NO_NAME)


def _respelt(text: str) -> str:
    words = text.split()
    heads = {len(words) - 1, *(place - 1 for place, word in enumerate(words) if word == "of" and place)}
    found = " ".join(_word(_singular(word) if place in heads else word) for place, word in enumerate(words))
    return _PREFIX.sub(r"\1", found.replace("data set", "dataset").replace("data base", "database"))


@lru_cache(maxsize=_REMEMBERED)
def _word(word: str) -> str:
    word = american(word)
    for written, instead in _OTHER_SPELLINGS:
        word = written.sub(instead, word)
    return word


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    is_plural = word.endswith("s") and len(word) > 3 and word not in _SINGULAR and not word.endswith(_SINGULAR_ENDINGS)
    # Without a vowel it is an acronym, as `dns` is.
    return _by_ending(word) if is_plural and any(letter in "aeiouy" for letter in word) else word


def _by_ending(word: str) -> str:
    if word.endswith(("lyses", "theses")) or (word.endswith("noses") and len(word) > 6):
        return f"{word[:-2]}is"
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith("oes") or _IN_ES.search(word):
        return word[:-2]
    return word[:-1]
