"""Files made to hurt a reader, each made when it is asked for."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from itertools import pairwise

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

MB = 1_000_000


# PDFs


FLATE = b"/Filter/FlateDecode"
FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</X %d 0 R>>/Font<</F 9 0 R>>>>"
WORDS = b"BT /F 10 Tf 10 10 Td (Some words that can be seen) Tj ET "


def thing(number: int, body: bytes) -> bytes:
    return b"%d 0 obj%s endobj\n" % (number, body)


def stream(number: int, data: bytes, more: bytes = b"") -> bytes:
    return thing(number, b"<<%s/Length %d>>stream\n%s\nendstream" % (more, len(data), data))


def pdf(*things: bytes, kids: bytes = b"3 0 R", count: int = 1, resources: bytes = b"") -> bytes:
    """One page whose content is the stream 4; things that come later replace those."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 9 0 R>>%s>>/Contents 4 0 R>>"
    parts = (
        thing(1, b"<</Type/Catalog/Pages 2 0 R>>"),
        thing(2, b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, count)),
        thing(3, page % resources),
        thing(9, b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"),
        stream(4, WORDS),
    )
    return b"%PDF-1.7\n" + b"".join((*parts, *things)) + b"trailer<</Root 1 0 R>>\n%%EOF"


def inflating(megabytes: int) -> bytes:
    """A little that becomes very much: a packed piece that depends on none before it, again and again."""
    packer = zlib.compressobj()
    head = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    one = packer.compress(b" " * MB) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + one * megabytes + packer.flush()


def forms(depth: int, each: int) -> bytes:
    """Drawings inside drawings: each shows the next several times."""
    inner = [
        stream(10 + level, b"/X Do " * each if level < depth - 1 else WORDS, FORM % (11 + level))
        for level in range(depth)
    ]
    return pdf(stream(4, WORDS + b"/X Do"), *inner, resources=b"/XObject<</X 10 0 R>>")


def book(pages: int, password: str = "") -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, encrypt=StandardEncryption(password) if password else None)
    for number in range(pages):
        canvas.drawString(72, 700, f"This is the page of the number {number}, and it ends here.")
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def looping_table() -> bytes:
    """A table of contents that names itself as the one before."""
    begun = pdf().rpartition(b"trailer")[0]
    table = b"xref\n0 1\n0000000000 65535 f \ntrailer<</Root 1 0 R/Size 10/Prev %d>>\nstartxref\n%d\n%%%%EOF"
    return begun + table % (len(begun), len(begun))


# Others


def packed(name: str, megabytes: int) -> bytes:
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w") as inside,
    ):
        for _ in range(megabytes):
            inside.write(bytes(MB))
    return file.getvalue()


def article(body: str, head: str = "") -> bytes:
    return f"{head}<article><body><p>Some words.</p>{body}</body></article>".encode()


def laughs() -> bytes:
    names = "abcdefghijklm"
    entities = "".join(f'<!ENTITY {after} "{f"&{before};" * 10}">' for before, after in pairwise(names))
    return article("<p>&m;</p>", f'<!DOCTYPE article [<!ENTITY a "lol">{entities}]>')


def many_attributes() -> bytes:
    attributes = " ".join(f"a{number}=''" for number in range(100_000))
    return article("").replace(b"<article", f"<article {attributes}".encode())


def marker(*blocks: object) -> bytes:
    return json.dumps({"block_type": "Document", "children": blocks}).encode()


def block(kind: str, html: object, **more: object) -> dict[str, object]:
    return {"block_type": kind, "html": html, **more}


def headings_over_each_other() -> bytes:
    first, second = "/page/0/SectionHeader/1", "/page/0/SectionHeader/2"
    return marker(
        block("SectionHeader", "<h2>One</h2>", id=first, section_hierarchy={"1": second, "2": first}),
        block("SectionHeader", "<h2>Two</h2>", id=second, section_hierarchy={"1": first}),
        block("Text", "<p>Some words.</p>", section_hierarchy={"1": second, "2": second}),
    )


def huge_picture() -> bytes:
    return marker(block("Text", "Some words."), block("Figure", '<img alt="x">', images={"a.png": "A" * 39 * MB}))


def wrong_types() -> bytes:
    odd = {"id": {}, "page": "x", "bbox": {}, "images": [1], "children": 5, "section_hierarchy": 7, "html": []}
    return marker(
        *(1, None, "x", [], {"block_type": {}, **odd}, block("Figure", 5, images={"a": None, "b": {}})),
        block("Table", "<table><tr><td colspan=1e9 rowspan=-5>Some words."),
    )


READ = "read"
KILLED = r"cannot be read: (?:the \w+ reader (?:crashed|ended) .*|it needed more than \d+ MB of memory|it took .*)"
DAMAGED = "is damaged, no PDF or without pages: pdfium cannot open it"
NO_TEXT = "has no text.*"
NOT_TEXT = r"is not text in UTF-8: byte \d+ cannot be read"
FILES: Mapping[str, tuple[Callable[[], bytes], str]] = {
    # A page of two gigabytes, once and twice packed; drawings that would be shown a billion times.
    "deflate.pdf": (lambda: pdf(stream(4, inflating(2000), FLATE)), KILLED),
    "twice.pdf": (lambda: pdf(stream(4, zlib.compress(inflating(2000)), b"/Filter[/FlateDecode/FlateDecode]")), KILLED),
    "objects.pdf": (lambda: pdf(stream(20, inflating(2000), FLATE + b"/Type/ObjStm/N 9/First 1000")), KILLED),
    "forms.pdf": (lambda: forms(10, 10), KILLED),
    "form.pdf": (lambda: pdf(stream(10, b"/X Do", FORM % 10), resources=b"/XObject<</X 10 0 R>>"), READ),
    "table.pdf": (looping_table, READ),
    "tree.pdf": (lambda: pdf(kids=b"2 0 R 2 0 R", count=5000), NO_TEXT),
    "nested.pdf": (lambda: pdf(resources=b"/Y" + b"[" * 100_000 + b"]" * 100_000), READ),
    "pages.pdf": (lambda: book(2000), READ),
    "empty.pdf": (lambda: pdf(stream(4, b"")), NO_TEXT),
    "encrypted.pdf": (lambda: book(1, "secret"), "is encrypted and cannot be opened without its password"),
    # Archives under names that they should not have.
    "archive.pdf": (lambda: packed("paper.pdf", 50), DAMAGED),
    "archive.md": (lambda: packed("paper.md", 50), NOT_TEXT),
    "archive.xml": (lambda: gzip.compress(article("")), NOT_TEXT),
    "laughs.xml": (laughs, READ),
    "quadratic.xml": (lambda: article("&a;" * 100_000, f'<!DOCTYPE a [<!ENTITY a "{"a" * 50_000}">]>'), READ),
    "deep.xml": (lambda: article("<sec>" * 100_000 + "</sec>" * 100_000), READ),
    "attributes.xml": (many_attributes, READ),
    "comments.xml": (lambda: article("", "<!DOCTYPE a [" + "<!--" * 20_000), "is not XML: .*"),
    "seven.xml": (lambda: b'<?xml version="1.0" encoding="utf-7"?>+ADw-article+AD4-', "is not XML: .*"),
    "blocks.json": (lambda: b'{"children":[%s]}' % b",".join([b'{"html":"x","bbox":[0,0,1,1]}'] * MB), KILLED),
    "cycle.json": (headings_over_each_other, READ),
    "types.json": (wrong_types, READ),
    "children.json": (lambda: b'{"children":[' * 100_000 + b"{}" + b"]}" * 100_000, "is not JSON: it is nested too .*"),
    "picture.json": (huge_picture, READ),
    "line.txt": (lambda: bytes(100 * MB), "has 100,000,000 characters, more than the 10,000,000 allowed"),
    "words.txt": (lambda: b"word " * 2 * MB + b"x", "has 10,000,001 characters, more than the 10,000,000 allowed"),
    "nothing.txt": (lambda: b"\n" * MB, "is empty"),
    "quotes.md": (lambda: b"> " * 100_000 + b"x", READ),
    "lists.md": (lambda: b"- " * 100_000 + b"x", READ),
    "brackets.md": (lambda: b"[" * 20_000 + b"x" + b"](y)" * 20_000, READ),
}  # fmt: skip
GOOD: Mapping[str, bytes] = {
    "good.md": b"# Trees\n\nEvery node keeps a sum.\n",
    "good.txt": b"Every leaf keeps a number.\n",
    "good.xml": article("<p>Every branch keeps its leaves.</p>"),
    "good.json": marker(block("Text", "<p>Every root keeps the tree.</p>")),
    "good.pdf": pdf(),
}
