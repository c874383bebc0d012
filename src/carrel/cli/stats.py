from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, json_option, print_json, printable, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types.service import Share, Statistics


@click.command("stats")
@click.option("--days", type=click.IntRange(0), default=0, metavar="N", help="Only the last N days; 0 for all.")
@json_option
@click.pass_context
def command(context: click.Context, days: int, as_json: bool) -> None:  # noqa: FBT001
    """Tell how the library was used: volumes, times, confidence, unanswered questions, ratings."""
    state: State = context.obj
    with state.open() as library:
        found = library.statistics(days)
    if as_json:
        print_json(asdict(found))
    elif not found.queries:
        click.echo("Nothing was asked yet, or nothing is kept of it (setting history.enabled).", err=True)
    else:
        _print(found)


def _print(found: Statistics) -> None:
    when = f"in the last {found.days} days" if found.days else "in all"
    click.echo(f"{title('Queries')}  {found.queries} {when}, {found.answers} of them for an answer")
    click.echo(f"{title('Unanswered')}  {_share(found.unanswered, found.answers)}")
    click.echo(f"{title('Degraded')}  {_share(found.degraded, found.queries)}")
    for name, shares in (
        ("Confidence", found.confidence),
        ("Strategies", found.strategies),
        ("Ratings", found.ratings),
    ):
        if shares:
            click.echo(f"{title(name)}  {_listed(shares)}")
    if found.mean_rating is not None:
        click.echo(f"{title('Mean rating')}  {found.mean_rating:.2f}")
    click.echo(f"\n{title('Milliseconds'):20} {'half':>10} {'95 %':>10} {'99 %':>10}")
    for stage, spent in found.latency.items():
        click.echo(f"{stage:20} {spent['p50']:10.1f} {spent['p95']:10.1f} {spent['p99']:10.1f}")
    click.echo(f"\n{title('Days')}")
    for day in found.by_day:
        click.echo(f"{day.count:6}  {day.name}")
    if found.unanswered_questions:
        click.echo(f"\n{title('Unanswered questions')}  {faint('the latest first')}")
        for question in found.unanswered_questions:
            click.echo(f"- {printable(question)}")


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "0"


def _listed(shares: Sequence[Share]) -> str:
    return ", ".join(f"{share.name} {share.count}" for share in shares)
