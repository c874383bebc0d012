from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, json_option, print_flags, print_json, printable, title

if TYPE_CHECKING:
    from carrel.retractions import Report


@click.command("retractions")
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:  # noqa: FBT001
    """List the papers that were retracted, corrected or doubted since."""
    state: State = context.obj
    with state.open() as library:
        found = library.retractions()
    if as_json:
        print_json(found.as_dict())
    else:
        _print(found)


def _print(found: Report) -> None:
    from carrel.retractions import HOW
    from carrel.types import Standing

    for paper in found.papers:
        click.echo(f"{paper.reference.id}  {title(printable(paper.reference.title))}")
        print_flags(Standing(flags=paper.flags), "  ")
    flagged = f"{len(found.papers):,} of {found.looked_up:,} papers flagged"
    if found.complaint:
        click.echo(f"warning: {found.complaint}", err=True)
    if found.as_of:
        click.echo(f"{flagged}; {found.file}, newest notice of {found.as_of}", err=True)
    elif found.file:
        click.echo(f"{flagged}, by tags alone", err=True)
    else:
        click.echo(f"{flagged}, by tags alone: no file of retractions is set. {HOW}", err=True)
