from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.common import State, faint, json_option, print_json, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types.service import Token


@click.group("token")
def command() -> None:
    """Make, list and revoke the keys to 'carrel serve'."""


@command.command("create")
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(["read", "write", "admin"]),
    default="read",
    show_default=True,
    help="What it is good for: asking, taking documents in and out as well, or everything.",
)
@click.option("--days", type=click.IntRange(0), default=0, metavar="N", help="Days that it is good for; 0 for ever.")
@json_option
@click.pass_context
def create(context: click.Context, name: str, scope: str, days: int, as_json: bool) -> None:  # noqa: FBT001
    """Make a token and print it. It is shown this once; only its digest is kept."""
    from carrel.types.service import Scope

    state: State = context.obj
    with state.open() as library:
        token, secret = library.create_token(name, Scope(scope), days=days)
    if as_json:
        print_json({**_as_dict(token), "token": secret})
        return
    click.echo(secret)
    click.echo("Send it as 'Authorization: Bearer …'. It is not shown again.", err=True)


@command.command("list")
@json_option
@click.pass_context
def show(context: click.Context, as_json: bool) -> None:  # noqa: FBT001
    """List the tokens, those that were revoked included."""
    state: State = context.obj
    with state.open() as library:
        tokens = library.tokens()
    if as_json:
        print_json({"tokens": [_as_dict(token) for token in tokens], "total": len(tokens)})
    else:
        _print(tokens)


@command.command("revoke")
@click.argument("name")
@json_option
@click.pass_context
def revoke(context: click.Context, name: str, as_json: bool) -> None:  # noqa: FBT001
    """Let nobody in any more by the token of this name or id."""
    state: State = context.obj
    with state.open() as library:
        token = library.revoke_token(name)
    if as_json:
        print_json({"status": "revoked", "id": token.id, "name": token.name})
    else:
        click.echo(f"Revoked {token.name!r}.")


def _as_dict(token: Token) -> dict[str, Any]:
    return {name: value for name, value in asdict(token).items() if name != "digest"}


def _print(tokens: Sequence[Token]) -> None:
    if not tokens:
        click.echo("There is no token. 'carrel token create NAME' makes one.", err=True)
    for token in tokens:
        used = f"last used {_when(token.last_used_at)}" if token.last_used_at else "never used"
        click.echo(f"{title(token.name)}  {token.scope.value}  {_standing(token)}  {faint(used)}")


def _standing(token: Token) -> str:
    from carrel.tokens import is_live

    if token.revoked_at:
        return f"revoked {_when(token.revoked_at)}"
    if not token.expires_at:
        return "good for ever"
    return f"{'good until' if is_live(token) else 'ended'} {_when(token.expires_at)}"


def _when(time: str) -> str:
    return f"{time[:16].replace('T', ' ')} UTC"
