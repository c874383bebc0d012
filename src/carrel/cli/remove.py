from __future__ import annotations

import click

from carrel.cli.common import State, json_option, print_json


@click.command("remove")
@click.argument("papers", metavar="ID…", nargs=-1, required=True)
@json_option
@click.pass_context
def command(context: click.Context, papers: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001
    """Take papers out of the library and of refs.jsonl.

    The files they were read from stay where they are.
    """
    state: State = context.obj
    with state.open() as library:
        removed = library.remove(*papers)
    if as_json:
        print_json({"removed": removed})
    else:
        click.echo(f"Removed {', '.join(removed)}")
