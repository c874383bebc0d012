"""What a machine room wants to know, counted where it happens and told as Prometheus reads it."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from carrel.errors import CarrelError
from carrel.release import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI
    from prometheus_client import Metric
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from carrel.catalogs import QueryRecord
    from carrel.http.health import Health
    from carrel.http.service import Service

_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_REQUESTS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_STAGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    def __init__(self, service: Service, health: Health) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "carrel_http_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "carrel_http_request_seconds",
            "Until the last byte of the answer.",
            ["method", "route"],
            buckets=_REQUESTS,
            registry=self.registry,
        )
        self._queries = Counter("carrel_queries", "Searches and answers.", ["kind", "strategy"], registry=self.registry)
        self._answers = Counter(
            "carrel_answers", "Answers, by their confidence.", ["confidence"], registry=self.registry
        )
        self._unanswered = Counter("carrel_unanswered", "Answers without the evidence for one.", registry=self.registry)
        self._degradations = Counter(
            "carrel_degradations", "Queries that a part failed in.", ["part"], registry=self.registry
        )
        self._stages = Histogram(
            "carrel_stage_seconds", "Stages of queries.", ["stage"], buckets=_STAGES, registry=self.registry
        )
        ProcessCollector(registry=self.registry)
        self.registry.register(_Present(service, health))

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        known = method if method in _METHODS else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(known, route).observe(seconds)

    def asked(self, query: QueryRecord) -> None:
        self._queries.labels("answer" if query.confidence else "search", query.strategy).inc()
        if query.confidence:
            self._answers.labels(query.confidence).inc()
        if query.is_unanswered:
            self._unanswered.inc()
        for part in set(query.degraded):
            self._degradations.labels(part).inc()
        for stage, milliseconds in query.timings.items():
            self._stages.labels(stage).observe(milliseconds / 1000)


class _Present:
    """What is not counted but looked at, whenever somebody asks."""

    def __init__(self, service: Service, health: Health) -> None:
        self._service = service
        self._health = health

    def collect(self) -> Iterator[Metric]:
        gate = self._service.gate
        yield GaugeMetricFamily("carrel_queries_active", "Questions that are being answered.", gate.active)
        yield GaugeMetricFamily("carrel_queries_active_max", "As many as may be.", gate.concurrent)
        yield GaugeMetricFamily("carrel_queries_queued", "Questions that wait for their turn.", gate.queued)
        yield GaugeMetricFamily("carrel_queries_queued_max", "As many as may wait.", gate.most_queued)
        yield GaugeMetricFamily("carrel_uptime_seconds", "Since the start.", time.monotonic() - self._service.began)
        release = GaugeMetricFamily("carrel_release", "Which Carrel this is.", labels=["version"])
        release.add_metric([VERSION], 1)
        yield release
        yield from self._questions()
        yield from self._components()
        yield from self._jobs()

    def _components(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("carrel_component_up", "Whether a component works.", labels=["component"])
        seconds = GaugeMetricFamily("carrel_component_seconds", "Until it answered.", labels=["component"])
        for name, component in self._health.report().components.items():
            up.add_metric([name], float(component.healthy))
            seconds.add_metric([name], component.latency_ms / 1000)
        yield from (up, seconds)

    def _questions(self) -> Iterator[Metric]:
        ended = CounterMetricFamily("carrel_questions", "Questions, by how they ended.", labels=["ended"])
        for name in ("answered", "left", "turned_away", "timed_out", "failed"):
            ended.add_metric([name], getattr(self._service.tally, name))
        yield ended

    def _jobs(self) -> Iterator[Metric]:
        """Nothing where the catalog cannot tell: that is no zero."""
        ingestion = self._service.ingestion
        yield GaugeMetricFamily("carrel_jobs_running", "Documents that this process is taking in.", ingestion.running)
        with suppress(CarrelError):
            waiting = ingestion.waiting()
            yield GaugeMetricFamily("carrel_jobs_unfinished", "Documents on their way in, here or elsewhere.", waiting)


class Counting:
    """Each request, those included that were not let in."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._metrics.answered(scope["method"], _route(scope), status, time.perf_counter() - start)


def install(app: FastAPI) -> None:
    """To be called when all else is in place: who counts stands before those who refuse."""
    service: Service = app.state.service
    app.state.metrics = Metrics(service, app.state.health)
    service.library.observers.append(app.state.metrics.asked)
    app.add_middleware(Counting, metrics=app.state.metrics)


def _route(scope: Scope) -> str:
    """By its pattern: paths that anybody could invent would be as many as anybody liked."""
    return str(getattr(scope.get("route"), "path_format", "none"))


def _metrics(request: Request) -> Metrics:
    found: Metrics = request.app.state.metrics
    return found


Measuring = Annotated[Metrics, Depends(_metrics)]
