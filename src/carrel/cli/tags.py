from __future__ import annotations

import click

from carrel.cli.common import State, json_option, print_json


@click.command("tags")
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:  # noqa: FBT001
    """List the tags, the most used first."""
    state: State = context.obj
    with state.open() as library:
        tags = library.tags()
    if as_json:
        print_json({"tags": [{"tag": tag, "papers": papers} for tag, papers in tags.items()]})
        return
    for tag, papers in tags.items():
        click.echo(f"{papers:6}  {tag}")
