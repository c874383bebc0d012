"""How concepts, their relations and the places of both are printed, in a terminal of any width."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import click

from carrel.cli.common import faint, preview, printable

if TYPE_CHECKING:
    from carrel.atlas.statements import Evidence, Where
    from carrel.types import ConceptRow

_NARROWEST, _WIDEST = 30, 100
_LONGEST_SENTENCE = 400


def width() -> int:
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))


def name(row: ConceptRow) -> str:
    return called(row.concept.name)


def called(text: str) -> str:
    return printable(preview(text, 80))


def wrapped(text: str, indent: str = "") -> str:
    """A text on lines that fit, each behind the same indentation."""
    line = printable(preview(text, _LONGEST_SENTENCE))
    room = max(20, width() - len(indent))
    # Broken anywhere if need be: a formula or an address may be longer than the line.
    return "\n".join(indent + one for one in textwrap.wrap(line, room) or [""])


def quoted(evidence: Evidence, indent: str) -> str:
    said = f"“{' '.join(evidence.text.split())}”" if evidence.text.strip() else ""
    lines = [wrapped(said, indent)] if said else []
    return "\n".join([*lines, faint(wrapped(place(evidence.where), indent))])


def place(where: Where) -> str:
    if not where.address:
        return "your own files"
    section = " — ".join(where.section_path)
    page = f"page {where.page}" if where.page is not None else ""
    return " · ".join(part for part in (where.address, section, page) if part)


def counted(row: ConceptRow) -> str:
    papers = f"{row.papers:,} paper{'' if row.papers == 1 else 's'}"
    return f"in {papers}, {chunks(row.chunks)}"


def chunks(count: int) -> str:
    return f"{count:,} chunk{'' if count == 1 else 's'}"


def head(row: ConceptRow, defined: Where | None) -> None:
    """What a concept is, in a few lines."""
    concept = row.concept
    click.echo(click.style(name(row), bold=True))
    also = f"also {', '.join(concept.aliases)}" if concept.aliases else ""
    click.echo(faint(wrapped(" · ".join(part for part in (concept.category, also, counted(row)) if part))))
    if concept.definition:
        click.echo(f"\n{wrapped(concept.definition)}")
        click.echo(faint(wrapped(place(defined) if defined else "your own files", "  ")))
