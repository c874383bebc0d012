"""The text of a JATS article: sections, paragraphs and what stands among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.parsers import Source, captions, companions
from carrel.parsers.jats_citations import citations
from carrel.parsers.xml_flow import At, Flow
from carrel.parsers.xml_inline import Tags
from carrel.parsers.xml_names import attribute, child, children, descendants, first, local
from carrel.types import BlockKind, ExhibitKind

if TYPE_CHECKING:
    from lxml.etree import _Element

    from carrel.parsers.building import Builder

TAGS = Tags(
    breaks=frozenset({
        "p", "title", "label", "break", "td", "th", "tr", "list", "list-item", "def-item", "term", "def", "caption",
        "sec", "disp-quote", "disp-formula", "verse-line", "attrib", "fn", "speech", "speaker", "institution",
        "table", "hr",
    }),
    skipped=frozenset({
        "object-id", "graphic", "inline-graphic", "alt-text", "long-desc", "sec-meta", "kwd-group", "permissions",
        "processing-meta", "related-article", "related-object", "index-term",
    }),
    links=frozenset({"xref"}),
)  # fmt: skip
_FLOATS = frozenset({
    "fig", "fig-group", "table-wrap", "table-wrap-group", "boxed-text", "fn", "supplementary-material",
})  # fmt: skip
_TITLES = {
    "ack": "Acknowledgments", "app": "Appendix", "glossary": "Glossary", "notes": "Notes", "fn-group": "Notes",
    "bio": "About the authors", "ref-list": "References",
}  # fmt: skip
_SHOWN = frozenset({"label", "caption", "graphic", "alt-text", "long-desc", "object-id", "permissions"})
_BULLETS = {"bullet": "- ", "simple": "- ", "": "- "}


class Body:
    """Puts the parts of an article into a paper's text."""

    def __init__(self, builder: Builder, source: Source, floating: dict[str, _Element]) -> None:
        sections = ("sec", "app", "ack", "glossary", "notes", "bio")
        self.source = source
        self.builder = builder
        self.floating = floating
        """Figures and tables that stand at the end of the file, by the id the text links to them with."""
        self.flow = Flow(
            builder,
            TAGS,
            {
                **dict.fromkeys(sections, self._section),
                "p": self._paragraph,
                "fig": self._figure,
                "table-wrap": self._table_wrap,
                "table": self._bare_table,
                "array": self._bare_table,
                "boxed-text": self._box,
                "table-wrap-group": self._part,
                "disp-formula": self._formula,
                "code": self._code,
                "preformat": self._code,
                "list": self._list,
                "def-list": self._definitions,
                "caption": self._caption,
                "supplementary-material": self._supplement,
                "media": self._supplement,
                "ref-list": self._references,
                "fn-group": self._section,
                **dict.fromkeys(("disp-quote", "verse-group", "speech", "statement", "fn", "fig-group"), self._part),
            },
            floats=_FLOATS,
        )

    def put(self, element: _Element | None, at: At) -> None:
        if element is not None:
            self.flow.flow(element, at)

    def _part(self, element: _Element, at: At) -> None:
        self.flow.flow(element, at)

    def _section(self, element: _Element, at: At) -> None:
        self.flow.section(element, at, title=_TITLES.get(local(element), ""))

    def _paragraph(self, element: _Element, at: At) -> None:
        self.flow.flow(element, at)
        for link in descendants(element, "xref") if self.floating else ():
            for name in attribute(link, "rid").split():
                if (shown := self.floating.pop(name, None)) is not None:
                    self.flow.blocks[local(shown)](shown, at.box())

    def _figure(self, element: _Element, at: At) -> None:
        self._exhibit(element, at, ExhibitKind.FIGURE)

    def _table_wrap(self, element: _Element, at: At) -> None:
        self._exhibit(element, at, ExhibitKind.TABLE)

    def _exhibit(self, element: _Element, at: At, kind: ExhibitKind) -> None:
        start, caption = self.builder.position, self._caption_text(element)
        described = first(element, "alt-text", "long-desc")
        description = " ".join("".join(described.itertext()).split()) if described is not None else ""
        graphic = first(element, "graphic", "media")
        image = companions.picture(self.source, attribute(graphic, "href")) if graphic is not None else ""
        if caption:
            self.builder.put(BlockKind.CAPTION, caption)
        elif description and kind == ExhibitKind.FIGURE:
            self.builder.put(BlockKind.FIGURE, description)
        self.flow.flow(element, at.box(BlockKind.CAPTION), but=_SHOWN)
        self.builder.exhibit(
            captions.kind_of(caption) or kind, start, caption=caption, description=description, image=image
        )

    def _caption_text(self, element: _Element) -> str:
        label, caption = self.flow.words(child(element, "label")), self.flow.words(child(element, "caption"))
        if label and caption and label[-1].isalnum():
            label += "."
        return f"{label} {caption}".strip()

    def _caption(self, element: _Element, at: At) -> None:
        del at
        self.builder.put(BlockKind.CAPTION, self.flow.words(element))

    def _bare_table(self, element: _Element, at: At) -> None:
        self.flow.table(element, at)

    def _box(self, element: _Element, at: At) -> None:
        start, caption = self.builder.position, self._caption_text(element)
        kind = captions.kind_of(caption)
        self.builder.put(BlockKind.CAPTION if kind else BlockKind.TEXT, caption)
        self.flow.flow(element, at.box(), but=_SHOWN)
        if kind:
            self.builder.exhibit(kind, start, caption=caption)

    def _supplement(self, element: _Element, at: At) -> None:
        self.builder.put(BlockKind.TEXT, self._caption_text(element))
        self.flow.flow(element, at.box(), but=_SHOWN)

    def _formula(self, element: _Element, at: At) -> None:
        self.flow.formula(element, at)

    def _code(self, element: _Element, at: At) -> None:
        self.flow.code(element, at)

    def _list(self, element: _Element, at: At) -> None:
        kind = attribute(element, "list-type")
        if title := self.flow.words(child(element, "title")):
            self.builder.put(BlockKind.TEXT, title)
        for number, item in enumerate(children(element, "list-item"), start=1):
            label = self.flow.words(child(item, "label"))
            mark = f"{label} " if label else _BULLETS.get(kind, f"{number}. ")
            self.flow.item(item, at, mark, but=frozenset({"label"}))

    def _definitions(self, element: _Element, at: At) -> None:
        if title := self.flow.words(child(element, "title")):
            self.builder.put(BlockKind.TEXT, title)
        for entry in descendants(element, "def-item"):
            term = self.flow.words(child(entry, "term"))
            self.flow.item(entry, at, f"- {term}: " if term else "- ", but=frozenset({"term", "label"}))

    def _references(self, element: _Element, at: At) -> None:
        title = self.flow.words(child(element, "title")) or _TITLES["ref-list"]
        self.builder.put_heading(title, at.level)
        for inner in element:
            if local(inner) == "ref":
                for entry in citations(inner):
                    self.builder.put_cited(entry)
            elif local(inner) == "ref-list":
                self._references(inner, at.section())
            elif local(inner) not in {"title", "label"}:
                self.builder.put(BlockKind.TEXT, self.flow.words(inner))
