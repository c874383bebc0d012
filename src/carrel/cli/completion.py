from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from carrel.cli.common import json_option, print_json


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
@click.pass_context
def command(context: click.Context, shell: str, as_json: bool) -> None:  # noqa: FBT001
    """Print the script that completes carrel's commands in a shell.

    For bash: carrel completion bash > ~/.local/share/bash-completion/completions/carrel
    """
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 (the choices are click's own)
    script = kind(context.find_root().command, {}, "carrel", "_CARREL_COMPLETE").source()
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)
