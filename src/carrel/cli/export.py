from __future__ import annotations

from pathlib import Path

import click

from carrel.cli.common import State, json_option, print_json
from carrel.errors import InvalidInput


@click.command("export")
@click.argument("papers", metavar="[ID…]", nargs=-1)
@click.option("--bibtex", "style", flag_value="bibtex", default="bibtex", help="As BibTeX; the default.")
@click.option("--csl", "style", flag_value="csl", help="As CSL-JSON.")
@click.option("--append", "target", metavar="F", type=click.Path(), help="Add what is missing to this .bib file.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    papers: tuple[str, ...],
    style: str,
    target: str | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Write references as BibTeX or CSL-JSON: those named, or all."""
    state: State = context.obj
    if target and style != "bibtex":
        raise InvalidInput("--append is for .bib files, not for --csl", hint="Leave one of them out.")
    with state.open() as library:
        if target:
            appended = library.export_to(Path(target), *papers)
            text = f"Exported {appended.exported}, skipped {appended.skipped} that {target} has already\n"
            print_json(appended.as_dict()) if as_json else click.echo(text, nl=False)
            return
        text = library.export(*papers, style=style)
    print_json({"format": style, "text": text}) if as_json else click.echo(text, nl=False)
