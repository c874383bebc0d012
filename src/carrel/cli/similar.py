from __future__ import annotations

import click

from carrel.cli.common import State, json_option, print_json, warn_if_stale
from carrel.cli.semantic import print_papers


@click.command("similar")
@click.argument("paper")
@click.option("-l", "--limit", type=int, default=10, show_default=True, metavar="N", help="How many papers, 1 to 100.")
@json_option
@click.pass_context
def command(context: click.Context, paper: str, limit: int, as_json: bool) -> None:  # noqa: FBT001
    """Find the papers nearest to one of your own."""
    state: State = context.obj
    with state.open() as library:
        warn_if_stale(library)
        found = library.similar(paper, limit=limit)
    if as_json:
        print_json(found.as_dict())
        return
    click.echo(f"Similar to {found.source.id}: {found.source.title}\n")
    print_papers(found.papers)
