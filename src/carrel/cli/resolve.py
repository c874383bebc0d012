from __future__ import annotations

from typing import Any

import click

from carrel.cli.common import State, json_option, preview, print_json


@click.command("resolve")
@click.option("--interactive", is_flag=True, help="Ask which side stands where they cannot be reconciled.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    interactive: bool,  # noqa: FBT001
    dry_run: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> int:
    """Merge the conflicts that git left in refs.jsonl."""
    state: State = context.obj
    with state.open() as library:
        resolution = library.resolve(choose=_ask if interactive else None, dry_run=dry_run)
    if as_json:
        print_json(resolution.as_dict())
        return 1 if resolution.unresolved else 0
    for operation in resolution.operations:
        click.echo(f"{operation.action:10}  {operation.paper_id}  {operation.reason}")
    for left in resolution.unresolved:
        click.echo(f"unresolved: {left.paper_id}: {', '.join(left.fields)}", err=True)
    if not resolution.operations:
        click.echo("There is no conflict in refs.jsonl.", err=True)
    return 1 if resolution.unresolved else 0


def _ask(paper: str, field: str, ours: Any, theirs: Any) -> Any:  # noqa: ANN401
    click.echo(f"{paper}: {field}\n[1] ours    {preview(str(ours))}\n[2] theirs  {preview(str(theirs))}", err=True)
    return ours if click.prompt("Which stands?", type=click.IntRange(1, 2), err=True) == 1 else theirs
