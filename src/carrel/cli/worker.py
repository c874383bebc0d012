from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING

import click

from carrel.errors import CarrelError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.cli.common import State
    from carrel.jobs import Ingestion

_LOOK = 0.5
"""Seconds between two looks at how it goes."""


@click.command("worker")
@click.option("--concurrent", metavar="N", type=click.IntRange(1, 64), help="Documents to take in at a time.")
@click.option("--drain", is_flag=True, help="End when no document is waiting.")
@click.pass_context
def command(context: click.Context, concurrent: int | None, drain: bool) -> None:  # noqa: FBT001
    """Take in the documents that the service was given, beside the server or instead of it.

    Any number of workers share the work; what one was at when it died is finished by another. Ctrl-C or SIGTERM ends
    it: what it is at is left where another can go on.
    """
    from carrel.jobs import Ingestion

    state: State = context.obj
    chosen = (f"jobs.concurrent={concurrent}",) if concurrent else ()
    with replace(state, overrides=(*state.overrides, *chosen)).open() as library:
        if not library.settings.jobs.concurrent:
            raise InvalidInput("jobs.concurrent is 0: nothing would be taken in", hint="Say --concurrent 1.")
        click.echo(f"Taking in documents of {library.layout.root.parent}", err=True)
        ingestion = Ingestion(library)
        with _told_to_end() as ending:
            ingestion.start()
            _wait(ingestion, ending, drain=drain)
            ingestion.stop(library.settings.serve.shutdown_seconds)
            if ingestion.running:
                # It waits for a database that may never come back; to die here is as good as anywhere.
                os._exit(0)


@contextmanager
def _told_to_end() -> Iterator[Event]:
    """Set by Ctrl-C and by a polite kill."""
    ending = Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {one: signal.signal(one, lambda *_: ending.set()) for one in signals}
    try:
        yield ending
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _wait(ingestion: Ingestion, ending: Event, *, drain: bool) -> None:
    told = ""
    while not ending.wait(_LOOK):
        if ingestion.complaint != told:
            told = ingestion.complaint
            click.echo(f"waiting: {told}" if told else "going on", err=True)
        if drain and not told and _is_idle(ingestion):
            return


def _is_idle(ingestion: Ingestion) -> bool:
    try:
        return not ingestion.waiting()
    except CarrelError:
        # The keeper says what is wrong.
        return False
