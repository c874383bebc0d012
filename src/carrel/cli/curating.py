"""What the commands `concept` and `edge` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, printable, title

if TYPE_CHECKING:
    from collections.abc import Iterable

    from carrel.curation import Curated
    from carrel.curation.records import Edge

SHOWN = 10


def read(context: click.Context) -> Curated:
    """The user's own concepts and edges; lines that are neither are named."""
    state: State = context.obj
    with state.open() as library:
        curated = library.curated()
    problems = curated.problems
    warn(f"{problem.source}: {problem.reason}" for problem in problems[:SHOWN])
    if len(problems) > SHOWN:
        warn([f"{len(problems) - SHOWN:,} more lines cannot be read; 'carrel check' lists all"])
    return curated


def meant(context: click.Context, paper: str, curated: Curated) -> str:
    """The id of a paper by its id or title. One that has edges is not looked for."""
    if curated.touching([paper]):
        return paper
    state: State = context.obj
    with state.open() as library:
        return library.find(paper)[0].reference.id


def warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        click.echo(f"warning: {printable(warning)}", err=True)


def shown(edge: Edge) -> str:
    return f"{title(printable(edge.source))} {faint(printable(f'—{edge.type}→'))} {title(printable(edge.target))}"
