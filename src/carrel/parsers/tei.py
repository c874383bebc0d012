"""TEI: what GROBID makes of a PDF, and the XML of some publishers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.identifiers import normalise_arxiv, normalise_doi, normalise_pmcid, normalise_pmid
from carrel.parsers import Source, title_of
from carrel.parsers.building import Builder
from carrel.parsers.tei_body import TAGS, Body
from carrel.parsers.xml_flow import At
from carrel.parsers.xml_inline import inline
from carrel.parsers.xml_names import attribute, child, children, descendants, first
from carrel.references import dates, names
from carrel.types import Author, Paper, Published, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml.etree import _Element

FORMAT = "tei"
_CHAPTER = 2


def paper(root: _Element, source: Source, remarks: Sequence[str]) -> Paper:
    builder = Builder(remarks=list(remarks))
    header, text = child(root, "teiheader"), child(root, "text")
    reference = _reference(header, title_of(source))
    body = Body(builder, source)
    builder.put_heading(reference.title, 1)
    abstract = first(header, "abstract")
    if abstract is not None and _words(abstract):
        builder.put_heading("Abstract", _CHAPTER)
        body.put(abstract, At(_CHAPTER + 1))
    for part in ("front", "body", "back"):
        body.put(child(text, part), At(_CHAPTER))
    language = attribute(text, "lang") if text is not None else ""
    return builder.paper(reference, format=FORMAT, language=language.lower()[:2])


def _reference(header: _Element | None, fallback: str) -> Reference:
    record = first(first(header, "sourcedesc"), "biblstruct", "bibl", "biblfull")
    ids = {attribute(found, "type").lower(): _words(found) for found in descendants(record, "idno")}
    work = child(record, "monogr")
    return Reference(
        id="",
        title=_title(header, record) or fallback,
        doi=normalise_doi(ids.get("doi", "")),
        authors=tuple(_authors(record)),
        abstract="\n\n".join(_paragraphs(first(header, "abstract"))),
        venue=_words(next((found for found in children(work, "title") if attribute(found, "level") != "a"), None)),
        published=_published(header, work),
        pmid=normalise_pmid(ids.get("pmid", "")),
        pmcid=normalise_pmcid(ids.get("pmcid", "")),
        arxiv_id=normalise_arxiv(ids.get("arxiv", "")),
    )


def _title(header: _Element | None, record: _Element | None) -> str:
    titles = [*children(first(header, "titlestmt"), "title"), *children(child(record, "analytic"), "title")]
    main = sorted(titles, key=lambda title: attribute(title, "type") != "main")
    return next((text for title in main if (text := _words(title))), "")


def _authors(record: _Element | None) -> Iterator[Author]:
    listed = child(record, "analytic")
    for author in children(listed if listed is not None else child(record, "monogr"), "author"):
        name = child(author, "persname")
        if name is None:
            continue
        first_names = " ".join(_words(found) for found in children(name, "forename"))
        ids = (found for found in descendants(author, "idno") if attribute(found, "type").upper() == "ORCID")
        orcid = next(map(_words, ids), "")
        made = names.made(_words(child(name, "surname")), first_names, orcid=orcid)
        if made.last:
            yield made


def _published(header: _Element | None, work: _Element | None) -> Published:
    for place in (child(work, "imprint"), first(header, "publicationstmt")):
        for date in descendants(place, "date"):
            if (found := dates.read(attribute(date, "when") or _words(date))).year:
                return found
    return Published()


def _paragraphs(abstract: _Element | None) -> Iterator[str]:
    listed = list(descendants(abstract, "p")) or ([abstract] if abstract is not None else [])
    return (text for paragraph in listed if (text := _words(paragraph)))


def _words(element: _Element | None) -> str:
    return inline(element, TAGS) if element is not None else ""
