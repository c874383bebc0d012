"""JATS and its forerunners: the XML of PubMed Central and of most publishers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.identifiers import normalise_arxiv, normalise_doi, normalise_pmcid, normalise_pmid
from carrel.parsers import Source, title_of
from carrel.parsers.building import Builder
from carrel.parsers.jats_body import TAGS, Body
from carrel.parsers.xml_flow import At
from carrel.parsers.xml_inline import inline
from carrel.parsers.xml_names import attribute, child, children, descendants, first, local
from carrel.references import dates, names
from carrel.types import Author, BlockKind, Paper, Published, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml.etree import _Element

FORMAT = "jats"
_CHAPTER = 2
_OTHER_DATES = frozenset({
    "pmc-release", "nihms-submitted", "retracted", "corrected", "preprint", "received", "accepted",
})  # fmt: skip
_NO_AUTHORS = frozenset({"editor", "reviewer", "translator", "illustrator"})
_NOT_THE_ABSTRACT = frozenset({
    "graphical", "teaser", "toc", "short", "key-points", "highlights", "summary", "web-summary",
})  # fmt: skip
_ABSTRACTS = {
    "graphical": "Graphical abstract", "highlights": "Highlights", "key-points": "Key points", "summary": "Summary",
}  # fmt: skip


def paper(article: _Element, source: Source, remarks: Sequence[str]) -> Paper:
    builder = Builder(remarks=list(remarks))
    meta = _meta(article)
    reference = _reference(article, meta, title_of(source))
    floats = child(article, "floats-group", "floats-wrap")
    floating = {attribute(item, "id"): item for item in children(floats, "fig", "table-wrap")}
    body = Body(builder, source, dict(floating))
    builder.put_heading(reference.title, 1)
    _front(body, meta)
    _main(body, child(article, "body"))
    body.put(child(article, "back"), At(_CHAPTER))
    _floats(body, floats, floating)
    _remark(builder, article, body.flow.unreadable_formulas)
    return builder.paper(reference, format=FORMAT, language=attribute(article, "lang").lower()[:2])


def _front(body: Body, meta: _Element | None) -> None:
    """The abstracts, each under a heading of its own, and the keywords."""
    for abstract in children(meta, "abstract", "trans-abstract"):
        kind, language = attribute(abstract, "abstract-type"), attribute(abstract, "lang")
        title = _ABSTRACTS.get(kind, "Abstract")
        title = f"{title} ({language})" if local(abstract) == "trans-abstract" and language else title
        body.flow.section(abstract, At(_CHAPTER), title=title)
    keywords = [_words(keyword) for group in children(meta, "kwd-group") for keyword in descendants(group, "kwd")]
    if keywords:
        body.builder.put(BlockKind.TEXT, f"Keywords: {', '.join(keywords)}")


def _main(body: Body, element: _Element | None) -> None:
    """The article itself; without a heading of its own it would be taken for a part of the abstract."""
    if body.builder.has_sections and element is not None and len(element) and not _words(child(element[0], "title")):
        body.builder.put_heading("Main text", _CHAPTER)
    body.put(element, At(_CHAPTER))


def _floats(body: Body, floats: _Element | None, floating: dict[str, _Element]) -> None:
    """Those that no paragraph speaks of."""
    shown = [item for name, item in floating.items() if name not in body.floating]
    left = [item for item in (floats if floats is not None else ()) if not any(item is other for other in shown)]
    if left:
        body.builder.put_heading("Figures and tables", _CHAPTER)
    for item in left:
        body.flow.blocks.get(local(item), body.flow.flow)(item, At(_CHAPTER + 1))


def _remark(builder: Builder, article: _Element, formulas: int) -> None:
    if formulas:
        builder.remarks.append(f"formulas that are only pictures and could not be read: {formulas}")
    if others := list(children(article, "sub-article", "response")):
        builder.remarks.append(
            f"left out: {len(others)} articles attached to this one (reviews, replies, translations)"
        )


def _meta(article: _Element) -> _Element | None:
    front = child(article, "front", "front-stub")
    meta = child(front, "article-meta")
    return meta if meta is not None else front


def _reference(article: _Element, meta: _Element | None, fallback: str) -> Reference:
    ids = {attribute(found, "pub-id-type").lower(): _words(found) for found in children(meta, "article-id")}
    return Reference(
        id="",
        title=_title(meta) or fallback,
        doi=normalise_doi(ids.get("doi", "")),
        authors=tuple(_authors(meta)),
        abstract=_abstract(meta),
        venue=_venue(child(article, "front")),
        published=_published(meta),
        pmid=normalise_pmid(ids.get("pmid", "")),
        pmcid=_pmcid(ids),
        arxiv_id=normalise_arxiv(ids.get("arxiv", "")),
    )


def _pmcid(ids: dict[str, str]) -> str:
    number = ids.get("pmcid") or ids.get("pmc") or ids.get("pmc-aiid", "")
    return normalise_pmcid(number if number[:3].upper() == "PMC" else f"PMC{number}") if number else ""


def _title(meta: _Element | None) -> str:
    group = child(meta, "title-group")
    title, subtitle = _words(child(group, "article-title")), _words(child(group, "subtitle"))
    return f"{title}: {subtitle}" if title and subtitle else title


def _authors(meta: _Element | None) -> Iterator[Author]:
    for group in children(meta, "contrib-group"):
        for contributor in children(group, "contrib"):
            if attribute(contributor, "contrib-type") not in _NO_AUTHORS:
                yield from _author(contributor)


def _author(contributor: _Element) -> Iterator[Author]:
    orcid = next((_words(found) for found in children(contributor, "contrib-id")), "")
    name = child(contributor, "name", "string-name")
    if name is None:
        name = first(child(contributor, "name-alternatives"), "name", "string-name")
    if name is not None:
        parts = {part: _words(child(name, part)) for part in ("surname", "given-names", "suffix")}
        made = names.made(parts["surname"], parts["given-names"], suffix=parts["suffix"], orcid=orcid)
        yield made if made.last else names.inverted(_words(name))
    elif (group := child(contributor, "collab")) is not None:
        text = " ".join((group.text or _words(group)).split())
        yield from [Author(last=text)] if text else []


def _abstract(meta: _Element | None) -> str:
    """The main abstract: paragraphs, those of a structured one after the names of their parts."""
    all_of_them = list(children(meta, "abstract"))
    main = [found for found in all_of_them if attribute(found, "abstract-type") not in _NOT_THE_ABSTRACT] or all_of_them
    return "\n\n".join(_paragraphs(main[0])) if main else ""


def _paragraphs(element: _Element, title: str = "") -> Iterator[str]:
    for inner in element:
        name = local(inner)
        if name == "sec":
            yield from _paragraphs(inner, _words(child(inner, "title")).rstrip(":. "))
        elif name not in {"title", "label", "object-id"} and (text := _words(inner)):
            yield f"{title}: {text}" if title else text
            title = ""


def _venue(front: _Element | None) -> str:
    journal = child(front, "journal-meta")
    return _words(first(journal, "journal-title")) or _words(first(journal, "abbrev-journal-title"))


def _published(meta: _Element | None) -> Published:
    """The fullest of the dates of publication, of several the first."""
    found = [_date(date) for date in children(meta, "pub-date") if not _OTHER_DATES & {*date.attrib.values()}]
    return max(found, key=lambda date: (bool(date.year), bool(date.month), bool(date.day)), default=Published())


def _date(date: _Element) -> Published:
    return dates.made(*(_words(child(date, part)) for part in ("year", "month", "day")))


def _words(element: _Element | None) -> str:
    return inline(element, TAGS) if element is not None else ""
