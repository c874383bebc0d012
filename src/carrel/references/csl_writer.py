"""References as CSL-JSON, for citation processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carrel.types import Author, Reference


def as_item(reference: Reference) -> dict[str, Any]:
    """One item; what is not known is left out."""
    published = reference.published
    date = [part for part in (published.year, published.month, published.day) if part]
    item = {
        "id": reference.id,
        "type": "article-journal",
        "title": reference.title,
        "author": [_name(author) for author in reference.authors],
        "container-title": reference.venue,
        "issued": {"date-parts": [date]} if published.year else None,
        "DOI": reference.doi,
        "PMID": reference.pmid,
        "PMCID": reference.pmcid,
        "abstract": reference.abstract,
        "note": reference.note,
        "keyword": ", ".join(reference.tags),
        "number": f"arXiv:{reference.arxiv_id}" if reference.arxiv_id else "",
    }
    return {key: value for key, value in item.items() if value}


def _name(author: Author) -> dict[str, str]:
    return {"family": author.last, "given": author.first} if author.first else {"literal": author.last}
