from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, in_bytes, json_option, print_json, title
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.embedders.cache_contents import Entry

_model = click.option("--model", default="", metavar="M", help="Only the embeddings of this model.")
_paper = click.option("--paper", default="", metavar="ID", help="Only the embeddings of this paper.")


@click.group("cache")
def command() -> None:
    """See and clear the cache of embeddings."""


@command.command("list")
@_model
@_paper
@json_option
@click.pass_context
def show(context: click.Context, model: str, paper: str, as_json: bool) -> None:  # noqa: FBT001
    """List the embeddings that are cached, by model and paper."""
    state: State = context.obj
    with state.open() as library:
        entries = library.cached(model=model, paper_id=paper)
    if as_json:
        print_json({"entries": [entry.as_dict() for entry in entries], **_total(entries)})
        return
    for name, group in groupby(entries, key=lambda entry: entry.model):
        kept = list(group)
        click.echo(f"{title(name)}  {faint(_summary(kept))}")
        for entry in kept:
            when = "damaged" if entry.damaged else entry.created_at
            click.echo(f"{entry.rows:8} rows {in_bytes(entry.size):>10}  {when:25}  {entry.paper_id}")
    click.echo(f"{_summary(entries)} in all" if entries else "Nothing is cached.", err=True)


@command.command("clear")
@_model
@_paper
@click.option("--all", "everything", is_flag=True, help="The embeddings of every model and paper.")
@json_option
@click.pass_context
def clear(context: click.Context, model: str, paper: str, everything: bool, as_json: bool) -> None:  # noqa: FBT001
    """Delete cached embeddings. Searches work as before; what is needed again is embedded again."""
    if everything == bool(model or paper):
        wrong = "does not go with --model and --paper" if everything else "or --model or --paper is needed"
        raise InvalidInput(f"--all {wrong}", hint="'carrel cache list' shows what is cached.")
    state: State = context.obj
    with state.open() as library:
        gone = library.clear_cache(model=model, paper_id=paper)
    if as_json:
        print_json({"status": "cleared", **_total(gone)})
    else:
        click.echo(f"Freed {_summary(gone)}" if gone else "Nothing was cached.")


def _total(entries: Sequence[Entry]) -> dict[str, int]:
    return {
        "models": len({entry.model for entry in entries}),
        "papers": len({entry.paper_id for entry in entries}),
        "rows": sum(entry.rows for entry in entries),
        "size_bytes": sum(entry.size for entry in entries),
    }


def _summary(entries: Sequence[Entry]) -> str:
    total = _total(entries)
    return f"{in_bytes(total['size_bytes'])}: {total['rows']} rows of {total['papers']} papers"
