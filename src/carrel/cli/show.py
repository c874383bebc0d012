from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, json_option, preview, print_json, title

if TYPE_CHECKING:
    from carrel.reading import ChunkView, PaperView


@click.command("show")
@click.argument("address")
@click.option("--text", is_flag=True, help="Print the stored source text that citations count their offsets in.")
@json_option
@click.pass_context
def command(context: click.Context, address: str, text: bool, as_json: bool) -> None:  # noqa: FBT001
    """Show a paper's outline, or a chunk with its neighbours, by address."""
    from carrel.reading import PaperView

    state: State = context.obj
    with state.open() as library:
        if text:
            stored = library.text(address)
            click.echo(stored, nl=False) if not as_json else print_json({"address": address, "text": stored})
            return
        view = library.show(address)
    if as_json:
        print_json(view.as_dict())
    elif isinstance(view, PaperView):
        _print_paper(view)
    else:
        _print_chunk(view)


def _print_paper(view: PaperView) -> None:
    reference = view.row.reference
    click.echo(title(reference.title))
    authors = ", ".join(str(author) for author in reference.authors)
    for line in (authors, reference.venue, reference.doi and f"doi:{reference.doi}", ", ".join(reference.tags)):
        if line:
            click.echo(line)
    if reference.published.year:
        click.echo(str(reference.published.year))
    if reference.abstract:
        click.echo(f"\n{reference.abstract}")
    if view.outline:
        click.echo("")
    for entry in view.outline:
        heading = " — ".join(entry.path) or "(beginning)"
        click.echo(f"{faint(entry.addresses[0])}  {heading}  {faint(f'{len(entry.addresses)} chunks')}")


def _print_chunk(view: ChunkView) -> None:
    chunk = view.chunk
    click.echo(title(chunk.heading))
    click.echo(faint(f"{chunk.address}, {chunk.position + 1} of {view.total}, {chunk.token_count} tokens"))
    click.echo(f"\n{chunk.text}\n")
    for word, other in (("before", view.previous), ("after", view.next)):
        if other:
            click.echo(faint(f"{word}: {other.address}  {preview(other.text, 80)}"))
