"""The names papers have outside: one spelling for each."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

_DOI = re.compile(r"10\.\d{4,9}/\S+", re.IGNORECASE)
_ADDRESS = re.compile(r"(?P<paper>.+)/(?:abstract|note|ch\d+/s\d+/p\d+|fig\d+)", re.DOTALL)
_ARXIV = re.compile(
    r"(?<![\w./])(?:arxiv:\s*)?(?:(?P<archive>[a-z]+(?:-[a-z]+)?)(?:\.[a-z]{2})?/(?P<old>\d{7})|(?P<new>\d{4}\.\d{4,5}))"
    r"(?:v\d+)?(?![\w/]|\.\w)",
    re.IGNORECASE,
)
_ARXIV_LINK = re.compile(r"(?:arxiv\.org/\w+/|10\.48550/arxiv\.|arxiv:\s*)(?P<rest>[\w./-]+)", re.IGNORECASE)
_PMID = re.compile(
    r"(?:pmid\s*:?\s*|pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/pubmed/)?(?P<number>\d{1,9})/?", re.IGNORECASE
)
_PMCID = re.compile(r"\bPMC(?P<number>\d{1,9})\b", re.IGNORECASE)
_NO_LETTER = re.compile(r"[^a-z0-9]+")
_NOT_IN_SLUG = re.compile(r"[^\w.:+-]+")


def normalise_doi(text: str) -> str:
    """`https://doi.org/10.1000/ABC` → `10.1000/abc`; empty when there is no DOI in it."""
    found = _DOI.search(text)
    return found.group().rstrip(".,;)]}>\"'").lower() if found else ""


def normalise_arxiv(text: str) -> str:
    """`arXiv:1706.03762v5` → `1706.03762`, `math.GT/0309136` → `math/0309136`; empty when there is none in it."""
    link = _ARXIV_LINK.search(text)
    found = _ARXIV.match(link["rest"].removesuffix(".pdf")) if link else _ARXIV.fullmatch(text.strip())
    if not found:
        return ""
    return found["new"] or f"{found['archive'].lower()}/{found['old']}"


def normalise_pmid(text: str) -> str:
    """`PMID: 012345` → `12345`; empty when it is not a PubMed id."""
    found = _PMID.fullmatch(text.strip().removeprefix("https://").removeprefix("http://").removeprefix("www."))
    return found["number"].lstrip("0") if found else ""


def normalise_pmcid(text: str) -> str:
    """`pmc123` or its address → `PMC123`; empty when there is no such id in it."""
    found = _PMCID.search(text)
    return f"PMC{found['number']}" if found else ""


def normalise_title(text: str) -> str:
    """What two spellings of one title share: letters and digits, without case and accents."""
    if text.isascii():
        return _NO_LETTER.sub("", text.lower())
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in plain if character.isalnum())


def slug(text: str) -> str:
    """A paper id made of a name: letters, digits and `-_.:+`."""
    return _NOT_IN_SLUG.sub("-", unicodedata.normalize("NFC", text)).strip("-.") or "paper"


def unused(wanted: str, taken: Container[str]) -> str:
    """The id itself, or with a free number behind it: the first of `-2`, `-3` …, unless there are gaps in between."""
    if wanted not in taken:
        return wanted
    # By doubling and halving, so that thousands of equal ids do not take forever.
    last, free = 1, 2
    while f"{wanted}-{free}" in taken:
        last, free = free, 2 * free
    while free - last > 1:
        middle = (last + free) // 2
        last, free = (middle, free) if f"{wanted}-{middle}" in taken else (last, middle)
    return f"{wanted}-{free}"


def paper_of(address: str) -> str:
    """The paper an address lies in; the address itself when it names a paper."""
    found = _ADDRESS.fullmatch(address)
    return found["paper"] if found else address
