from __future__ import annotations

import click

from carrel.cli.common import Progress, State, json_option, print_json


@click.command("migrate")
@click.option(
    "--to", required=True, metavar="CATALOG", help="Where to: `postgresql://user@host/database`, or `sqlite`."
)
@click.option("--force", is_flag=True, help="Replace the catalog that is there already.")
@json_option
@click.pass_context
def command(context: click.Context, to: str, force: bool, as_json: bool) -> None:  # noqa: FBT001
    """Copy the catalog into another database, and compare every row.

    The old one stays as it is, and in use until the setting `catalog` names the new one.
    """
    from carrel import settings
    from carrel.migrating import migrate

    state: State = context.obj
    with Progress() as progress:
        done = migrate(state.folder, state.flags, to, force=force, progress=progress)
    if as_json:
        print_json(done.as_dict())
        return
    rows = sum(done.rows.values())
    click.echo(f"Copied and compared {rows:,} rows in {len(done.rows)} tables: {done.rows['papers']:,} papers.")
    own = str(settings.user_config())
    click.echo(f"Now set CARREL_CATALOG={to}, or catalog = {to!r} in your own config {own!r}.", err=True)
