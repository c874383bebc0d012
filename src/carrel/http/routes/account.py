"""How the library is used, and what readers think of its answers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from carrel.errors import FeedbackExists, NotFound, QueryNotFound, ReadOnlyLibrary, StorageFull
from carrel.http.declaring import errors
from carrel.http.service import Serving
from carrel.http.shapes import Shape, Wish

router = APIRouter(tags=["account"])

QueryId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        pattern=r"^[0-9A-Za-z-]+$",
        description="The `queryId` of an answer.",
        examples=["9f86d081884c7d659a2feaa0c55ad015"],
    ),
]


class Rating(Wish):
    query_id: QueryId
    rating: int = Field(ge=1, le=5, strict=True, description="From 1, of no use, to 5, just right.", examples=[4])
    comment: str = Field(default="", max_length=2000, description="What else is to be said.", examples=["Found it."])


class Rated(Shape):
    success: bool = True
    feedback_id: str = Field(description="What the rating is kept under.")
    message: str = Field(default="Feedback recorded", examples=["Feedback recorded"])


class Opinion(Shape):
    feedback_id: str
    query_id: str
    rating: int = Field(ge=1, le=5)
    comment: str
    created_at: str = Field(description="UTC, as ISO 8601 has it.", examples=["2026-03-01T09:30:00.000+00:00"])


class Count(Shape):
    name: str
    count: int


class Percentiles(Shape):
    """Milliseconds that half, 95 % and 99 % of the queries did not exceed."""

    p50: float
    p95: float
    p99: float


class Usage(Shape):
    days: int = Field(description="Counted back from now; 0 for all that is kept.")
    queries: int
    answers: int = Field(description="Queries that asked for an answer rather than for passages.")
    unanswered: int = Field(description="Of the answers: those that said that the evidence does not suffice.")
    sessions: int
    by_day: list[Count] = Field(description="Queries, by day.")
    strategies: list[Count] = Field(description="What the queries really used.")
    confidence: list[Count] = Field(description="Of the answers.")
    degraded: int = Field(description="Queries of which some part failed.")
    latency: dict[str, Percentiles] = Field(description="By stage; `total` and `first_token` are among them.")
    ratings: list[Count] = Field(description="How often each rating was given.")
    mean_rating: float | None
    unanswered_questions: list[str] = Field(description="The latest, where `history.keep_text` is set.")


@router.post(
    "/api/feedback",
    status_code=201,
    summary="Rate an answer",
    responses=errors(QueryNotFound, FeedbackExists, ReadOnlyLibrary, StorageFull),
)
def rate(said: Rating, service: Serving) -> Rated:
    return Rated(feedback_id=service.library.rate(said.query_id, said.rating, said.comment).id)


@router.get("/api/feedback/{query_id}", summary="How an answer was rated", responses=errors(QueryNotFound, NotFound))
def feedback(query_id: Annotated[QueryId, Path()], service: Serving) -> Opinion:
    found = service.library.feedback(query_id)
    return Opinion(
        feedback_id=found.id,
        query_id=found.query_id,
        rating=found.rating,
        comment=found.comment,
        created_at=found.created_at,
    )


@router.get("/api/stats", summary="How the library is used", responses=errors())
def statistics(
    service: Serving,
    days: Annotated[int, Query(ge=0, le=36_500, description="Counted back from now; 0 for all that is kept.")] = 0,
) -> Usage:
    return Usage.model_validate(asdict(service.library.statistics(days)))
