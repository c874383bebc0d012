"""Reading: the papers, what they are made of, and their pictures."""

from __future__ import annotations

from pathlib import Path as File
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from carrel import cursors
from carrel.errors import NotFound, PaperNotFound, TooLarge
from carrel.http import papers as shapes
from carrel.http.declaring import CHANGING, errors
from carrel.http.passages import LONGEST_NAME, Cursor, Limit, Named, Narrowing, Number, Text, Texts
from carrel.http.service import Serving
from carrel.reading import FigureView, PaperView
from carrel.reading.papers import Order, Sort, Wanted

router = APIRouter(tags=["papers"])

Naming = Annotated[Named, Path(description="Its id, or its title.")]
Placing = Annotated[Named, Path(description="As searches and citations give it.", examples=["smith2020/ch1/s2/p3"])]
_LONGEST_TEXT = 1_000_000
_LARGEST_PICTURE = 50_000_000
_PICTURES = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".bmp": "image/bmp",
}
# A picture may be a program, as SVG can be: nothing in it is run.
_HARMLESS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


class Listing(Narrowing):
    author: Texts = Field(default=[], description="Only papers by whom any of these names, in part.")
    query: Text = Field(default="", description="Only papers with all these words, or parts, in id, title or authors.")
    sort: Sort = Field(default=Sort.ID, description="By year and by when they were added, the newest first.")
    order: Order | None = Field(default=None, description="Upwards or downwards; if left out, as the sort has it.")
    limit: Limit = 50
    cursor: Cursor = ""
    offset: Number = Field(default=0, description="How many to pass over; not together with `cursor`.")


@router.get("/api/papers", summary="List the papers", responses=errors(PaperNotFound))
def papers(asked: Annotated[Listing, Query()], service: Serving) -> shapes.Papers:
    library = service.library
    wanted = Wanted(
        where=asked.where(library),
        authors=tuple(asked.author),
        sort=asked.sort,
        limit=asked.limit,
        cursor=asked.cursor,
        offset=asked.offset,
        query=asked.query,
        order=asked.order,
    )
    listing = library.papers(wanted)
    notices = library.headlines([paper.row.reference.id for paper in listing.papers])
    return shapes.Papers.of(listing, notices)


@router.get("/api/papers/{paper:path}", summary="A paper and its outline", responses=errors(PaperNotFound))
def paper(paper: Naming, service: Serving) -> shapes.PaperDetail:
    library = service.library
    view = library.show(paper)
    if not isinstance(view, PaperView):
        raise PaperNotFound(f"{paper!r} is a place in a paper", hint="GET /api/chunks/{address} shows it.")
    paper_id = view.reference.id
    documents = library.stores.catalog.submissions.by_paper(paper_id)
    return shapes.PaperDetail.of(view, library.standing(paper_id), [one.id for one in documents])


@router.delete(
    "/api/papers/{paper:path}",
    summary="Take a paper out of the library",
    description="Out of refs.jsonl, too. The file it was read from stays where it is.",
    responses=errors(PaperNotFound, *CHANGING),
)
def remove(paper: Annotated[Named, Path(description="Its id.")], service: Serving) -> shapes.Removed:
    (removed,) = service.library.remove(paper)
    return shapes.Removed(success=True, paper_id=removed)


@router.get(
    "/api/chunks/{address:path}",
    summary="A chunk with its neighbours, a section, a chapter or a figure",
    responses=errors(NotFound, PaperNotFound),
)
def chunk(address: Placing, service: Serving) -> Annotated[shapes.Place, Field(discriminator="kind")]:
    place = shapes.place(service.library.show(address))
    if place is None:
        raise NotFound(f"{address!r} is a whole paper", hint="GET /api/papers/{id} shows it.")
    return place


@router.get(
    "/api/figures/{address:path}/image",
    summary="The picture of a figure",
    response_class=Response,
    responses={
        200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in _PICTURES.values()}},
        **errors(NotFound, PaperNotFound),
    },
)
def image(address: Annotated[Named, Path(examples=["smith2020/fig1"])], service: Serving) -> Response:
    view = service.library.show(address)
    if not isinstance(view, FigureView) or view.image is None:
        raise NotFound(f"there is no picture of {address!r}", hint="GET /api/chunks/{address} tells what there is.")
    return Response(_content(view.image, address), media_type=_PICTURES[view.image.suffix.lower()], headers=_HARMLESS)


def _content(file: File, address: str) -> bytes:
    try:
        if file.stat().st_size > _LARGEST_PICTURE:
            raise TooLarge(f"the picture of {address!r} has more than {_LARGEST_PICTURE // 1_000_000} MB")
        return file.read_bytes()
    except OSError as error:
        raise NotFound(
            f"the picture of {address!r} cannot be read", hint="'carrel add --force' brings it back."
        ) from error


@router.get(
    "/api/text/{address:path}",
    summary="The stored text that citations count their offsets in",
    responses=errors(NotFound, PaperNotFound),
)
def text(
    address: Annotated[Named, Path(description="A paper, or a place in one, whose text is meant.")],
    service: Serving,
    start: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=_LONGEST_TEXT, description="Characters at most.")] = 100_000,
) -> shapes.SourceText:
    stored = service.library.text(address)
    part = stored[start : start + limit]
    begin = min(start, len(stored))
    return shapes.SourceText(address=address, start=begin, end=begin + len(part), length=len(stored), text=part)


@router.get("/api/tags", summary="List the tags, the most used first", responses=errors(PaperNotFound))
def tags(
    service: Serving,
    paper: Annotated[Texts, Query(description="Only of these papers.")] = [],  # noqa: B006 (FastAPI copies it)
    limit: Annotated[Limit, Query()] = 100,
    cursor: Annotated[Cursor, Query()] = "",
) -> shapes.Tags:
    place = cursors.opened(cursor, tags=sorted(paper))
    counted = list(service.library.tags(*paper).items())
    page = place.page(counted, lambda pair: pair[0], limit=limit)
    shown = [shapes.Tag(tag=tag[:LONGEST_NAME], papers=count) for tag, count in page.items]
    return shapes.Tags(tags=shown, total=len(counted), next_cursor=page.next_cursor)


@router.get("/api/venues", summary="List the venues, the most used first", responses=errors())
def venues(
    service: Serving,
    query: Annotated[Text, Query(description="Only those whose name has this in it.")] = "",
    limit: Annotated[Limit, Query()] = 100,
) -> shapes.Venues:
    counted = service.library.venues(query)
    # As much of a long one as can be asked for.
    shown = [shapes.Venue(venue=venue[:LONGEST_NAME], papers=count) for venue, count in list(counted.items())[:limit]]
    return shapes.Venues(venues=shown, total=len(counted))
