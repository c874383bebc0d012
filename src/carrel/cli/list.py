from __future__ import annotations

import click

from carrel.cli.common import State, faint, json_option, print_json


@click.command("list")
@click.option("--limit", type=click.IntRange(0), default=0, metavar="N", help="At most so many; 0 for all.")
@json_option
@click.pass_context
def command(context: click.Context, limit: int, as_json: bool) -> None:  # noqa: FBT001
    """List the papers."""
    from carrel.reading import paper_as_dict

    state: State = context.obj
    with state.open() as library:
        rows = library.list()
    shown = rows[: limit or None]
    if as_json:
        print_json({"papers": [paper_as_dict(row) for row in shown], "total": len(rows)})
        return
    for row in shown:
        year = row.reference.published.year or "n.d."
        waiting = "" if row.indexed else "  (not indexed yet)"
        click.echo(f"{row.reference.id}  {faint(f'({year})')} {row.reference.title}{faint(waiting)}")
    more = f" (showing {len(shown)}; use --limit to see more)" if len(shown) < len(rows) else ""
    click.echo(f"{len(rows)} papers{more}", err=True)
