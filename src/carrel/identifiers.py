"""The names papers have outside: one spelling for each."""

from __future__ import annotations

import re
import unicodedata

_DOI = re.compile(r"10\.\d{4,9}/\S+", re.IGNORECASE)
_ADDRESS = re.compile(r"(?P<paper>.+)/(?:abstract|ch\d+/s\d+/p\d+|fig\d+)", re.DOTALL)
_NOT_IN_SLUG = re.compile(r"[^\w.:+-]+")


def normalise_doi(text: str) -> str:
    """`https://doi.org/10.1000/ABC` → `10.1000/abc`; empty when there is no DOI in it."""
    found = _DOI.search(text)
    return found.group().rstrip(".,;)]}>\"'").lower() if found else ""


def normalise_title(text: str) -> str:
    """What two spellings of one title share: letters and digits, without case and accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in plain if character.isalnum())


def slug(text: str) -> str:
    """A paper id made of a name: letters, digits and `-_.:+`."""
    return _NOT_IN_SLUG.sub("-", unicodedata.normalize("NFC", text)).strip("-.") or "paper"


def unused(wanted: str, taken: set[str]) -> str:
    """The id itself, or with the first free of `-2`, `-3` …"""
    candidate, number = wanted, 1
    while candidate in taken:
        number += 1
        candidate = f"{wanted}-{number}"
    return candidate


def paper_of(address: str) -> str:
    """The paper an address lies in; the address itself when it names a paper."""
    found = _ADDRESS.fullmatch(address)
    return found["paper"] if found else address
