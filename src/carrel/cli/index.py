from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from carrel.cli.common import Progress, State, in_bytes, json_option, print_json
from carrel.errors import IndexStale, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.health import IndexCheck
    from carrel.types import Problem


@click.group("index")
def command() -> None:
    """Build and check the indexes."""


@command.command("build")
@click.option("--force", is_flag=True, help="Make everything anew, embeddings included.")
@click.option("--embedder", metavar="NAME", help="Go over to this embedder, and set it when its vectors are whole.")
@json_option
@click.pass_context
def build(context: click.Context, force: bool, embedder: str | None, as_json: bool) -> int:  # noqa: FBT001
    """Bring the indexes to what refs.jsonl and the stored texts say.

    Only what is new or changed is embedded. The vectors of another model are built beside those there are, which are
    searched until the new ones are whole.
    """
    state = _with_embedder(context.obj, embedder) if embedder else context.obj
    with state.open() as library, Progress() as progress:
        built = library.build_index(force=force, keep_embedder=bool(embedder), progress=progress)
    if as_json:
        print_json(built.as_dict())
        return 1 if built.failed else 0
    click.echo(f"Papers indexed: {built.papers_indexed}")
    click.echo(f"Papers skipped (no abstract): {built.papers_skipped}")
    click.echo(f"Chunks embedded: {built.chunks_embedded}")
    click.echo(f"Time elapsed: {_duration(built.duration_seconds)}")
    click.echo(f"Index size: {in_bytes(built.index_size_bytes)}")
    click.echo(f"Model: {built.model}{f', instead of {built.model_before}' if built.model_before else ''}")
    if built.papers_resumed:
        click.echo(f"Papers that an interrupted build had embedded: {built.papers_resumed}")
    _print_broken(built.failed)
    return 1 if built.failed else 0


def _with_embedder(state: State, name: str) -> State:
    """As if it had been set; refused where the library's config would have no say in it afterwards."""
    from carrel import layout, settings

    place = layout.find(Path(state.folder))
    _, origins = settings.load(place.config, state.flags)
    if (origin := origins.get("embedder")) in {"environment", "flag"}:
        raise InvalidInput(
            f"the embedder cannot become {name!r}: it is set by the {origin}, which outranks the library's config",
            hint="Unset CARREL_EMBEDDER." if origin == "environment" else "Leave out '--set embedder=…'.",
        )
    return replace(state, overrides=(*state.overrides, f"embedder={name}"))


@command.command("check")
@json_option
@click.pass_context
def check(context: click.Context, as_json: bool) -> int:  # noqa: FBT001
    """Say whether the indexes are complete and current. Exit code 6 when they are not."""
    state: State = context.obj
    with state.open() as library:
        checked = library.check_index()
    if as_json:
        print_json(checked.as_dict())
    else:
        _print(checked)
    return 0 if checked.healthy else IndexStale.exit_code


def _print(checked: IndexCheck) -> None:
    click.echo("The index is healthy." if checked.healthy else "The index is stale. Run 'carrel index build'")
    click.echo(f"Papers: {checked.papers_total}, indexed: {checked.papers_indexed}, model: {checked.model}")
    named = {
        "Missing": checked.missing,
        "Changed": checked.changed,
        "Orphaned": checked.orphaned,
        "Embedded by another model": checked.wrong_model,
        "Of another dimension": checked.wrong_dimension,
    }
    for word, ids in named.items():
        if ids:
            click.echo(f"{word}: {len(ids)} ({', '.join(ids[:10])}{' …' if len(ids) > 10 else ''})")
    _print_broken(checked.broken)


def _print_broken(problems: Sequence[Problem]) -> None:
    for problem in problems[:10]:
        click.echo(f"Broken: {problem.source}: {problem.reason}", err=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest:02d}s" if minutes else f"{seconds:.1f}s"
