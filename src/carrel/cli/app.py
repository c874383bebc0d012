"""The command line: parse, call the library, print."""

from __future__ import annotations

import atexit
import errno
import os
import sys
import threading
from typing import NoReturn

import click

from carrel import __version__
from carrel.cli.common import State, fail
from carrel.errors import CarrelError

INTERRUPTED = 130
_COMMANDS = (
    "init", "add", "sync", "remove", "list", "show", "search", "semantic", "similar", "ask", "chat", "sessions",
    "concepts", "graph", "path", "concept", "edge", "tags", "cited", "export", "dedupe", "resolve", "check",
    "retractions", "open", "index", "eval", "cache", "config", "serve", "worker", "mcp", "stats", "token", "migrate",
    "verify", "doctor",
    "demo", "completion",
)  # fmt: skip


class _Commands(click.Group):
    """The commands in the order in which a newcomer meets them, each in its own file."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        from importlib import import_module

        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"carrel.cli.{name}").command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("-C", "--library", metavar="DIR", help="The library to use; otherwise the one this folder lies in.")
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="A setting for this call only.")
@click.option(
    "--log-level", type=click.Choice(["off", "debug", "info", "warning", "error"]), help="Write a log to stderr."
)
@click.version_option(__version__, prog_name="carrel")
@click.pass_context
def cli(context: click.Context, library: str | None, overrides: tuple[str, ...], log_level: str | None) -> None:
    """Answers from your own papers, on your own machine, with every sentence proved."""
    from carrel.settings import wants_colour

    context.obj = State(library, overrides, log_level)
    context.color = None if wants_colour() else False


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    _leave(run(given))


def _leave(code: int) -> NoReturn:
    """Threads that load a model, or wait for a server, are left where they are.

    Python would halt them in the middle of what is no Python, and C++ aborts the whole process then.
    """
    if not any(thread.daemon for thread in threading.enumerate()):
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code)


def run(arguments: list[str]) -> int:
    """Run a command; returns its exit code. Every error becomes one sentence and a hint."""
    out = sys.stdout
    try:
        code = cli.main(args=arguments, prog_name="carrel", standalone_mode=False)
        if sys.stdout:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as left:
        if isinstance(left, SystemExit) and sys.stdout is out:
            return left.code if isinstance(left.code, int) else int(left.code is not None)
        # Whoever read our output has seen enough. Click exchanges it then, and leaves with 1; Python would complain.
        sys.stdout = None
        return 0
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.stdout = None
        return fail("no space is left where something was to be written", "Free some, or write it elsewhere.", 1)
    except (CarrelError, click.ClickException, KeyboardInterrupt, click.Abort, MemoryError) as error:
        message, hint, code = _explained(error)
        return fail(message, hint, code, as_json="--json" in arguments)
    return code if isinstance(code, int) else 0


def _explained(error: BaseException) -> tuple[str, str, int]:
    """What went wrong, what to do next, and the exit code."""
    if isinstance(error, CarrelError):
        return error.message, error.hint, error.exit_code
    if isinstance(error, click.ClickException):
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "carrel"
        return error.format_message(), f"'{where} --help' explains.", 1
    if isinstance(error, MemoryError):
        return "not enough memory", "Close other programs, or lower ingest.batch_characters.", 1
    return "interrupted", "Nothing is lost: the same command goes on where it stopped.", INTERRUPTED
