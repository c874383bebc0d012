"""What became of papers after they were published: retractions, concerns and corrections, by a local file and tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from carrel.identifiers import normalise_arxiv, normalise_doi, normalise_pmcid, normalise_pmid
from carrel.types import Flag, Notice, Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.retractions.index import Index
    from carrel.types import Reference

_TAGS = {
    "retracted": Notice.RETRACTION,
    "retraction": Notice.RETRACTION,
    "corrected": Notice.CORRECTION,
    "correction": Notice.CORRECTION,
    "expressionofconcern": Notice.CONCERN,
    "reinstated": Notice.REINSTATEMENT,
}
_WORDS = {
    Notice.RETRACTION: "RETRACTED",
    Notice.CONCERN: "EXPRESSION OF CONCERN",
    Notice.CORRECTION: "CORRECTED",
    Notice.REINSTATEMENT: "REINSTATED",
}
HOW = (
    "Download retraction_watch.csv from https://gitlab.com/crossref/retraction-watch-data into the library's folder, "
    "then: carrel config set retractions retraction_watch.csv"
)


@dataclass(frozen=True, slots=True)
class Flagged:
    """A paper of the library that somebody has given notice of."""

    reference: Reference
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All such papers, and what they were looked up in."""

    papers: tuple[Flagged, ...]
    looked_up: int
    file: str = ""
    as_of: str = ""
    """The date of the file's newest notice."""
    complaint: str = ""
    """Why the file does not tell all, or anything."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "papers": [
                {"id": one.reference.id, "title": one.reference.title, "flags": [_as_dict(flag) for flag in one.flags]}
                for one in self.papers
            ],
            "looked_up": self.looked_up,
            "file": self.file or None,
            "as_of": self.as_of or None,
            "complaint": self.complaint or None,
        }


def report(references: Iterable[Reference], index: Index | None, file: str) -> Report:
    """Look every paper up."""
    looked_up = list(references)
    found = [Flagged(one, flags) for one in looked_up if (flags := flags_of(one, index))]
    complaint, as_of = (index.complaint, index.as_of) if index else ("", "")
    return Report(tuple(found), len(looked_up), file, as_of, complaint)


def flags_of(reference: Reference, index: Index | None) -> tuple[Flag, ...]:
    """Every notice of a paper, the oldest first; one that takes a retraction back says so."""
    told = [*(index.flags(reference) if index else ()), *_tagged(reference)]
    return tuple(_in_order(told))


def standing_of(reference: Reference, index: Index | None) -> Standing:
    return Standing(url_of(reference), flags_of(reference, index))


def headline(flags: Sequence[Flag]) -> str:
    """The gravest word that still holds: a retraction until it is taken back, else a concern, else a correction."""
    last = next((flag.notice for flag in reversed(flags) if flag.notice in _DECISIVE), None)
    notices = {flag.notice for flag in flags}
    if last == Notice.RETRACTION:
        return _WORDS[last]
    graver = (Notice.CONCERN, Notice.REINSTATEMENT, Notice.CORRECTION)
    return next((_WORDS[notice] for notice in graver if notice in notices), "")


def sentence(flag: Flag) -> str:
    """As it is shown beside a citation: `RETRACTED 2020-05-01 (Retraction Watch, as of 2026-11-01): reason`."""
    dated = f" {flag.date}" if flag.date else ""
    notice = f" https://doi.org/{quote(flag.doi, safe=_IN_DOIS)}" if flag.doi else ""
    return f"{_WORDS[flag.notice]}{dated} ({flag.source}){f': {flag.reason}' if flag.reason else ''}{notice}"


def url_of(reference: Reference) -> str:
    """Where a paper is found in the world, by what its record says."""
    if doi := normalise_doi(reference.doi):
        return f"https://doi.org/{quote(doi, safe=_IN_DOIS)}"
    if arxiv := normalise_arxiv(reference.arxiv_id):
        return f"https://arxiv.org/abs/{arxiv}"
    if pmid := normalise_pmid(reference.pmid):
        return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"
    pmcid = normalise_pmcid(reference.pmcid)
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/" if pmcid else ""


_DECISIVE = frozenset({Notice.RETRACTION, Notice.REINSTATEMENT})
_IN_DOIS = "/:;().-_"


def _tagged(reference: Reference) -> Iterator[Flag]:
    for tag in reference.tags:
        plain = "".join(character for character in tag.casefold() if character.isalpha())
        if plain in _TAGS:
            yield Flag(_TAGS[plain], f"the tag {tag!r}")


def _in_order(flags: Iterable[Flag]) -> Iterator[Flag]:
    """Those without a date come last: a tag is what the reader knows now."""
    seen: set[tuple[Notice, str, str]] = set()
    retracted = ""
    for flag in sorted(flags, key=lambda one: one.date or "9999"):
        key = (flag.notice, flag.date, flag.doi)
        if key in seen:
            continue
        seen.add(key)
        if flag.notice == Notice.RETRACTION:
            retracted = flag.date or "an unknown date"
        taken_back = flag.notice == Notice.REINSTATEMENT and retracted
        yield _with_reason(flag, f"takes back the retraction of {retracted}") if taken_back else flag


def _with_reason(flag: Flag, reason: str) -> Flag:
    both = f"{reason}; {flag.reason}" if flag.reason else reason
    return Flag(flag.notice, flag.source, flag.date, both, flag.doi)


def _as_dict(flag: Flag) -> dict[str, str]:
    values = {"notice": flag.notice.value, "date": flag.date, "reason": flag.reason, "source": flag.source}
    return {**values, "doi": flag.doi}
