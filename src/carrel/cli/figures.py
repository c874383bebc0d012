"""How figures are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli.common import faint, preview, title

if TYPE_CHECKING:
    from carrel.reading import FigureView
    from carrel.reading.figures import Figure, Finding

_MENTIONS = 5


def print_figure(view: FigureView) -> None:
    figure = view.figure
    click.echo(title(figure.chunk.heading))
    click.echo(faint(_place(figure)))
    click.echo(f"\n{figure.exhibit.caption or figure.exhibit.label}")
    if figure.exhibit.description:
        click.echo(figure.exhibit.description)
    if figure.chunk.has_table or figure.chunk.has_code:
        click.echo(f"\n{figure.chunk.text}")
    if view.image:
        click.echo(f"\n{view.image}")
    for mention in view.referenced_by:
        click.echo(f"\n{faint(mention.address)}\n{mention.preview}")


def print_finding(finding: Finding) -> None:
    figure, view = finding.view.figure, finding.view
    year = f" ({figure.chunk.year})" if figure.chunk.year else ""
    click.echo(f"{finding.passage.rank}. [{finding.passage.score:.2f}] {title(figure.chunk.title)}{year}")
    click.echo(f"   {faint(_place(figure))}")
    click.echo(f"   {preview(figure.exhibit.caption or figure.chunk.text)}")
    if view.image:
        click.echo(f"   {view.image}")
    if view.referenced_by:
        named = ", ".join(mention.address for mention in view.referenced_by[:_MENTIONS])
        more = f" and {len(view.referenced_by) - _MENTIONS} more" if len(view.referenced_by) > _MENTIONS else ""
        click.echo(f"   {faint(f'mentioned by {named}{more}')}")


def _place(figure: Figure) -> str:
    label = figure.exhibit.label or figure.exhibit.kind.value
    page = f", page {figure.page}" if figure.page is not None else ""
    return f"{figure.chunk.address}, {label}{page}"
