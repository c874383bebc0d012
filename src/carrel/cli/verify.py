from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, json_option, print_json, printable
from carrel.errors import Damaged

if TYPE_CHECKING:
    from carrel.verifying import AnswerChecked, QuoteChecked, Verified

_SHOWN = 20


@click.command("verify")
@click.argument("files", metavar="[FILE…]", nargs=-1, type=click.Path(path_type=Path))
@json_option
@click.pass_context
def command(context: click.Context, files: tuple[Path, ...], as_json: bool) -> int:  # noqa: FBT001
    """Check every quote of answers that 'ask --save' wrote. Without FILE, check that all stores agree.

    Exit code 7 when a quote no longer stands, or a store is damaged.
    """
    state: State = context.obj
    with state.open() as library:
        verified = library.verify(*files)
    if as_json:
        print_json(verified.as_dict())
    else:
        _print(verified)
    return 0 if verified.ok else Damaged.exit_code


def _print(verified: Verified) -> None:
    for answer in verified.answers:
        _print_answer(answer)
    counted = ", ".join(_counted(count, name) for name, count in verified.checked.items())
    click.echo(f"{'All is well' if verified.ok else 'Damaged'}: {counted} checked.")
    for problem in verified.problems[:_SHOWN]:
        where = f"{problem.store} {problem.id}".strip()
        click.echo(f"✗ {printable(where)}: {printable(problem.problem)}")
    if len(verified.problems) > _SHOWN:
        click.echo(f"… and {len(verified.problems) - _SHOWN:,} more; --json names all.")
    if verified.hint:
        click.echo(f"\n{verified.hint}", err=True)


def _counted(count: int, things: str) -> str:
    return f"{count:,} {things.removesuffix('s') if count == 1 else things}"


def _print_answer(answer: AnswerChecked) -> None:
    click.echo(f"{printable(answer.file)}: {printable(answer.question)} {faint(f'({printable(answer.time)})')}")
    for quote in answer.citations:
        click.echo(f"  {'✓' if quote.stands else '✗'} [{quote.id}] {printable(quote.address)}: {_told(quote)}")
    for note in answer.notes:
        click.echo(f"  {faint(printable(note))}")
    click.echo()


def _told(quote: QuoteChecked) -> str:
    return quote.status.value.replace("_", " ")
