from __future__ import annotations

import json
import os
import sys
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from carrel.cli.ask import print_answer, print_proof
from carrel.cli.common import State, fail, faint, printable, session_option
from carrel.errors import CarrelError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.asking import Wishes
    from carrel.catalogs.conversations import Turn
    from carrel.library import Library
    from carrel.types import Answer

_HELP = "/sources  /save FILE  /new [NAME]  /quit"


@click.command("chat")
@session_option
@click.option("--json", "as_json", is_flag=True, help="Print each answer as a line of JSON.")
@click.pass_context
def command(context: click.Context, session: str, as_json: bool) -> int:  # noqa: FBT001
    """Ask question after question; one may go on with what was asked before.

    /sources shows the last answer's sources again, /save FILE keeps it, /new begins another conversation, /quit ends.
    Ctrl-C stops an answer. Nothing is kept without --session.
    """
    state: State = context.obj
    with state.open() as library:
        chat = _Chat(library, session, as_json)
        if session:
            library.turns(session)
        if sys.stdin.isatty():
            click.echo(faint(f"Ask, or use {_HELP}"), err=True)
        for line in _lines():
            if line == "/quit":
                break
            chat.take(line)
    return 0 if sys.stdin.isatty() else chat.code


@dataclass
class _Chat:
    library: Library
    session: str
    as_json: bool
    turns: list[Turn] = field(default_factory=list)
    """Of a conversation that is not kept."""
    last: Answer | None = None
    code: int = 0
    """Of the last thing that went wrong."""

    def take(self, line: str) -> None:
        try:
            self._obey(line) if line.startswith("/") else self._ask(line)
        except CarrelError as error:
            self.code = fail(error.message, error.hint, error.exit_code, as_json=self.as_json)
        except KeyboardInterrupt:
            click.echo(faint("\nStopped."), err=True)

    def _ask(self, question: str) -> None:
        from carrel.catalogs.conversations import Turn

        talk: Wishes = {"session": self.session, "earlier": self.turns}
        if self.as_json:
            self.last = self.library.ask(question, **talk)
            click.echo(json.dumps(self.last.as_dict()))
        else:
            self.last = self._answered(question, talk)
        self.turns.append(Turn(question, self.last.asked or question, self.last.answer))

    def _answered(self, question: str, talk: Wishes) -> Answer:
        asked = self.library.made_whole(question, session=self.session, earlier=self.turns)
        if asked != question:
            click.echo(faint(f"Asked as: {printable(asked)}"))
        with closing(self.library.stream(question, **talk)) as events:
            answer = print_answer(events, self.library.settings.answer.threshold)
        click.echo()
        return answer

    def _obey(self, line: str) -> None:
        name, _, argument = line.partition(" ")
        match name:
            case "/sources" if self.last:
                print_proof(self.last)
            case "/save" if self.last and argument.strip():
                self._save(self.last, argument.strip())
            case "/new":
                if argument.strip():
                    self.library.turns(argument.strip())
                self.session, self.turns, self.last = argument.strip(), [], None
            case "/sources" | "/save":
                raise InvalidInput(
                    f"{name} needs an answer{' and a FILE' if name == '/save' else ''}", hint="Ask first."
                )
            case _:
                raise InvalidInput(f"{printable(name)} is no command", hint=_HELP)

    def _save(self, answer: Answer, name: str) -> None:
        path = Path(os.path.expanduser(name))  # noqa: PTH111, Path's own fails for an unknown user.
        if path.exists():
            raise InvalidInput(f"{name!r} is there already", hint="Name another file.")
        self.library.save(answer, path)
        click.echo(f"Saved {printable(name)}", err=True)


def _lines() -> Iterator[str]:
    """What is typed or piped in, until there is no more. Ctrl-C begins a line anew."""
    with suppress(EOFError):
        while True:
            try:
                line = input("› " if sys.stdin.isatty() else "").strip()
            except KeyboardInterrupt:
                click.echo(faint("\n/quit or Ctrl-D ends."), err=True)
                continue
            if line:
                yield line
