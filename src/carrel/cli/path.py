from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli import telling
from carrel.cli.common import State, faint, json_option, print_json, title

if TYPE_CHECKING:
    from carrel.atlas.paths import Reason, Step, StudyPath

_INDENT = "     "
_OTHERS = 6


@click.command("path")
@click.argument("name")
@click.option(
    "--limit",
    type=click.IntRange(1, 100),
    default=12,
    show_default=True,
    metavar="N",
    help="At most so many first.",
)
@json_option
@click.pass_context
def command(context: click.Context, name: str, limit: int, as_json: bool) -> None:  # noqa: FBT001
    """Show what to study before a concept, in order, and which sentences say so."""
    state: State = context.obj
    with state.open() as library:
        found = library.path(name, limit=limit)
        others = [] if len(found.steps) > 1 else library.concepts(name, limit=_OTHERS).rows
    if as_json:
        print_json(found.as_dict())
        return
    _print(found)
    if len(found.steps) == 1:
        click.echo(f"no paper tells what to know before {telling.name(found.target)!r}", err=True)
        named = ", ".join(telling.name(row) for row in others if row.key != found.target.key)
        if named:
            click.echo(f"there are also: {named}", err=True)


def _print(found: StudyPath) -> None:
    for number, step in enumerate(found.steps, start=1):
        _print_step(number, step)
    for reason in found.set_aside:
        click.echo(faint(telling.wrapped(f"Set aside, since it would close a circle: {reason.said}.")))


def _print_step(number: int, step: Step) -> None:
    click.echo(f"{number:3}. {title(telling.name(step.row))}")
    if step.row.concept.definition:
        click.echo(telling.wrapped(step.row.concept.definition, _INDENT))
    if step.read:
        click.echo(faint(telling.wrapped(f"read {telling.place(step.read)}", _INDENT)))
    for reason in step.because[:1]:
        click.echo(telling.wrapped(f"because {reason.said}", _INDENT))
        _print_evidence(reason, f"{_INDENT}  ")
    if step.because[1:]:
        others = "; ".join(reason.said for reason in step.because[1:])
        click.echo(faint(telling.wrapped(f"and {others}", _INDENT)))


def _print_evidence(reason: Reason, indent: str) -> None:
    for evidence in reason.evidence[:1]:
        click.echo(telling.quoted(evidence, indent))
