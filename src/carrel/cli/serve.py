from __future__ import annotations

import click

from carrel.cli.common import State, faint, json_option, print_json


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Where to listen; the setting serve.host.")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="0 for a free one; the setting serve.port.")
@json_option
@click.pass_context
def command(context: click.Context, host: str | None, port: int | None, as_json: bool) -> None:  # noqa: FBT001
    """Serve the library over HTTP, to programs, browsers and agents, until Ctrl-C or a TERM signal.

    Answers that are under way are finished first; asked a second time, it stops at once.
    """
    from carrel import telemetry
    from carrel.http.server import serve

    state: State = context.obj
    with state.open() as library:
        if "log_level" not in library.origins:
            telemetry.configure("warning")
        serve(library, _tell_json if as_json else _tell, host=host or "", port=port)
    click.echo(faint("Stopped."), err=True)


def _tell_json(address: str) -> None:
    print_json({"address": address})


def _tell(address: str) -> None:
    click.echo(address)
    click.echo(faint("Ctrl-C stops it."), err=True)
