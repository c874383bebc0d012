from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, json_option, print_json, title, warn_if_stale, years

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.likeness import Likeness
    from carrel.types import Reference

_AUTHORS = 3


@click.command("semantic")
@click.argument("query")
@click.option("-l", "--limit", type=int, default=10, show_default=True, metavar="N", help="How many papers, 1 to 100.")
@click.option("-t", "--threshold", type=float, metavar="X", help="The least similarity, 0 to 1.")
@click.option("--year", metavar="A:B", help="Only these years: 2020, 2016:2019, 2016: or :2019.")
@click.option("--tag", "tags", metavar="T", multiple=True, help="Only papers with this tag; any of several.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    query: str,
    limit: int,
    threshold: float | None,
    year: str | None,
    tags: tuple[str, ...],
    as_json: bool,  # noqa: FBT001
) -> None:
    """Find papers by the meaning of their abstracts, and of your notes and tags."""
    from carrel.types import Filter

    state: State = context.obj
    first, last = years(year)
    where = Filter(year_min=first, year_max=last, tags=frozenset(tags))
    with state.open() as library:
        warn_if_stale(library)
        found = library.semantic(query, limit=limit, threshold=threshold, where=where)
    if as_json:
        print_json(found.as_dict())
        return
    click.echo(f'Search: "{query}"')
    click.echo(f"Found {len(found.papers)} papers (threshold: {found.threshold:g})\n")
    print_papers(found.papers)
    if not found.papers and found.nearest is not None:
        click.echo(f"The nearest paper has a similarity of {found.nearest:.2f}; '-t' asks for less.", err=True)


def print_papers(papers: Sequence[Likeness]) -> None:
    for number, paper in enumerate(papers, start=1):
        reference = paper.reference
        click.echo(f"{number}. [{paper.similarity:.2f}] {title(reference.id)}")
        click.echo(f"   {reference.title}")
        by_note = " — by your note" if paper.matched == "note" else ""
        click.echo(f"   {faint(_byline(reference) + by_note)}")


def _byline(reference: Reference) -> str:
    """`Yu T, Smith A et al. (2020)`"""
    names = [f"{author.last} {author.first[:1]}".strip() for author in reference.authors[:_AUTHORS]]
    more = " et al." if len(reference.authors) > _AUTHORS else ""
    return f"{', '.join(names)}{more} ({reference.published.year or 'n.d.'})".strip()
