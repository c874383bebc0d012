from __future__ import annotations

import click

from carrel.cli.common import json_option, print_json


@click.command("init")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path())
@json_option
def command(folder: str, as_json: bool) -> None:  # noqa: FBT001
    """Make a library in a folder.

    A .bipartite directory that is there already is used as it is.
    """
    from carrel.library import Library

    with Library.init(folder) as library:
        root = str(library.layout.root)
    if as_json:
        print_json({"status": "initialized", "path": root})
    else:
        click.echo(f"Made a library in {root}\nNext: carrel add PATH")
