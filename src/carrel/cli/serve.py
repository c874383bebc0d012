from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Callable


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Where to listen; the setting serve.host.")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="0 for a free one; the setting serve.port.")
@click.option("--open", "opens", is_flag=True, help="Show the page in your browser once it can be seen.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    host: str | None,
    port: int | None,
    opens: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> None:
    """Serve the library over HTTP, to programs, browsers and agents, until Ctrl-C or a TERM signal.

    Answers that are under way are finished first; asked a second time, it stops at once.
    """
    from carrel import telemetry
    from carrel.http.server import serve

    state: State = context.obj
    with state.open() as library:
        if "log_level" not in library.origins:
            telemetry.configure("warning")
        tell = _tell_json if as_json else _tell
        serve(library, partial(_tell_and_open, tell) if opens else tell, host=host or "", port=port)
    click.echo(faint("Stopped."), err=True)


def _tell_and_open(tell: Callable[[str], None], address: str) -> None:
    """A browser may take as long as it likes, and one that cannot be had is no error."""
    tell(address)
    threading.Thread(target=_open, args=[address], daemon=True, name="carrel-browser").start()


def _open(address: str) -> None:
    import webbrowser

    for everywhere, here in (("//0.0.0.0:", "//127.0.0.1:"), ("//[::]:", "//[::1]:")):
        address = address.replace(everywhere, here)
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(address)


def _tell_json(address: str) -> None:
    print_json({"address": address})


def _tell(address: str) -> None:
    click.echo(address)
    click.echo(faint("Ctrl-C stops it."), err=True)
