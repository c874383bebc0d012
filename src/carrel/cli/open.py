from __future__ import annotations

import click

from carrel.cli.common import State, json_option, print_json


@click.command("open")
@click.argument("papers", metavar="[ID…]", nargs=-1)
@click.option("--supplement", type=click.IntRange(1), metavar="N", help="The papers' supplement N instead.")
@click.option("--recent", type=click.IntRange(1), metavar="N", help="The last N papers of refs.jsonl, newest first.")
@click.option("--since", metavar="COMMIT", help="The papers that refs.jsonl did not have at this git commit.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    papers: tuple[str, ...],
    supplement: int | None,
    recent: int | None,
    since: str | None,
    as_json: bool,  # noqa: FBT001
) -> int:
    """Show papers in your PDF reader. Exit code 1 when one could not be opened."""
    state: State = context.obj
    with state.open() as library:
        done = library.open_papers(*papers, recent=recent, since=since, supplement=supplement)
    if as_json:
        print_json(done.as_dict())
        return 1 if done.errors else 0
    for paper_id, path in done.opened:
        click.echo(f"Opened {paper_id}: {path}")
    for paper_id, error in done.errors:
        click.echo(f"Failed: {paper_id}: {error}", err=True)
    if not done.opened and not done.errors:
        click.echo("There is nothing new to open.", err=True)
    return 1 if done.errors else 0
