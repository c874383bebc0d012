from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, json_option, print_json, printable, title
from carrel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.catalogs.conversations import Session


@click.group("sessions", invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:  # noqa: FBT001
    """List the conversations that 'ask --session' and 'chat --session' keep, the latest first."""
    if context.invoked_subcommand:
        return
    state: State = context.obj
    with state.open() as library:
        sessions = library.sessions()
    if as_json:
        print_json({"sessions": [asdict(session) for session in sessions], "total": len(sessions)})
    else:
        _print(sessions)


@command.command("show")
@click.argument("name")
@json_option
@click.pass_context
def show(context: click.Context, name: str, as_json: bool) -> None:  # noqa: FBT001
    """Print what was asked and answered in a conversation."""
    state: State = context.obj
    with state.open() as library:
        turns = library.turns(name)
    if not turns:
        raise NotFound(f"there is no session {name!r}", hint="'carrel sessions' lists them.")
    if as_json:
        print_json({"name": name, "turns": [asdict(turn) for turn in turns]})
        return
    for turn in turns:
        click.echo(f"{title(printable(turn.question))}  {faint(_when(turn.time))}")
        if turn.asked != turn.question:
            click.echo(faint(f"Asked as: {printable(turn.asked)}"))
        click.echo("\n".join(map(printable, turn.answer.splitlines())) + "\n")


@command.command("remove")
@click.argument("name")
@json_option
@click.pass_context
def remove(context: click.Context, name: str, as_json: bool) -> None:  # noqa: FBT001
    """Forget a conversation."""
    state: State = context.obj
    with state.open() as library:
        turns = library.forget_session(name)
    if as_json:
        print_json({"status": "removed", "name": name, "turns": turns})
    else:
        click.echo(f"Forgot {name!r}, {turns} question{'' if turns == 1 else 's'}.")


def _print(sessions: Sequence[Session]) -> None:
    if not sessions:
        click.echo("No conversation is kept. 'carrel ask --session NAME QUESTION' begins one.", err=True)
    for session in sessions:
        questions = f"{session.turns} question{'' if session.turns == 1 else 's'}"
        click.echo(f"{title(printable(session.name))}  {questions}  {faint(_when(session.latest))}")


def _when(time: str) -> str:
    return f"{time[:16].replace('T', ' ')} UTC"
