"""Whether a question finds in papers read from PDF what it finds in the same papers read from XML.

    python -m benchmarks.pdf_retrieval ../shared/data [--distractors 60] [--losses 20] [--work .bench]

Two libraries: the same papers, once from PDF, once from the publisher's JATS or GROBID's TEI, beside the same other
articles. Questions are made from the XML alone, read here with lxml: the most telling words of each paragraph, each
heading with words of its paper's title, each caption. How relevant a chunk is does not depend on where either side was
cut: it is the share of the paragraph that the chunk holds, in runs of five words without case, punctuation and hyphens,
formulas left out. A share under a fifth is chance and counts as none. nDCG is over a side's own ideal order; where a
side does not have the paragraph at all, it is 0.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shutil
import statistics
import tarfile
import tempfile
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from lxml import etree

from benchmarks.collections import ndcg
from benchmarks.pdf_structure import every, grams, inside, name, runs, whole, words
from carrel import Library
from carrel.types import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchmarks.pdf_structure import Gram
    from carrel.types import Chunk

MODES = (Mode.HYBRID, Mode.VECTOR, Mode.KEYWORD)
DEPTH = 10
TELLING, OF_TITLE, OF_CAPTION = 6, 4, 25
SHORTEST = 25
"""Words of a paragraph that is worth a question."""
LEAST = 20
"""Per cent of a paragraph, below which a chunk does not count as having it."""
FLOOR = 0.01
_HYPHEN = re.compile(r"(?<=\w)(?:\u00ad|[-\u2010\u2011]\s*)(?=\w)")
_LABEL = re.compile(r"^(?:fig(?:ure)?|table|algorithm|listing)\.?\s*\w{1,3}\s*[:.]?\s+", re.IGNORECASE)


# Questions, from the XML


@dataclass(frozen=True)
class Section:
    heading: str
    paragraphs: tuple[tuple[str, ...], ...]
    """Each as its runs between formulas."""


@dataclass(frozen=True)
class Article:
    paper: str
    title: str
    sections: tuple[Section, ...]
    captions: tuple[str, ...]

    @property
    def paragraphs(self) -> Iterator[tuple[str, ...]]:
        return (paragraph for section in self.sections for paragraph in section.paragraphs)


@dataclass(frozen=True)
class Question:
    paper: str
    kind: str
    text: str
    wanted: tuple[frozenset[Gram], ...]
    """The paragraphs any of which would do."""

    def grade(self, held: frozenset[Gram]) -> int:
        """How much of a wanted paragraph is there, in per cent."""
        best = max(round(100 * len(one & held) / len(one)) for one in self.wanted)
        return best if best >= LEAST else 0


def article(path: Path) -> Article:
    root = etree.parse(path).getroot()
    body = next(every(root, "body"))
    paper = path.name.removesuffix(".xml").removesuffix(".jats").removesuffix(".tei")
    title = next(whole(one) for one in every(root, "article-title", "title") if not inside(one, "ref-list"))
    sections = tuple(_section(one) for one in (body, *every(body, "sec", "div")))
    captions = (_LABEL.sub("", whole(one)) for one in every(body, "caption", "figDesc"))
    return Article(paper, title, sections, tuple(one for one in captions if len(words(one)) >= 5))


def _section(element: etree._Element) -> Section:
    """What stands in a section itself, and not in one of its own sections."""
    heads = [whole(child) for child in element if name(child) in {"title", "head"}]
    own = [child for child in element if name(child) in {"p", "list"}]
    paragraphs = (tuple(runs(p)) for one in own for p in ([one] if name(one) == "p" else every(one, "p")))
    return Section(" ".join(heads), tuple(one for one in paragraphs if len(words(" ".join(one))) >= SHORTEST))


def questions(articles: Sequence[Article]) -> list[Question]:
    weight = weights(" ".join(paragraph) for one in articles for paragraph in one.paragraphs)
    return [question for one in articles for question in _questions(one, weight) if question.text and question.wanted]


def _questions(one: Article, weight: Callable[[str], float]) -> Iterator[Question]:
    for paragraph in one.paragraphs:
        text = telling(" ".join(paragraph), weight, most=TELLING)
        yield Question(one.paper, "words", text, _wanted([paragraph]))
    title = telling(one.title, weight, most=OF_TITLE)
    for section in one.sections:
        if section.heading and section.paragraphs:
            yield Question(one.paper, "heading", f"{section.heading} {title}", _wanted(section.paragraphs))
    for caption in dict.fromkeys(one.captions):
        text = " ".join(caption.split()[:OF_CAPTION])
        yield Question(one.paper, "caption", text, _wanted([[caption]]))


def _wanted(paragraphs: Iterable[Iterable[str]]) -> tuple[frozenset[Gram], ...]:
    return tuple(held for paragraph in paragraphs if (held := equalised(paragraph)))


def weights(paragraphs: Iterable[str]) -> Callable[[str], float]:
    """How telling a word is: the rarer, the more; one of a single paragraph is a name or a slip that nobody asks by."""
    listed = [set(words(paragraph)) for paragraph in paragraphs]
    frequency = Counter(word for one in listed for word in one)

    def weight(word: str) -> float:
        known = frequency[word] > 1 and word.isalpha() and len(word) > 2
        return math.log(len(listed) / frequency[word]) if known else 0.0

    return weight


def telling(text: str, weight: Callable[[str], float], *, most: int) -> str:
    """The words that weigh most by tf-idf, heaviest first, and so not in the text's order."""
    counts = Counter(words(text))
    heaviest = sorted(counts, key=lambda word: (-counts[word] * weight(word), word))
    return " ".join(word for word in heaviest[:most] if weight(word))


def equalised(texts: Iterable[str]) -> frozenset[Gram]:
    """Runs of five words, hyphens closed up: a line's end may have cost a compound its own."""
    return frozenset(grams(_HYPHEN.sub("", unicodedata.normalize("NFKC", text)) for text in texts))


# Libraries


def surroundings(data: Path, count: int, folder: Path, kept: Path) -> None:
    """A library of other articles. What their embedding gave is kept, as it takes minutes."""
    articles = folder.with_name("articles")
    with tarfile.open(data / "fulltext/pmc_jats_dev/pmc_jats_dev.tar.xz") as archive:
        members = sorted(archive.getmembers(), key=lambda member: member.name)[:count]
        archive.extractall(articles, members=members, filter="data")
    with Library.init(folder) as library:
        if kept.exists():
            shutil.copytree(kept, library.layout.embeddings)
        library.add(*sorted(articles.glob("*.xml")))
        if library.layout.embeddings.exists():
            shutil.copytree(library.layout.embeddings, kept, dirs_exist_ok=True)


@dataclass(frozen=True)
class Side:
    """A library and what its chunks hold."""

    library: Library
    held: Mapping[str, Mapping[str, frozenset[Gram]]]
    """Paper → address → runs of words."""
    chunks: Mapping[str, Chunk]

    def relevant(self, question: Question) -> dict[str, int]:
        graded = {address: question.grade(held) for address, held in self.held[question.paper].items()}
        return {address: grade for address, grade in graded.items() if grade}

    def ask(self, question: Question, mode: Mode) -> tuple[float, float]:
        """nDCG of the passages, and of the papers they are from."""
        found = self.library.search(question.text, mode=mode, limit=DEPTH).passages
        relevant = self.relevant(question)
        papers = list(dict.fromkeys(passage.chunk.paper_id for passage in found))
        passages = ndcg([passage.chunk.address for passage in found], relevant) if relevant else 0.0
        return passages, ndcg(papers, {question.paper: 1})


def side(files: Mapping[str, Path], folder: Path, *, others: Path | None = None, **options: Any) -> Side:  # noqa: ANN401
    """The papers, each under its own name, added to a copy of the others' library."""
    papers = folder.with_name(f"{folder.name}_papers")
    papers.mkdir()
    for paper, path in files.items():
        shutil.copy(path, papers / f"{paper}{path.suffix}")
    if others:
        shutil.copytree(others, folder)
    else:
        Library.init(folder).close()
    library = Library.open(folder, overrides={"history.enabled": False}, **options)
    report = library.add(papers)
    if set(report.papers) != set(files):
        raise SystemExit(f"{papers.name}: {report.failed or set(files) ^ set(report.papers)}")
    chunks = library.stores.catalog.chunks_of(list(files))
    held: dict[str, dict[str, frozenset[Gram]]] = {paper: {} for paper in files}
    for chunk in chunks:
        held[chunk.paper_id][chunk.address] = equalised([chunk.text])
    return Side(library, held, {chunk.address: chunk for chunk in chunks})


# What is measured


@dataclass(frozen=True)
class Answers:
    """Both sides' figures of one mode, question by question."""

    passages: np.ndarray
    papers: np.ndarray
    """Columns: PDF, XML."""


def measure(asked: Sequence[Question], sides: Sequence[Side], mode: Mode) -> Answers:
    figures = np.array([[one.ask(question, mode) for one in sides] for question in asked])
    return Answers(figures[:, :, 0], figures[:, :, 1])


def interval(differences: np.ndarray, groups: Sequence[str], *, rounds: int = 10_000) -> tuple[float, float]:
    """Where the mean difference lies in 95 of 100 resamplings of whole groups."""
    members = [np.flatnonzero(np.array(groups) == one) for one in dict.fromkeys(groups)]
    sums, sizes = np.array([differences[one].sum() for one in members]), np.array([len(one) for one in members])
    drawn = np.random.default_rng(0).integers(len(members), size=(rounds, len(members)))
    low, high = np.percentile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [2.5, 97.5])
    return float(low), float(high)


def row(label: str, figures: np.ndarray, groups: Sequence[str]) -> str:
    pdf, xml = figures.mean(axis=0)
    low, high = interval(figures[:, 0] - figures[:, 1], groups)
    return f"{label:26} {len(figures):9} {pdf:8.4f} {xml:8.4f} {pdf - xml:+11.4f}   {low:+.4f} … {high:+.4f}"


def table(asked: Sequence[Question], answers: Mapping[Mode, Answers]) -> None:
    each = [str(number) for number in range(len(asked))]
    print(f"\n{'nDCG@10':26} questions      PDF      XML  difference   95 %, questions drawn anew")
    for mode, one in answers.items():
        print(row(f"{mode}, passages", one.passages, each))
        print(row(f"{mode}, papers", one.papers, each))
    best = answers[Mode.HYBRID].passages
    print(row("hybrid, papers drawn anew", best, [question.paper for question in asked]))
    for group_of in (_kind, _origin):
        for group in dict.fromkeys(map(group_of, asked)):
            rows = [number for number, question in enumerate(asked) if group_of(question) == group]
            print(row(f"  hybrid, {group}", best[rows], each[: len(rows)]))


def _kind(question: Question) -> str:
    return question.kind


def _origin(question: Question) -> str:
    return "JOSE" if question.paper.startswith("jose") else "ACL"


def holdings(asked: Sequence[Question], sides: Mapping[str, Side]) -> None:
    """How much of the paragraphs the best chunk of each side has, whether it is found or not."""
    for label, one in sides.items():
        best = [max(one.relevant(question).values(), default=0) for question in asked]
        had = f"the best has {statistics.fmean(best):.1f} % of what a question is about"
        print(f"{label}: {len(one.chunks)} chunks; {had}, and there is none for {best.count(0)} questions")


def losses(asked: Sequence[Question], answers: Answers, pdf: Side, xml: Side, count: int) -> None:
    """Where the PDF side lost most: what was asked, at which rank it came, and how the two best chunks differ."""
    differences = answers.passages[:, 0] - answers.passages[:, 1]
    for number in np.argsort(differences, kind="stable")[:count]:
        question = asked[number]
        print(f"\n{differences[number]:+.3f}  {question.paper}  {question.kind}: {question.text}")
        here, there = (_loss(question, label, one) for label, one in (("PDF", pdf), ("XML", xml)))
        print(f"  only in XML: {' '.join(sorted((there - here).elements()))[:600]}")
        print(f"  only in PDF: {' '.join(sorted((here - there).elements()))[:600]}")


def _loss(question: Question, label: str, one: Side) -> Counter[str]:
    """Tell where one side has what was asked for, and what it gave instead; returns the words of its best chunk."""
    relevant = one.relevant(question)
    found = one.library.search(question.text, limit=DEPTH).passages
    ranks = {passage.chunk.address: passage.rank for passage in found}
    best = sorted(relevant, key=lambda address: -relevant[address])
    for address in best[:3]:
        chunk, rank = one.chunks[address], ranks.get(address, "-")
        place = f"{address}, page {chunk.page_start}, {chunk.token_count} tokens"
        print(f"  {label} {relevant[address]:3} % at rank {rank:>2}: {place}, {chunk.heading!r}")
    print(f"  {label} first: {found[0].chunk.address}, {found[0].chunk.text[:90]!r}")
    return Counter(words(one.chunks[best[0]].embedded_text)) if best else Counter()


def pairs(data: Path) -> dict[str, tuple[Path, Path]]:
    """Paper → its PDF and its XML."""
    found = [*(data / "fulltext").glob("jose*/*.jats.xml"), *(data / "fulltext").glob("acl*/*.tei.xml")]
    return {one.with_suffix("").stem: (one.with_suffix("").with_suffix(".pdf"), one) for one in sorted(found)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--distractors", type=int, default=60, help="Other articles in both libraries.")
    parser.add_argument("--losses", type=int, default=0, help="Tell of so many questions that lost most.")
    parser.add_argument("--work", type=Path, default=Path(".bench"), help="Where embeddings of the others are kept.")
    options = parser.parse_args()
    files = pairs(options.data)
    asked = questions([article(xml) for _, xml in files.values()])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        surroundings(options.data, options.distractors, folder / "others", options.work / "pdf_retrieval")
        pdf = side({paper: pdf for paper, (pdf, _) in files.items()}, folder / "pdf", others=folder / "others")
        xml = side({paper: xml for paper, (_, xml) in files.items()}, folder / "xml", others=folder / "others")
        print(f"{len(files)} papers among {options.distractors} others; load average {os.getloadavg()[0]:.1f}")
        holdings(asked, {"PDF": pdf, "XML": xml})
        answers = {mode: measure(asked, (pdf, xml), mode) for mode in MODES}
        table(asked, answers)
        losses(asked, answers[Mode.HYBRID], pdf, xml, options.losses)
        pdf.library.close()
        xml.library.close()
    best = answers[Mode.HYBRID].passages.mean(axis=0)
    print(f"\n|difference| in hybrid {abs(best[0] - best[1]):.4f}, to be at most {FLOOR}")


if __name__ == "__main__":
    main()
