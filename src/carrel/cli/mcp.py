from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from carrel.cli.app import INTERRUPTED
from carrel.cli.common import State, faint, json_option, print_json, title
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from carrel.mcp.clients import Client, Command
    from carrel.settings import Settings

_CLIENTS = (
    "claude-desktop", "claude-code", "cursor", "vscode", "codex", "gemini", "zed", "windsurf", "lmstudio", "opencode",
)  # fmt: skip


@click.group("mcp", invoke_without_command=True)
@click.option("--allow-add", is_flag=True, help="Let the agent take documents in; the setting mcp.allow_add.")
@click.option("--http", "over_http", is_flag=True, help="Over HTTP, for agents anywhere: 'carrel serve', at /mcp.")
@click.option("--host", metavar="ADDRESS", help="With --http: where to listen; the setting serve.host.")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="With --http: the setting serve.port.")
@click.pass_context
def command(
    context: click.Context,
    allow_add: bool,  # noqa: FBT001
    over_http: bool,  # noqa: FBT001
    host: str | None,
    port: int | None,
) -> None:
    """Give an agent the library as tools, over standard input and output.

    'carrel mcp install' prints or writes what the agent's configuration needs.
    """
    if context.invoked_subcommand is not None:
        return
    if over_http:
        _serve_http(context, host, port, allow_add=allow_add)
    elif host or port is not None:
        raise click.UsageError("--host and --port need --http", ctx=context)
    else:
        _serve(context.obj, allow_add=allow_add)


@command.command("install")
@click.argument("client", type=click.Choice(_CLIENTS), required=False)
@click.option("--write", "wanted", is_flag=True, help="Write it into the agent's configuration; the rest stays.")
@click.option("--name", metavar="NAME", default="carrel", show_default=True, help="What the agent calls the library.")
@click.option("--force", is_flag=True, help="With --write: replace another server of this name.")
@json_option
@click.pass_context
def install(
    context: click.Context,
    client: str | None,
    wanted: bool,  # noqa: FBT001
    name: str,
    force: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> None:
    """Set up CLIENT, an agent, to use this library: print what its configuration needs, or write it there."""
    from carrel.mcp.clients import CLIENTS

    launched = _launched(context.obj, allow_add=context.parent is not None and context.parent.params["allow_add"])
    if client is None:
        if wanted:
            raise click.UsageError(f"--write needs a client: {', '.join(_CLIENTS)}", ctx=context)
        _print_all(name, launched, as_json=as_json)
        return
    chosen = CLIENTS[client]
    kept = chosen.write(name, launched, force=force) if wanted else None
    if as_json:
        print_json({**_as_dict(chosen, name, launched), "written": wanted, "kept": str(kept) if kept else None})
    elif wanted:
        click.echo(f"Wrote {name!r} into {chosen.path}. Restart {chosen.title}.")
        if kept:
            click.echo(f"What was there before is in {kept}", err=True)
    else:
        click.echo(f"Into {chosen.path}, or by --write:", err=True)
        click.echo(chosen.snippet(name, launched), nl=False)


def _serve_http(context: click.Context, host: str | None, port: int | None, *, allow_add: bool) -> None:
    from carrel.cli import serve

    if allow_add:
        hint = "Set mcp.allow_add in your own config, or CARREL_MCP__ALLOW_ADD."
        raise InvalidInput("--allow-add is for one agent on this machine, not for all over HTTP", hint=hint)
    click.echo("Agents find the tools at /mcp of this address.", err=True)
    context.invoke(serve.command, host=host, port=port)


def _serve(state: State, *, allow_add: bool) -> None:
    chosen = _settings(state)
    import anyio

    from carrel.mcp.server import Desk
    from carrel.mcp.serving import serve_stdio

    if sys.stdin.isatty():
        click.echo("Waiting for an agent; 'carrel mcp install' sets one up. Ctrl-C ends it.", err=True)
    desk = Desk(state.open, allow_add=allow_add or chosen.mcp.allow_add, seconds=chosen.serve.query_seconds)
    signal.signal(signal.SIGINT, _leave)
    try:
        anyio.run(serve_stdio, desk)
    finally:
        desk.close()


def _leave(*_signal: object) -> None:
    """A thread waits for the agent's next line, and no signal wakes it: whoever waits for that thread hangs."""
    os._exit(INTERRUPTED)


def _settings(state: State) -> Settings:
    """Those of the library, which must be there; it is opened when an agent first asks something."""
    from carrel import layout, settings, telemetry

    chosen, _ = settings.load(layout.find(Path(state.folder)).config, state.flags)
    telemetry.configure(chosen.log_level)
    return chosen


def _launched(state: State, *, allow_add: bool) -> Command:
    from carrel import layout
    from carrel.mcp.clients import Command

    folder = str(layout.find(Path(state.folder)).root.parent.resolve())
    program, *first = _program()
    given = [word for text in state.overrides for word in ("--set", text)]
    given += ["--log-level", state.log_level] if state.log_level else []
    return Command(program, (*first, "-C", folder, *given, "mcp", *(["--allow-add"] if allow_add else [])))


def _program() -> list[str]:
    """This very installation, by its whole path: agents with windows have no shell's PATH."""
    script = Path(sys.executable).with_name("carrel.exe" if sys.platform == "win32" else "carrel")
    return [str(script)] if script.exists() else [sys.executable, "-m", "carrel"]


def _as_dict(client: Client, name: str, launched: Command) -> dict[str, object]:
    return {
        "client": client.name,
        "path": str(client.path),
        "section": client.section,
        "name": name,
        "entry": client.entry(launched),
    }


def _print_all(name: str, launched: Command, *, as_json: bool) -> None:
    from carrel.mcp.clients import CLIENTS

    if as_json:
        print_json({"clients": [_as_dict(client, name, launched) for client in CLIENTS.values()]})
        return
    for client in CLIENTS.values():
        there = "" if client.path.parent.exists() else "  (not here)"
        click.echo(f"{title(client.name.ljust(15))} {client.path}{faint(there)}")
    click.echo("\n'carrel mcp install CLIENT' prints what to put there, --write puts it there.", err=True)
