from __future__ import annotations

from dataclasses import asdict

import click

from carrel.cli.common import State, json_option, print_json


@click.command("doctor")
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:  # noqa: FBT001
    """Look for what is wrong with the installation and the library. Exit code 1 when something is."""
    from carrel.doctor import examine

    state: State = context.obj
    checks = examine(state.folder, state.flags)
    problems = [check for check in checks if check.status != "ok"]
    if as_json:
        print_json({"status": "problems" if problems else "ok", "checks": [asdict(check) for check in checks]})
        return 1 if problems else 0
    for check in checks:
        click.echo(f"{'✓' if check.status == 'ok' else '✗'} {check.name}: {check.detail}")
        if check.hint:
            click.echo(f"    {check.hint}")
    return 1 if problems else 0
