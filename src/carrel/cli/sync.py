from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from carrel.cli.add import print_report
from carrel.cli.common import Progress, State, faint, json_option, preview, print_json
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from carrel.library import Library
    from carrel.types import AddReport

_NAMED = 5


@click.command("sync")
@click.option("--watch", is_flag=True, help="Go on: sync whenever something changes, until Ctrl-C.")
@click.option("--prune", is_flag=True, help="Retire what is gone even where everything is gone at once.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen, and why.")
@click.option("--list", "show", is_flag=True, help="Show what is looked at.")
@click.option("--forget", metavar="PATH", help="Look at this no longer; its papers stay.")
@click.option(
    "--poll",
    type=click.FloatRange(1),
    default=300.0,
    metavar="SECONDS",
    help="With --watch: how often to look at what cannot be watched, as Zotero.",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    watch: bool,  # noqa: FBT001
    prune: bool,  # noqa: FBT001
    dry_run: bool,  # noqa: FBT001
    show: bool,  # noqa: FBT001
    forget: str | None,
    poll: float,
    as_json: bool,  # noqa: FBT001
) -> int:
    """Look again at every file, folder and Zotero library that was added.

    What is new there is added, what changed is updated, what is gone is retired. A file that was renamed keeps its
    paper. A location that cannot be reached is named, and nothing of it is retired.
    """
    if watch and (prune or dry_run):
        raise InvalidInput("--watch goes with neither --prune nor --dry-run", hint="Run 'carrel sync --prune' first.")
    state: State = context.obj
    with state.open() as library:
        if show or forget is not None:
            return _sources(library, forget, as_json=as_json)
        if watch:
            return _watch(library, poll, as_json=as_json)
        with Progress() as progress:
            report = library.sync(prune=prune, dry_run=dry_run, progress=progress)
    if as_json:
        print_json(report.as_dict())
    else:
        print_report(report)
    return 1 if report.failed else 0


def _sources(library: Library, forget: str | None, *, as_json: bool) -> int:
    forgotten = library.forget(forget) if forget is not None else None
    sources = library.sources()
    if as_json:
        forgotten_too = {"forgotten": forgotten} if forgotten is not None else {}
        print_json({"sources": [asdict(one) for one in sources], **forgotten_too})
        return 0
    if forgotten is not None:
        click.echo(f"Looks no longer at {forgotten}")
        return 0
    for one in sources:
        notes = [*(f"tag {tag}" for tag in one.tags), *(["with attached files"] if one.attached else [])]
        click.echo(f"{one.path}  {faint(', '.join(notes))}".rstrip())
    if not sources:
        click.echo("Nothing is looked at yet: 'carrel add PATH' adds and remembers.")
    return 0


def _watch(library: Library, poll: float, *, as_json: bool) -> int:
    from carrel.cli import watching

    watching.follow(library, poll=poll, tell=_tell_json if as_json else _teller())
    return 0


def _tell_json(report: AddReport) -> None:
    click.echo(json.dumps(report.as_dict(), ensure_ascii=False))


def _teller() -> Callable[[AddReport], None]:
    """One line a change set; a failure that stays is told once."""
    told: list[object] = []

    def tell(report: AddReport) -> None:
        is_first = not told
        if is_first or report.papers or report.retired:
            click.echo(f"{time.strftime('%H:%M:%S')} {_line(report)}", err=True)
        if not is_first and report.failed == told[-1]:
            return
        for problem in report.failed[:_NAMED]:
            click.echo(f"Failed: {problem.source}: {preview(problem.reason)}", err=True)
        told[:] = [report.failed]

    return tell


def _line(report: AddReport) -> str:
    counts = f"{report.new} new, {report.updated} updated, {len(report.retired)} retired, {report.unchanged} unchanged"
    named = [*report.papers, *(f"-{paper_id}" for paper_id in report.retired)]
    more = [f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []
    return f"{counts}: {', '.join([*named[:_NAMED], *more])}" if named else counts
