"""The figures of the service, for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from carrel.http.declaring import errors
from carrel.http.metrics import Measuring

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **errors()},
)
def metrics(measuring: Measuring) -> Response:
    return Response(generate_latest(measuring.registry), media_type=CONTENT_TYPE_LATEST)
