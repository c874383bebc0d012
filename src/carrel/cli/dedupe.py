from __future__ import annotations

import click

from carrel.cli.common import State, json_option, print_json


@click.command("dedupe")
@click.option("--merge", is_flag=True, help="Make one record of each group.")
@json_option
@click.pass_context
def command(context: click.Context, merge: bool, as_json: bool) -> None:  # noqa: FBT001
    """Find records that are one paper under several ids."""
    state: State = context.obj
    with state.open() as library:
        curated = library.curated()
        groups = library.dedupe() if merge else library.duplicates()
    duplicates = [one.id for group in groups for one in group.duplicates]
    total, edges = len(duplicates), curated.touching(duplicates)
    if as_json:
        shown = [
            {"primary": group.primary.id, "duplicates": [one.id for one in group.duplicates], "reason": group.reason}
            for group in groups
        ]
        print_json({"dry_run": not merge, "groups": shown, "total_duplicates": total, "edges_modified": edges})
        return
    for group in groups:
        click.echo(f"{group.primary.id} ← {', '.join(one.id for one in group.duplicates)}  (same {group.reason})")
    with_edges = f" with {edges} edges" if edges else ""
    click.echo(f"{total} duplicates{with_edges} {'merged' if merge else 'found; merge them with --merge'}", err=True)
