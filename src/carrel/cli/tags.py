from __future__ import annotations

import click

from carrel.cli.common import State, json_option, print_json


@click.command("tags")
@click.option("--paper", "papers", metavar="ID", multiple=True, help="Only of this paper; may be repeated.")
@json_option
@click.pass_context
def command(context: click.Context, papers: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001
    """List the tags, the most used first."""
    state: State = context.obj
    with state.open() as library:
        tags = library.tags(*papers)
    if as_json:
        print_json({"tags": [{"tag": tag, "papers": count} for tag, count in tags.items()]})
        return
    for tag, count in tags.items():
        click.echo(f"{count:6}  {tag}")
