"""How much of a paper the PDF parser finds, against the same paper's XML.

    python -m benchmarks.pdf_structure ../shared/data [--misses]

Text is compared as runs of five words, without case and punctuation, each paragraph for itself; formulas of the XML
are left out, as no PDF says them. Letters: the same where it does not count which letters make a word, as readers of
PDFs differ in the hyphens that end lines. Body recall: of the XML's paragraphs, how much is in blocks of text, lists
and code. Precision: of those blocks, how much is anywhere in the XML but its bibliography. Excluded: of the
bibliography's titles, how much is *not* in those blocks. The XML is read here with lxml alone. JATS is what the
publisher made the PDF from; TEI is what another program (GROBID) read from the same PDF, so agreement with it is no
proof.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lxml import etree

from carrel.parsers import Source
from carrel.parsers.pdf import Pdf
from carrel.types import BlockKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Gram = tuple[str, ...]

RUN = 5
BODY = frozenset({BlockKind.TEXT, BlockKind.LIST, BlockKind.CODE, BlockKind.FORMULA})
FORMULAS = ("inline-formula", "disp-formula", "formula")
FLOATS = ("fig", "table-wrap", "figure", "note")
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*|[a-z](?:\.\d+)*|[ivx]+)\.?\s+(?=\S)", re.IGNORECASE)


@dataclass(frozen=True)
class Texts:
    """A paper as lists of texts, whoever read it."""

    body: list[str]
    headings: list[str] = field(default_factory=list)
    other_headings: list[str] = field(default_factory=list)
    """Those a reader may find though the XML has them elsewhere: the title, `References`."""
    captions: list[str] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)
    entries: int = 0
    everything: list[str] = field(default_factory=list)
    """Whatever may be in a body without being wrong there."""

    @cached_property
    def grams(self) -> list[Gram]:
        return grams(self.body)


def words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def grams(texts: Iterable[str]) -> list[Gram]:
    found: list[Gram] = []
    for text in texts:
        listed = words(text)
        found += zip(*(listed[start:] for start in range(RUN)), strict=False)
    return found


def share(wanted: Iterable[Gram], there: set[Gram]) -> float:
    return _mean([gram in there for gram in wanted])


def name(element: etree._Element) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def runs(element: etree._Element) -> list[str]:
    """The text of an element, cut where a formula or a float stands in it."""
    parts = [element.text or ""]
    for child in element:
        if name(child) in FORMULAS + FLOATS:
            parts.append("\0")
        elif isinstance(child.tag, str):
            parts.append("\0".join(runs(child)))
        parts.append(child.tail or "")
    return "".join(parts).split("\0")


def whole(element: etree._Element) -> str:
    return " ".join("".join(element.itertext()).split())


def every(root: etree._Element, *names: str) -> Iterator[etree._Element]:
    return (element for element in root.iter() if name(element) in names)


def inside(element: etree._Element, *names: str) -> bool:
    return any(name(parent) in names for parent in element.iterancestors())


def jats(path: Path) -> Texts:
    root = etree.parse(path).getroot()
    body = next(every(root, "body"))
    paragraphs = [p for p in every(body, "p", "preformat") if not inside(p, "caption", "td", "th", "fn")]
    titles = [title for title in every(root, "title") if name(_parent(title)) in {"sec", "ref-list", "ack", "app"}]
    return Texts(
        body=[run for paragraph in paragraphs for run in runs(paragraph)],
        headings=[whole(title) for title in titles if whole(title)],
        other_headings=["References", *(whole(title) for title in every(root, "article-title"))],
        captions=[whole(caption) for caption in every(body, "caption")],
        entries=sum(1 for _ in every(root, "ref")),
        cited=[whole(title) for title in every(root, "article-title", "source") if inside(title, "ref-list")],
        everything=[
            whole(part)
            for part in every(
                root, "p", "td", "th", "aff", "preformat", "license-p", "abstract", "contrib-group", "title"
            )
            if not inside(part, "ref-list")
        ],
    )


def tei(path: Path) -> Texts:
    root = etree.parse(path).getroot()
    body = next(every(root, "body"))
    back = next(every(root, "back"))
    return Texts(
        body=[run for part in (body, *_divisions(back)) for p in every(part, "p") for run in runs(p)],
        headings=[whole(head) for head in every(body, "head") if name(_parent(head)) == "div" and whole(head)],
        other_headings=["Abstract", "References", *(whole(title) for title in every(root, "title"))],
        captions=[whole(note) for note in every(body, "figDesc") if whole(note)],
        entries=sum(1 for _ in every(back, "biblStruct")),
        cited=[whole(title) for listing in every(back, "listBibl") for title in every(listing, "title")],
        everything=[
            whole(part)
            for part in every(
                root, "p", "note", "abstract", "affiliation", "figDesc", "head", "cell", "author", "formula"
            )
            if not inside(part, "listBibl")
        ],
    )


def _parent(element: etree._Element) -> etree._Element:
    parent = element.getparent()
    assert parent is not None
    return parent


def _divisions(back: etree._Element) -> Iterator[etree._Element]:
    return (division for division in every(back, "div") if not any(True for _ in every(division, "listBibl")))


def carrel(path: Path) -> Texts:
    paper = Pdf().parse(Source(path.name, path.read_bytes()))
    pieces = [(block.kind, paper.text[block.start : block.end]) for block in paper.blocks]
    return Texts(
        body=[text for kind, text in pieces if kind in BODY],
        headings=[text for kind, text in pieces if kind == BlockKind.HEADING],
        captions=[text for kind, text in pieces if kind == BlockKind.CAPTION],
        entries=sum(kind == BlockKind.REFERENCE for kind, _ in pieces),
    )


def pdfium(path: Path) -> Texts:
    import pypdfium2  # type: ignore[import-untyped]

    document = pypdfium2.PdfDocument(path)
    text = "\n".join(page.get_textpage().get_text_range() for page in document)
    document.close()
    return Texts([text])


def pdfminer(path: Path) -> Texts:
    from pdfminer.high_level import extract_text  # type: ignore[import-not-found]

    return Texts([extract_text(path)])


@dataclass(frozen=True)
class Scores:
    recall: float
    letters: float
    """Recall of the same runs where it does not count how letters are joined to words: `fine-tuning`, `finetuning`."""
    precision: float
    excluded: float
    headings: float
    headings_right: float
    captions: float
    entries: float
    """Entries of the bibliography found, as a part of those there are."""


def score(found: Texts, truth: Texts) -> Scores:
    ours, body = set(found.grams), truth.grams
    allowed = set(grams(truth.everything)) | set(body) | set(grams(truth.captions))
    listed = [gram for gram in grams(truth.cited) if gram not in allowed]
    our_headings, their_headings = set(map(plain, found.headings)), list(map(plain, truth.headings))
    right = {*their_headings, *map(plain, truth.other_headings)}
    return Scores(
        recall=share(body, ours),
        letters=_letters(body, found.body),
        precision=share(found.grams, allowed),
        excluded=_mean([gram not in ours for gram in listed]),
        headings=_mean([heading in our_headings for heading in their_headings]),
        headings_right=_mean([plain(heading) in right for heading in found.headings]),
        captions=_mean([_has_caption(found.captions, caption) for caption in truth.captions]),
        entries=found.entries / max(truth.entries, 1),
    )


def _letters(wanted: Iterable[Gram], texts: Iterable[str]) -> float:
    there = "\n".join("".join(words(text)) for text in texts)
    return _mean(["".join(gram) in there for gram in wanted])


def plain(heading: str) -> str:
    return "".join(words(_NUMBER.sub("", heading.strip())))


def _has_caption(captions: Iterable[str], wanted: str) -> bool:
    """Nearly all of it in one caption; labels and formulas may be written otherwise."""
    listed = words(wanted)
    runs_of_it = grams([wanted]) or [tuple(listed)]
    return any(
        share(runs_of_it, set(grams([caption])) | {tuple(words(caption)[-len(listed) :])}) >= 0.8
        for caption in captions
    )


def _mean(values: list[bool]) -> float:
    return statistics.fmean(values) if values else 1.0


def table(title: str, pairs: list[tuple[Path, Texts]], readers: Mapping[str, Callable[[Path], Texts]]) -> None:
    print(f"\n{title}")
    print(f"{'':28} body recall  letters  precision  excluded  headings (right)  captions  entries   s a paper")
    for reader, read in readers.items():
        rows: list[Scores] = []
        start = time.perf_counter()
        for path, truth in pairs:
            try:
                rows.append(score(read(path), truth))
            except ModuleNotFoundError:
                break
            if reader == "carrel":
                print(_row(path.stem, rows[-1:], structured=True))
        seconds = (time.perf_counter() - start) / len(pairs)
        if rows:
            print(f"{_row(f'{reader}, mean', rows, structured=reader == 'carrel')} {seconds:11.2f}")
        else:
            print(f"{reader:28} not installed")


def _row(label: str, rows: list[Scores], *, structured: bool) -> str:
    def mean(part: str) -> float:
        return statistics.fmean(getattr(row, part) for row in rows)

    line = f"{label:28} {mean('recall'):11.3f} {mean('letters'):8.3f} {mean('precision'):10.3f} {mean('excluded'):9.3f}"
    if not structured:
        return line + " " * 37
    right = f"({mean('headings_right'):.2f})"
    return f"{line} {mean('headings'):9.3f} {right:>7} {mean('captions'):9.3f} {mean('entries'):8.2f}"


def misses(path: Path, truth: Texts) -> None:
    """What the parser did not find of a paper, and what it has too much."""
    found = carrel(path)
    ours, allowed = set(found.grams), set(grams(truth.everything)) | set(truth.grams) | set(grams(truth.captions))
    print(f"\n{path.stem}")
    for label, wanted, there in (("missing", truth.grams, ours), ("too much", found.grams, allowed)):
        for run in _stretches([gram for gram in wanted if gram not in there]):
            print(f"  {label}: {run[:160]}")
    headings = set(map(plain, found.headings))
    for heading in truth.headings:
        if plain(heading) not in headings:
            print(f"  no heading: {heading}")
    for heading in found.headings:
        if plain(heading) not in set(map(plain, truth.headings + truth.other_headings)):
            print(f"  made heading: {heading[:100]}")
    for caption in truth.captions:
        if not _has_caption(found.captions, caption):
            print(f"  no caption: {caption[:160]}")


def _stretches(missing: list[Gram]) -> Iterator[str]:
    current: list[str] = []
    for gram in missing:
        if current[-(RUN - 1) :] == list(gram[:-1]):
            current.append(gram[-1])
        else:
            if current:
                yield " ".join(current)
            current = list(gram)
    if current:
        yield " ".join(current)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, nargs="?", default=Path("../shared/data"))
    parser.add_argument("--misses", action="store_true", help="Say what was missed, instead of how much.")
    options = parser.parse_args()
    published = [(path.with_suffix("").with_suffix(".pdf"), jats(path)) for path in _xml(options.data, "jose", "jats")]
    grobid = [(path.with_suffix("").with_suffix(".pdf"), tei(path)) for path in _xml(options.data, "acl", "tei")]
    if options.misses:
        for path, truth in published + grobid:
            misses(path, truth)
        return
    readers = {"carrel": carrel, "pdfium, plain": pdfium, "pdfminer.six": pdfminer}
    table("Journal of Open Source Education: PDF and JATS of the publisher", published, readers)
    table("ACL: PDF and GROBID's TEI", grobid, readers)


def _xml(data: Path, folder: str, kind: str) -> list[Path]:
    return sorted((data / "fulltext").glob(f"{folder}*/*.{kind}.xml"))


if __name__ == "__main__":
    main()
