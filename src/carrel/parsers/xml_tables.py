"""The rows of a table element: HTML's and JATS's, those of the CALS model, and TEI's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.parsers.tables import Cell, Row, span
from carrel.parsers.xml_inline import Tags, inline
from carrel.parsers.xml_names import attribute, children, descendants, local

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element


def rows(table: _Element, tags: Tags) -> Iterator[Row]:
    for row in descendants(table, "tr", "row"):
        cells = list(children(row, "td", "th", "entry", "cell"))
        parent = row.getparent()
        in_head = parent is not None and local(parent) == "thead"
        of_heads = attribute(row, "role") == "label" or all(local(cell) == "th" for cell in cells)
        yield Row([_cell(cell, tags) for cell in cells], is_header=in_head or of_heads)


def _cell(cell: _Element, tags: Tags) -> Cell:
    columns = attribute(cell, "colspan") or attribute(cell, "cols") or _named_columns(cell)
    rows = attribute(cell, "rowspan") or attribute(cell, "rows")
    more = attribute(cell, "morerows")
    return Cell(inline(cell, tags), span(columns), span(more) + 1 if more.strip("0") else span(rows))


def _named_columns(entry: _Element) -> str:
    """`namest="c2" nameend="c4"` of the CALS model: three columns."""
    first, last = (attribute(entry, name).lstrip("cols") for name in ("namest", "nameend"))
    both = first.isdigit() and last.isdigit() and len(first + last) < 8
    return str(int(last) - int(first) + 1) if both else ""
