"""Questions in a reader's own words: keyword search misses a paper that bears on them, and `semantic` finds it.

The papers are the ACL Anthology's 10,455 abstracts of 2016–2021. Keyword search is asked over all of them, ours and
SQLite's FTS5. `semantic` is asked over a pool of them: for each question, the papers nearest to it of all and those
that keyword search puts first. So the first ten of the pool are the first ten of all;
`python -m benchmarks.references --pool` chooses it, and says the ranks in the whole collection.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks import foundation

from carrel import Library, search
from carrel.catalogs import Entry
from carrel.keywords.tantivy import TantivyKeywords
from carrel.references import jsonl
from carrel.rerankers.fused import Fused
from carrel.search.arms import keyword_arm
from carrel.settings import Settings
from carrel.testing import MemoryCatalog
from carrel.types import EVERYTHING, Chunk, ChunkKind, Document, Mode, Part, Reference

DATA = Path(__file__).parents[2] / "shared" / "data"
CORPUS = "corpora/acl_anthology_2016_2021/corpus.jsonl.gz"
POOL = Path(__file__).with_name("conceptual_pool.json")
DEEP = 50
"""Where a reader has long stopped reading: keyword search has the paper not even here."""
ANSWERS = {
    "how babies learn where one word ends and the next begins": "P19-1383",
    "extracting side effects of medicines from what patients write online": "W19-3216",
    "what can be done against bullying on the internet": "P19-1357",
    "repairing text read by scanners from old newspapers": "2021.findings-emnlp.356",
    "stopping word vectors from treating women unfairly": "P19-1160",
    "predicting share prices from what people write": "2021.eacl-main.185",
    "people disagree when they label data, what to do about it": "Q19-1043",
    "does the brain process sentences like neural networks do": "P18-1254",
    "learning from only a handful of labelled examples": "N19-1319",
    "people who switch between two languages while they speak": "2021.acl-long.131",
}
"""A question, and a paper that bears on it: chosen by reading the abstracts."""


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> list[Reference]:
    if not (DATA / CORPUS).exists():
        pytest.skip(f"the ACL Anthology's abstracts are not here: shared/data/{CORPUS} beside the repository")
    refs = tmp_path_factory.mktemp("acl") / "refs.jsonl"
    foundation.references(DATA, 10_455, refs)
    return jsonl.read(refs).references


@pytest.fixture(scope="module")
def keywords(references: list[Reference], tmp_path_factory: pytest.TempPathFactory) -> Iterator[search.Pipeline]:
    """What `carrel search --mode keyword` is made of, over every paper; nothing is embedded for it."""
    index, catalog = TantivyKeywords(tmp_path_factory.mktemp("keywords")), MemoryCatalog()
    entries = [_entry(reference) for reference in references]
    index.put([chunk for entry in entries for chunk in entry.chunks])
    catalog.put(entries)
    yield search.Pipeline({"keyword": keyword_arm(index)}, catalog, Fused(), Settings().search)
    index.close()


@pytest.fixture(scope="module")
def fts5(references: list[Reference]) -> Iterator[sqlite3.Connection]:
    table = keyword_table(references)
    yield table
    table.close()


@pytest.fixture(scope="module")
def pool(references: list[Reference], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    chosen = set(json.loads(POOL.read_text(encoding="utf-8")))
    folder = tmp_path_factory.mktemp("pool")
    jsonl.write(folder / "refs.jsonl", {one.id: one for one in references if one.id in chosen})
    with Library.init(folder / "library") as library:
        library.add(folder / "refs.jsonl")
        yield library


def keyword_table(references: list[Reference]) -> sqlite3.Connection:
    """The columns and the unstemmed words of another reference manager's keyword search."""
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE refs USING fts5 (id, title, abstract, authors, year, notes, tags)")
    table.executemany("INSERT INTO refs VALUES (?, ?, ?, ?, ?, ?, ?)", map(_columns, references))
    return table


def match(table: sqlite3.Connection, query: str, *, limit: int, every_word: bool = False) -> list[str]:
    """Ids, best first: the title counts most, then the authors, then the rest."""
    asked = (" " if every_word else " OR ").join(f'"{word}"' for word in re.findall(r"\w+", query))
    sql = "SELECT id FROM refs WHERE refs MATCH ? ORDER BY bm25(refs, 1, 10, 1, 5, 1, 1, 1) LIMIT ?"
    return [paper for (paper,) in table.execute(sql, [asked, limit])]


def _columns(reference: Reference) -> tuple[str, ...]:
    authors = ", ".join(f"{author.first} {author.last}" for author in reference.authors)
    year, tags = str(reference.published.year), " ".join(reference.tags)
    return reference.id, reference.title, reference.abstract, authors, year, reference.note, tags


def _entry(reference: Reference) -> Entry:
    text, address = reference.abstract, f"{reference.id}/abstract"
    chunk = Chunk(address, reference.id, Part.ABSTRACT, ChunkKind.ABSTRACT, text, 0, len(text), language="en")
    return Entry(reference, Document(reference.id, Part.ABSTRACT, text, ""), (chunk.with_facts(reference),))


def _found(query: str, pipeline: search.Pipeline) -> list[str]:
    result = search.search(query, mode=Mode.KEYWORD, limit=DEEP, where=EVERYTHING, pipeline=pipeline)
    return [passage.chunk.paper_id for passage in result.passages]


def test_keyword_search_knows_the_papers_and_misses_them(
    keywords: search.Pipeline, references: list[Reference]
) -> None:
    titles = {reference.id: reference.title for reference in references}
    assert len(titles) == 10_455
    for question, paper in ANSWERS.items():
        assert keywords.arms["keyword"](titles[paper], 1, EVERYTHING)[0].address == f"{paper}/abstract"
        found = _found(question, keywords)
        assert (len(found), found.count(paper)) == (DEEP, 0), question


def test_fts5_knows_the_papers_and_misses_them(fts5: sqlite3.Connection, references: list[Reference]) -> None:
    titles = {reference.id: reference.title for reference in references}
    for question, paper in ANSWERS.items():
        assert match(fts5, titles[paper], limit=1) == [paper]
        found = match(fts5, question, limit=DEEP)
        assert (len(found), found.count(paper)) == (DEEP, 0), question
        assert paper not in match(fts5, question, limit=DEEP, every_word=True)


def test_semantic_finds_them_among_its_first_ten_at_its_own_threshold(pool: Library) -> None:
    ranks: dict[str, int | None] = {}
    for question, paper in ANSWERS.items():
        found = [near.reference.id for near in pool.semantic(question).papers]
        ranks[paper] = found.index(paper) + 1 if paper in found else None
    assert ranks == {
        "P19-1383": 1,
        "W19-3216": 3,
        "P19-1357": 1,
        "2021.findings-emnlp.356": 1,
        "P19-1160": 4,
        "2021.eacl-main.185": 6,
        "Q19-1043": 1,
        "P18-1254": 3,
        "N19-1319": 4,
        "2021.acl-long.131": 1,
    }
