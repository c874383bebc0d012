from __future__ import annotations

import click

from carrel.cli.common import State, faint, json_option, mark, print_json, years


@click.command("list")
@click.argument("papers", metavar="[PAPER…]", nargs=-1)
@click.option("--year", metavar="A:B", help="Only these years: 2020, 2016:2019, 2016: or :2019.")
@click.option("--venue", metavar="TEXT", default="", help="Only venues whose name contains this.")
@click.option("--tag", "tags", metavar="T", multiple=True, help="Only papers with this tag; any of several.")
@click.option("--author", "authors", metavar="TEXT", multiple=True, help="Only papers by whom this names, in part.")
@click.option(
    "--sort",
    type=click.Choice(["id", "year", "title", "added"]),
    default="id",
    show_default=True,
    help="By year and by when they were added, the newest first.",
)
@click.option("--limit", type=click.IntRange(0), default=0, metavar="N", help="At most so many; 0 for all.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    papers: tuple[str, ...],
    year: str | None,
    venue: str,
    tags: tuple[str, ...],
    authors: tuple[str, ...],
    sort: str,
    limit: int,
    as_json: bool,  # noqa: FBT001
) -> None:
    """List the papers: all, or those that are named and fit."""
    from carrel.reading.papers import Sort, Wanted
    from carrel.types import Filter

    state: State = context.obj
    first, last = years(year)
    where = Filter(year_min=first, year_max=last, venue=venue, tags=frozenset(tags))
    with state.open() as library:
        listing = library.papers(Wanted(papers, where, authors, Sort(sort), limit))
        notices = library.headlines([paper.row.reference.id for paper in listing.papers])
    if as_json:
        shown = listing.as_dict()
        print_json({**shown, "papers": [{**paper, "notice": notices.get(paper["id"])} for paper in shown["papers"]]})
        return
    for row in (paper.row for paper in listing.papers):
        waiting = "" if row.indexed else "  (not indexed yet)"
        published = row.reference.published.year or "n.d."
        notice = mark(notices.get(row.reference.id, ""))
        click.echo(f"{row.reference.id}  {faint(f'({published})')} {notice}{row.reference.title}{faint(waiting)}")
    count = len(listing.papers)
    is_all = count == listing.total
    click.echo(
        f"{count} papers" if is_all else f"Showing {count} of {listing.total} papers; --limit 0 shows all.", err=True
    )
