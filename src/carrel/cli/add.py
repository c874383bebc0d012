from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli.common import Progress, State, json_option, preview, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import AddReport, Problem

_SHOWN = 20


@click.command("add")
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path())
@click.option("--tag", "tags", metavar="T", multiple=True, help="Give the papers this tag; may be repeated.")
@click.option("--paper-id", metavar="ID", default="", help="The id under which a single file is kept.")
@click.option("--force", is_flag=True, help="Read files again even if they have not changed.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    paths: tuple[str, ...],
    tags: tuple[str, ...],
    paper_id: str,
    force: bool,  # noqa: FBT001
    dry_run: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> int:
    """Take in references (.bib, .json, .ris, .jsonl, zotero.sqlite), texts (.md, .txt) and folders.

    What is in the library already and has not changed costs nothing. A bad file or line is named and skipped; the rest
    is kept, and the exit code is 1.
    """
    state: State = context.obj
    with state.open() as library, Progress() as progress:
        report = library.add(*paths, tags=tags, paper_id=paper_id, force=force, dry_run=dry_run, progress=progress)
    if as_json:
        print_json(report.as_dict())
    else:
        _print(report)
    return 1 if report.failed else 0


def _print(report: AddReport) -> None:
    what = "Would add" if report.dry_run else "Added"
    click.echo(f"{what} {report.new} new, {report.updated} updated, {report.unchanged} unchanged")
    if not report.dry_run:
        click.echo(f"Embedded {report.chunks_embedded} chunks")
    _print_problems("Skipped", report.skipped)
    _print_problems("Failed", report.failed)


def _print_problems(word: str, problems: Sequence[Problem]) -> None:
    for problem in problems[:_SHOWN]:
        click.echo(f"{word}: {problem.source}: {preview(problem.reason)}", err=True)
    if len(problems) > _SHOWN:
        click.echo(f"{word}: {len(problems) - _SHOWN} more", err=True)
