from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli.common import State, faint, json_option, print_flags, print_json, printable, title
from carrel.cli.figures import print_figure

if TYPE_CHECKING:
    from carrel.reading import Chapter, ChunkView, PaperView, Section, View
    from carrel.types import Standing


@click.command("show")
@click.argument("address")
@click.option("--text", is_flag=True, help="Print the stored source text that citations count their offsets in.")
@json_option
@click.pass_context
def command(context: click.Context, address: str, text: bool, as_json: bool) -> None:  # noqa: FBT001
    """Show a paper's outline, a chapter, a section, a chunk or a figure. A paper is named by its id or its title."""
    from dataclasses import asdict

    from carrel.reading import PaperView
    from carrel.types import Standing

    state: State = context.obj
    with state.open() as library:
        if text:
            stored = library.text(address)
            click.echo(stored, nl=False) if not as_json else print_json({"address": address, "text": stored})
            return
        view = library.show(address)
        standing = library.standing(view.reference.id) if isinstance(view, PaperView) else Standing()
    if as_json:
        flags = {"flags": [asdict(flag) for flag in standing.flags]} if isinstance(view, PaperView) else {}
        print_json({**view.as_dict(), **flags})
    elif isinstance(view, PaperView):
        _print_paper(view, standing)
    else:
        _print(view)


def _print(view: View) -> None:
    from carrel.reading import Chapter, ChunkView, FigureView, Section

    match view:
        case Chapter():
            _print_chapter(view)
        case Section():
            click.echo(title(" — ".join(view.path) or "(beginning)"))
            _print_section(view)
        case ChunkView():
            _print_chunk(view)
        case FigureView():
            print_figure(view)


def _print_paper(view: PaperView, standing: Standing) -> None:
    reference = view.reference
    click.echo(title(reference.title))
    print_flags(standing)
    authors = ", ".join(str(author) for author in reference.authors)
    for line in (authors, reference.venue, reference.doi and f"doi:{reference.doi}", ", ".join(reference.tags)):
        if line:
            click.echo(line)
    if reference.published.year:
        click.echo(str(reference.published.year))
    for remark in view.remarks:
        click.echo(printable(f"note: {remark}"))
    if reference.abstract:
        click.echo(f"\n{reference.abstract}")
    if view.chapters:
        click.echo("")
    for chapter in view.chapters:
        _print_outline(chapter)
    if view.concepts:
        click.echo(faint(f"\nspeaks of {printable(', '.join(view.concepts))}"))
    cites = f"; cites {view.cited} works, {view.in_library} of them in this library" if view.cited else ""
    counted = _counted(view.summary.chunk_count, view.summary.figure_count)
    click.echo(faint(f"\n{reference.id}: {counted}{cites}"))


def _print_outline(chapter: Chapter) -> None:
    counted = _counted(chapter.chunk_count, len(chapter.figures))
    click.echo(f"{faint(chapter.address)}  {chapter.title or '(beginning)'}  {faint(counted)}")
    is_divided = any(section.title for section in chapter.sections)
    for section in chapter.sections:
        if is_divided:
            heading = f"  {section.title}" if section.title else ""
            counted = _counted(len(section.chunks), len(section.figures))
            click.echo(f"  {faint(section.address)}{heading}  {faint(counted)}")
        if section.summary:
            click.echo(f"    {section.summary}")


def _print_chapter(chapter: Chapter) -> None:
    click.echo(title(chapter.title or "(beginning)"))
    for section in chapter.sections:
        if section.title:
            click.echo(f"\n{title(section.title)}")
        _print_section(section)


def _print_section(section: Section) -> None:
    for chunk in section.chunks:
        click.echo(f"\n{faint(chunk.address)}\n{chunk.text}")
    counted = _counted(len(section.chunks), len(section.figures))
    figures = f": {', '.join(section.figures)}" if section.figures else ""
    click.echo(faint(f"\n{section.address}: {counted}{figures}"))


def _print_chunk(view: ChunkView) -> None:
    chunk, position = view.chunk, view.position
    click.echo(title(chunk.heading))
    place = f"{position.chunk_in_section + 1} of {position.total_chunks_in_section}"
    page = f", page {chunk.page_start}" if chunk.page_start is not None else ""
    click.echo(faint(f"{chunk.address}, {place} in its section{page}, {chunk.token_count} tokens"))
    click.echo(f"\n{chunk.text}\n")
    for figure in view.figures:
        click.echo(f"{faint(figure.chunk.address)}  {figure.exhibit.caption or figure.exhibit.label}")
    for word, other in view.around.as_dict().items():
        if other:
            click.echo(faint(f"{word}: {other['address']}  {other['preview']}"))


def _counted(chunks: int, figures: int) -> str:
    counted = [f"{chunks} chunk{'' if chunks == 1 else 's'}"]
    if figures:
        counted.append(f"{figures} figure{'' if figures == 1 else 's'}")
    return ", ".join(counted)
