"""What a triple must be, wherever it comes from, and which of a chunk's are kept."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput
from carrel.naming import key
from carrel.types import Predicate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from carrel.types import Triple

LEAST_CONFIDENCE = 0.5
MOST_IN_A_CHUNK = 10
_PREDICATES = ", ".join(Predicate)


def validate(subject: str, predicate: str, object_: str, confidence: float) -> Predicate:
    """The predicate that is meant; raises what is wrong with the triple otherwise."""
    if not subject.strip():
        raise InvalidInput("Subject cannot be empty", hint="Name the concept that the statement is about.")
    if predicate not in set(Predicate):
        raise InvalidInput("Invalid predicate type", hint=f"{predicate!r} is none of {_PREDICATES}.")
    if not object_.strip():
        raise InvalidInput("Object cannot be empty", hint="Name the concept that the subject stands in relation to.")
    # Not `<`, so that what is no number is refused, too.
    if not confidence >= LEAST_CONFIDENCE:
        raise InvalidInput("Triple confidence too low", hint=f"{confidence} is less than {LEAST_CONFIDENCE}.")
    return Predicate(predicate)


def validate_content(text: str) -> None:
    if not text.strip():
        raise InvalidInput("Chunk content cannot be empty", hint="Give a chunk that has text.")


def best(triples: Iterable[Triple], *, least: float = LEAST_CONFIDENCE, most: int = MOST_IN_A_CHUNK) -> list[Triple]:
    """Each statement once, the surest first; of two that contradict each other, the surer."""
    chosen: dict[tuple[Predicate, frozenset[str]], Triple] = {}
    # Stable, so that equally sure ones keep reading order.
    for triple in sorted(triples, key=lambda triple: (-triple.confidence, triple.start)):
        if triple.confidence >= least:
            # Nothing is both before and after another, a part and the whole, an example and the kind.
            chosen.setdefault((triple.predicate, _ends(triple)), triple)
    told = {ends for predicate, ends in chosen if predicate != Predicate.RELATED_TO}
    # Where it is said how two things are related, that they are goes without saying.
    kept = (one for (predicate, ends), one in chosen.items() if predicate != Predicate.RELATED_TO or ends not in told)
    return list(islice(kept, most))


def _ends(triple: Triple) -> frozenset[str]:
    return frozenset((key(triple.subject), key(triple.object)))
