from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, json_option, preview, print_json, printable

if TYPE_CHECKING:
    from carrel.atlas import Concepts
    from carrel.types import ConceptRow

_NAME = 32
_NARROW = 70


@click.command("concepts")
@click.argument("query", required=False, default="")
@click.option("--limit", type=click.IntRange(0), default=50, show_default=True, metavar="N", help="0 for all.")
@json_option
@click.pass_context
def command(context: click.Context, query: str, limit: int, as_json: bool) -> None:  # noqa: FBT001
    """List the concepts the papers speak of: all, or those whose name or alias has QUERY in it."""
    state: State = context.obj
    with state.open() as library:
        found = library.concepts(query, limit=limit)
    if as_json:
        print_json(found.as_dict())
    else:
        _print(found)


def _print(found: Concepts) -> None:
    from carrel.cli.telling import called, width

    names = max((len(called(row.concept.name)) for row in found.rows), default=0)
    if found.rows:
        click.echo(faint(f"{'papers':>6} {'chunks':>7}  {'concept'.ljust(min(names, _NAME))}  definition".rstrip()))
    for row in found.rows:
        click.echo(_line(row, min(names, _NAME), width()))
    if len(found.rows) == found.total:
        click.echo(f"{found.total:,} concept{'' if found.total == 1 else 's'}", err=True)
    else:
        click.echo(f"Showing {len(found.rows):,} of {found.total:,} concepts; --limit 0 shows all.", err=True)
    if not found.total and not found.query:
        click.echo("'carrel add' takes papers in; 'carrel index build' makes the graph anew.", err=True)


def _line(row: ConceptRow, names: int, width: int) -> str:
    from carrel.cli.telling import called

    definition = printable(preview(row.concept.definition, max(30, width - names - 19)))
    start = f"{row.papers:6,} {row.chunks:7,}  {called(row.concept.name).ljust(names)}"
    if width < _NARROW:
        return f"{start.rstrip()}\n{'':16}{faint(definition)}" if definition else start.rstrip()
    return f"{start}  {faint(definition)}" if definition else start.rstrip()
