from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from carrel.cli.common import Progress, State, json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.migrating import Migrated
    from carrel.migrating.errands import Moved

_WHAT = {"vectors": "vectors", "keywords": "chunks", "graph": "papers' concepts"}


@click.command("migrate")
@click.option("--catalog", "--to", metavar="CATALOG", help="Where to: `postgresql://user@host/database`, or `sqlite`.")
@click.option(
    "--vectors", metavar="VECTORS", help="Where to: `flat`, `lance`, `pgvector`, `milvus://host:19530/name` …"
)
@click.option("--keywords", metavar="KEYWORDS", help="Where to: `tantivy`, `postgresql`, `milvus://host:19530/name` …")
@click.option(
    "--graph", metavar="GRAPH", help="Where to: `sqlite`, `postgresql://user@host/database`, `neo4j://host` …"
)
@click.option("--force", is_flag=True, help="Replace what is there already.")
@json_option
@click.pass_context
def command(context: click.Context, /, *, force: bool, as_json: bool, **named: str | None) -> None:
    """Move a library's stores into others, and compare every row.

    Nothing is embedded again, and nobody is asked again for relations. The old stores stay as they are, and in use
    until the settings name the new ones. A move that was interrupted goes on where it was.
    """
    from carrel.migrating import migrate

    state: State = context.obj
    to = {seam: target for seam, target in named.items() if target is not None}
    with Progress() as progress:
        done = migrate(state.folder, state.flags, to, force=force, progress=progress)
    if as_json:
        print_json(done.as_dict())
    else:
        _print(done)


def _print(done: Migrated) -> None:
    from carrel import settings

    for seam, moved in done.moved.items():
        click.echo(_told(seam, moved))
    travels = {seam: settings.may_travel(seam, target) for seam, target in done.settings.items()}
    here = {seam: target for seam, target in done.settings.items() if travels[seam]}
    elsewhere = {seam: target for seam, target in done.settings.items() if not travels[seam]}
    if here:
        commands = (f"  carrel config set {seam} {shlex.quote(target)}" for seam, target in here.items())
        click.echo("\n".join(("To use what is new:", *commands)), err=True)
    if elsewhere:
        click.echo(_for_its_user(elsewhere, str(settings.user_config())), err=True)


def _for_its_user(named: Mapping[str, str], config: str) -> str:
    """A library's config may come from anybody: it names no other machine, and no server that is given a password."""
    variables = " ".join(f"CARREL_{seam.upper()}={shlex.quote(target)}" for seam, target in named.items())
    lines = "".join(f"\n{seam} = '{target}'" for seam, target in named.items())
    return (
        f"To use what is new, set {variables}, or, for all libraries whose own config does not say otherwise, in your "
        f"own config {config!r}:{lines}"
    )


def _told(seam: str, moved: Moved) -> str:
    if seam == "catalog":
        told = (
            f"Copied and compared {moved.rows:,} rows in {len(moved.tables)} tables: {moved.tables['papers']:,} papers"
        )
    else:
        told = f"Moved and compared {moved.rows:,} {_WHAT[seam]}{f' ({moved.note})' if moved.note else ''}"
    already = f", {moved.already:,} of which were there already" if moved.already else ""
    removed = f"; took out {moved.removed:,} papers that are not of this library" if moved.removed else ""
    return f"{told}{already}{removed}."
