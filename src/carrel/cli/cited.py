from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, json_option, preview, print_json, title
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from carrel.cited import Bibliography, CitedBy, Missing

_EXAMPLE = "As in 'carrel cited smith2020', 'carrel cited --by smith2020' or 'carrel cited --missing'."


@click.command("cited")
@click.argument("paper", required=False)
@click.option("--by", is_flag=True, help="The papers of the library that cite it, instead of what it cites.")
@click.option("--missing", is_flag=True, help="What several papers cite and the library does not have.")
@click.option("--limit", type=click.IntRange(0), metavar="N", help="With --missing: at most so many; 0 for all.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    paper: str | None,
    by: bool,  # noqa: FBT001
    missing: bool,  # noqa: FBT001
    limit: int | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Show what a paper cites, who cites it, or what is often cited and missing."""
    _check(paper, by=by, missing=missing, limit=limit)
    state: State = context.obj
    with state.open() as library:
        if missing:
            found: Missing | CitedBy | Bibliography = library.missing(limit=20 if limit is None else limit)
        else:
            found = library.cited_by(paper or "") if by else library.bibliography(paper or "")
    if as_json:
        print_json(found.as_dict())
    else:
        _print(found)


def _check(paper: str | None, *, by: bool, missing: bool, limit: int | None) -> None:
    if missing and (paper is not None or by):
        raise InvalidInput("--missing is asked of the whole library, not of one paper", hint=_EXAMPLE)
    if not missing and paper is None:
        raise InvalidInput("no paper was named", hint=_EXAMPLE)
    if limit is not None and not missing:
        raise InvalidInput("--limit needs --missing", hint=_EXAMPLE)


def _print(found: Missing | CitedBy | Bibliography) -> None:
    from carrel.cited import Bibliography, CitedBy

    match found:
        case Bibliography():
            _print_bibliography(found)
        case CitedBy():
            _print_cited_by(found)
        case _:
            _print_missing(found)


def _print_bibliography(found: Bibliography) -> None:
    for entry in found.entries:
        known = f"  {title(f'→ {entry.known_as}')}" if entry.known_as else ""
        click.echo(f"{entry.position + 1:4}  {preview(entry.cited.text, 300)}{known}")
    counted = f"{len(found.entries)} works, {found.in_library} of them in this library"
    click.echo(f"{found.source.id} cites {counted}", err=True)


def _print_cited_by(found: CitedBy) -> None:
    for paper, cited in found.papers:
        year = paper.published.year or "n.d."
        click.echo(f"{paper.id}  {faint(f'({year})')} {paper.title}")
        click.echo(f"   {faint(preview(cited.text, 300))}")
    click.echo(f"{found.source.id} is cited by {len(found.papers)} papers of this library", err=True)


def _print_missing(found: Missing) -> None:
    for work in found.works:
        year = f" ({work.cited.year})" if work.cited.year else ""
        doi = f"  {faint(f'doi:{work.cited.doi}')}" if work.cited.doi else ""
        named = title(work.cited.title) if work.cited.title else preview(work.cited.text)
        click.echo(f"{len(work.cited_by):4}  {named}{year}{doi}")
        click.echo(f"      {faint(preview('cited by ' + ', '.join(work.cited_by), 300))}")
    more = f" (showing {len(found.works)}; --limit 0 shows all)" if len(found.works) < found.total else ""
    click.echo(f"{found.total:,} works are cited by several papers and not in this library{more}", err=True)
    if found.unread:
        click.echo(f"{found.unread:,} entries without a DOI and a title that could be read are not counted", err=True)
