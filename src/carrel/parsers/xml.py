"""XML: the formats of articles, told apart by their root element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.errors import EmptyDocument, SourceError
from carrel.parsers import Source, jats, tei, xml_source
from carrel.parsers.unseen import left_out_of_tree
from carrel.parsers.xml_names import first, local
from carrel.types import BlockKind

if TYPE_CHECKING:
    from lxml.etree import _Element

    from carrel.types import Paper

_READERS = {"article": jats.paper, "tei": tei.paper, "tei.2": tei.paper}
_WRAPPERS = frozenset({"pmc-articleset", "articles", "oai-pmh", "record", "metadata", "teicorpus", "articleset"})


class Xml:
    name = "xml"
    suffixes = frozenset({".xml", ".nxml", ".tei"})

    def parse(self, source: Source) -> Paper:
        root, broken = xml_source.read(source)
        remarks = [*broken, *left_out_of_tree(root)]
        article = _article(root)
        if article is None:
            raise SourceError(
                f"{source.name!r} is XML that Carrel does not know: its root element is {local(root)!r}",
                hint="Articles in JATS (<article>) and TEI (<TEI>) can be read.",
            )
        paper = _READERS[local(article)](article, source, remarks)
        if all(block.kind == BlockKind.HEADING for block in paper.blocks):
            if broken:
                raise SourceError(f"{source.name!r} cannot be read: {broken[0]}", hint="Ask for the file again.")
            raise EmptyDocument(f"{source.name!r} is empty", hint="There is nothing to index in it.")
        return paper


def _article(root: _Element) -> _Element | None:
    """The element to read: the root, or the first article inside one of the wrappers archives use."""
    if local(root) in _READERS:
        return root
    return first(root, *_READERS) if local(root) in _WRAPPERS else None
