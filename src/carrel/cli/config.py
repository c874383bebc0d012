from __future__ import annotations

from dataclasses import asdict

import click

from carrel.cli.common import State, faint, json_option, print_json


@click.group("config")
def command() -> None:
    """See and change settings."""


@command.command("show")
@json_option
@click.pass_context
def show(context: click.Context, as_json: bool) -> None:  # noqa: FBT001
    """Print every setting in force, and who set it."""
    from carrel import settings

    state: State = context.obj
    with state.open() as library:
        listed = settings.listing(library.settings, library.origins)
    if as_json:
        print_json({"settings": [asdict(setting) for setting in listed]})
        return
    for setting in listed:
        click.echo(f"{setting.key} = {setting.value!r}  {faint(f'({setting.origin}) {setting.description}')}")


@command.command("set")
@click.argument("key")
@click.argument("value")
@json_option
@click.pass_context
def assign(context: click.Context, key: str, value: str, as_json: bool) -> None:  # noqa: FBT001
    """Set one key in this library's config.toml."""
    from pathlib import Path

    from carrel import layout, settings

    state: State = context.obj
    place = layout.find(Path(state.folder))
    kept = settings.assign(place.config, key, value)
    if as_json:
        print_json({"status": "updated", "key": key, "value": kept})
    else:
        click.echo(f"{key} = {kept!r}")
