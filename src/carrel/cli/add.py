from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from carrel.cli.common import Progress, State, faint, json_option, preview, print_json
from carrel.types.papers import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import AddReport, Problem
    from carrel.types.papers import Detail

_SHOWN = 20


@click.command("add")
@click.argument("sources", metavar="PATH…", nargs=-1, required=True, type=click.Path())
@click.option("--tag", "tags", metavar="T", multiple=True, help="Give the papers this tag; may be repeated.")
@click.option("--paper-id", metavar="ID", default="", help="The id under which a single file is kept.")
@click.option("--force", is_flag=True, help="Read files again even if they have not changed.")
@click.option("--attached", is_flag=True, help="Take in the files that the references name, too.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen, and why.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    sources: tuple[str, ...],
    tags: tuple[str, ...],
    paper_id: str,
    force: bool,  # noqa: FBT001
    attached: bool,  # noqa: FBT001
    dry_run: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> int:
    """Take in references (.bib, .json, .ris, .jsonl, zotero.sqlite), papers (.pdf, .xml, .json, .md, .txt) and folders.

    'zotero:' is the library of the Zotero that runs on this machine; 'zotero:groups/ID' and 'zotero:collections/KEY'
    are its groups and collections. 'datalab:' is what papers-rag extracted.

    What is in the library already and has not changed costs nothing. A bad file or line is named and skipped; the rest
    is kept, and the exit code is 1.
    """
    state: State = context.obj
    with state.open() as library, Progress() as progress:
        report = library.add(
            *sources,
            tags=tags,
            paper_id=paper_id,
            force=force,
            dry_run=dry_run,
            attached=attached,
            progress=progress,
        )
    if as_json:
        print_json(report.as_dict())
    else:
        print_report(report)
        _print_attached(len(report.attached), "" if attached else shlex.join(sources))
    return 1 if report.failed else 0


def print_report(report: AddReport) -> None:
    what = "Would add" if report.dry_run else "Added"
    gone = f", {len(report.retired)} retired" if report.retired else ""
    click.echo(f"{what} {report.new} new, {report.updated} updated, {report.unchanged} unchanged{gone}")
    if not report.dry_run:
        click.echo(f"Embedded {report.chunks_embedded} chunks")
    _print_details(report.details)
    _print_problems("Note", report.remarks)
    _print_problems("Skipped", report.skipped)
    _print_problems("Failed", report.failed)


def _print_details(details: Sequence[Detail]) -> None:
    """What would happen to the papers, but for those to which nothing would."""
    told = [detail for detail in details if detail.reason != Reason.UNCHANGED]
    for detail in told[:_SHOWN]:
        reason = detail.reason.replace("_", " ")
        click.echo(f"  {detail.action:<6}  {detail.id}  {preview(detail.title, 60)}  {faint(f'({reason})')}")
    if len(told) > _SHOWN:
        click.echo(f"  … {len(told) - _SHOWN} more")


def _print_attached(count: int, sources: str) -> None:
    files = "1 attached file" if count == 1 else f"{count} attached files"
    if count and sources:
        click.echo(f"{files} could be taken in, too: carrel add {sources} --attached")
    elif count:
        click.echo(f"Would take in {files}")


def _print_problems(word: str, problems: Sequence[Problem]) -> None:
    for problem in problems[:_SHOWN]:
        click.echo(f"{word}: {problem.source}: {preview(problem.reason)}", err=True)
    if len(problems) > _SHOWN:
        click.echo(f"{word}: {len(problems) - _SHOWN} more", err=True)
