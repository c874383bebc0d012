from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, json_option, print_json, printable, title

if TYPE_CHECKING:
    from carrel.checking import Checked
    from carrel.issues import Issue

_SHOWN = 10


@click.command("check")
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:  # noqa: FBT001
    """Look for what is wrong with refs.jsonl and the files it names. Exit code 1 when something is."""
    state: State = context.obj
    with state.open() as library:
        checked = library.check()
    if as_json:
        print_json(checked.as_dict())
    else:
        _print(checked)
    return 0 if checked.ok else 1


def _print(checked: Checked) -> None:
    by_kind: dict[str, list[Issue]] = {}
    for issue in checked.issues:
        by_kind.setdefault(issue.kind, []).append(issue)
    for kind, issues in by_kind.items():
        click.echo(f"{title(kind)} ({len(issues):,})")
        for issue in issues[:_SHOWN]:
            click.echo(f"  {printable(issue.message)}")
        if len(issues) > _SHOWN:
            click.echo(faint(f"  … {len(issues) - _SHOWN:,} more; --json lists all"))
    found = f"{len(checked.issues):,} issues" if checked.issues else "no issues"
    click.echo(f"{checked.references:,} references, {found}")
