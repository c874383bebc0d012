"""`carrel eval` on a test collection."""

from __future__ import annotations

import gzip
import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest

from carrel import Library, registry, trials
from carrel.errors import CarrelError, StoreUnavailable
from carrel.evaluate import collections, metrics
from carrel.rerankers.fused import Fused
from carrel.testing import HashedWords
from carrel.trials.ways import ways
from carrel.types import EVERYTHING, Mode
from tests.cli.conftest import Carrel

DATA = Path(__file__).parents[3] / "shared" / "data" / "retrieval"
TOPICS = (
    "glaciers move downhill slowly because ice under pressure deforms and slides over wet rock",
    "bees dance to tell each other in which direction flowers with nectar can be found",
    "a prime number has exactly two divisors and there are infinitely many of them",
    "volcanoes erupt when molten rock rises through cracks in the crust of the earth",
    "binary search halves the interval that may hold the key until nothing is left of it",
    "the moon raises tides in the oceans because its pull is stronger on the near side",
    "yeast turns sugar into alcohol and carbon dioxide and so makes bread rise in warmth",
    "a violin string sounds higher when it is shorter, tighter or lighter than before",
    "penguins keep eggs warm on their feet under a fold of skin through the polar winter",
    "copper conducts electricity well since its outer electrons move freely between atoms",
    "quicksort chooses a pivot and sorts what is smaller and what is larger separately",
    "mosses have no roots and take up water over the whole surface of their small leaves",
)
ASKED = {
    "q0": ("how does ice of glaciers slide over rock", {"d0": 2}),
    "q1": ("what do bees tell by a dance", {"d1": 1}),
    "q2": ("algorithm that halves an interval or sorts with a pivot", {"d4": 1, "d10": 2}),
    "q3": ("pull of the moon on oceans", {"d5": 1}),
    "q4": ("molten rock rises", {"d3": 1, "d0": 1}),
    "q5": ("why does the sky look blue", {"gone": 1}),
    "q6": ("what moves freely or slowly", {"d0": 1, "d9": 2, "d7": 1}),
    "q7": ("rock, water and the earth with its oceans", {"d11": 1, "d5": 2, "d3": 1}),
    "q8": ("what is warm", {"d8": 2, "d6": 1}),
}


def write(folder: Path, documents: dict[str, str], asked: dict[str, tuple[str, dict[str, int]]]) -> Path:
    folder.mkdir(parents=True)
    corpus = [{"_id": name, "title": "", "text": text} for name, text in documents.items()]
    queries = [{"_id": query, "text": text} for query, (text, _) in asked.items()]
    qrels = [f"{query}\t{one}\t{grade}" for query, (_, relevant) in asked.items() for one, grade in relevant.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *qrels]))
    return folder


def documents() -> dict[str, str]:
    return {f"d{number}": f"{topic}." for number, topic in enumerate(TOPICS)}


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny", documents(), ASKED)


def only(folder: Path) -> Path:
    """The one library that was made in a work folder."""
    (found,) = folder.glob("*/*/.carrel")
    return found


def test_the_table_shows_every_way_of_searching_and_what_was_left_out(carrel: Carrel, tiny: Path) -> None:
    done = carrel("eval", tiny, "--beside", "hashed-words")
    assert done.code == 0
    rows = [line.split("|")[1].strip() for line in done.out.splitlines() if line.startswith("| ")]
    expected = [way.name for way in ways(beside=["hashed-words"])]
    assert rows[2:] == expected
    assert "12 documents, 9 queries" in done.out
    assert "- judgements of qrels.tsv for documents that are not there, never found: 1 (gone)" in done.out
    assert "Settings: `embedder = hashed-words`; seed 0." in done.out
    assert "measured in" in done.err


def test_the_command_and_the_library_give_the_same_figures_and_so_does_another_run(carrel: Carrel, tiny: Path) -> None:
    first, second = carrel("eval", tiny, "--json"), carrel("eval", tiny, "--json")
    assert first.out == second.out
    assert first.json == trials.evaluate(tiny).as_dict()
    assert first.json["metrics"]["recall@100"] == pytest.approx(8 / 9, abs=1e-6)
    assert first.json["metrics"]["ndcg@10"] > 0.6
    assert first.json["settings"]["search.fusion"]


def test_what_is_measured_is_what_a_search_finds(carrel: Carrel, tiny: Path, tmp_path: Path) -> None:
    """The ways share what they find; a library that shares nothing finds the same."""
    assert carrel("eval", tiny, "--work", tmp_path / "work", "--out", tmp_path / "out").code == 0
    measured = json.loads((tmp_path / "out" / "report.json").read_text())["scores"]
    read = collections.read(tiny)
    for way in ways():
        with Library.open(only(tmp_path / "work"), overrides={**way.settings, "history.enabled": False}) as library:
            for query, text in read.queries.items():
                found = library.search(text, mode=way.mode, limit=100, by_paper=True)
                ranked = [passage.chunk.paper_id for passage in found.passages]
                assert measured[way.name][query] == metrics.scores(ranked, read.relevant[query])


def test_arms_alone_are_the_arms_rankings(carrel: Carrel, tiny: Path, tmp_path: Path) -> None:
    told = carrel("eval", tiny, "--work", tmp_path / "work", "--out", tmp_path / "out", "--json").json
    scores = json.loads((tmp_path / "out" / "report.json").read_text())["scores"]
    read = collections.read(tiny)
    with Library.open(only(tmp_path / "work")) as library:
        for query, text in read.queries.items():
            hits = library.stores.keywords.search(text, limit=100, where=EVERYTHING)
            ranked = [hit.address.removesuffix("/abstract") for hit in hits]
            assert scores["keyword alone"][query] == metrics.scores(ranked, read.relevant[query])
    assert told["best_arm"] in ("vector alone", "keyword alone")


def test_a_kept_index_embeds_only_what_is_new(
    carrel: Carrel, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []

    class Counting(HashedWords):
        def embed_passages(self, texts: Any) -> Any:
            embedded.extend(texts)
            return super().embed_passages(texts)

    monkeypatch.setattr("carrel.testing.HashedWords", Counting)
    first = carrel("eval", tiny, "--work", tmp_path / "work", "--json")
    assert (first.code, len(embedded)) == (0, 12)
    assert carrel("eval", tiny, "--work", tmp_path / "work", "--json").out == first.out
    assert len(embedded) == 12
    changed = {
        **documents(),
        "d1": "wasps do not dance at all, they follow the smell of ripe fruit and meat",
        "d99": "x",
    }
    del changed["d3"]
    write(tmp_path / "other" / "tiny", changed, ASKED)
    again = carrel("eval", tmp_path / "other" / "tiny", "--work", tmp_path / "work", "--json")
    assert embedded[12:] == [f"— {changed['d1']}"]
    assert again.json["documents"] == 12
    assert again.out == carrel("eval", tmp_path / "other" / "tiny", "--json").out


def test_the_temporary_library_is_gone_afterwards_however_it_ends(
    carrel: Carrel, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    assert carrel("eval", tiny).code == 0
    assert list(scratch.iterdir()) == []

    def interrupted(*_arguments: object) -> None:
        assert list(scratch.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(HashedWords, "embed_passages", interrupted)
    assert carrel("eval", tiny).code == 130
    assert list(scratch.iterdir()) == []


def test_no_history_is_written_neither_of_the_users_library_nor_of_its_own(
    library: Carrel, tiny: Path, tmp_path: Path
) -> None:
    before = library("list", "--json").out
    assert library("--set", "history.enabled=true", "eval", tiny, "--work", tmp_path / "work").code == 0
    assert library("list", "--json").out == before
    for database in (tmp_path / ".carrel" / "carrel.db", only(tmp_path / "work") / "carrel.db"):
        with sqlite3.connect(database) as connection:
            assert connection.execute("SELECT count(*) FROM rag_queries").fetchone() == (0,)
        connection.close()


def test_a_query_that_a_search_refuses_finds_nothing_and_is_named(carrel: Carrel, tmp_path: Path) -> None:
    asked = {**ASKED, "long": ("glaciers " * 300, {"d0": 1})}
    told = carrel("eval", write(tmp_path / "tiny", documents(), asked), "--out", tmp_path / "out", "--json").json
    named = "queries that a search refuses, scored 0: 1 (long: Query exceeds maximum length: 2700 > 2000 characters)"
    assert f"hybrid: {named}" in told["remarks"]
    scores = json.loads((tmp_path / "out" / "report.json").read_text())["scores"]
    assert scores["hybrid"]["long"] == dict.fromkeys(metrics.METRICS, 0.0)


def test_a_search_that_went_without_its_reranker_is_counted(
    carrel: Carrel, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise StoreUnavailable("no weights")

    monkeypatch.setattr(Fused, "explained", fail)
    remarks = carrel("eval", tiny, "--json").json["remarks"]
    assert any(remark.startswith("hybrid: queries answered in part: 9 (q0: rerank: no weights;") for remark in remarks)


def test_odd_ids_are_kept_as_they_are(carrel: Carrel, tmp_path: Path) -> None:
    odd = ["a/b/abstract", "../up", "ÄÖ ü", "x" * 400, "'; DROP TABLE papers; --", "*", "10.1/a:b", "CON"]
    texts = dict(zip(odd, TOPICS, strict=False))
    asked = {f"q{number}": (topic, {name: 1}) for number, (name, topic) in enumerate(texts.items())}
    told = carrel("eval", write(tmp_path / "odd", texts, asked), "--json").json
    assert told["arms"]["vector alone"]["mrr@10"] == 1.0
    assert told["arms"]["keyword alone"]["mrr@10"] == 1.0


def test_a_sample_asks_fewer_queries_and_has_no_published_figures_beside_it(carrel: Carrel, tiny: Path) -> None:
    (tiny / "BASELINES.tsv").write_text("# bm25s\ncollection\tdocs\tqueries\tnDCG@10\ntiny\t12\t9\t0.9\n")
    whole, some = carrel("eval", tiny, "--json").json, carrel("eval", tiny, "--queries", "2", "--json").json
    assert whole["published"] == {"bm25s (published)": {"ndcg@10": 0.9}}
    assert (some["queries"], some["published"]) == (2, {})
    assert "bm25s (published)" in carrel("eval", tiny).out


def test_reports_are_the_same_byte_for_byte_and_can_be_compared(carrel: Carrel, tiny: Path, tmp_path: Path) -> None:
    assert carrel("eval", tiny, "--out", tmp_path / "a").code == 0
    assert carrel("--set", "reranker=none", "eval", tiny, "--out", tmp_path / "b").code == 0
    assert carrel("eval", tiny, "--out", tmp_path / "again").code == 0
    for name in ("report.json", "report.md", "plot.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    saved = carrel("eval", "--compare", tmp_path / "a" / "report.json", tmp_path / "b" / "report.json", "--json").json
    fresh = carrel("eval", tiny, "--compare", "default", "reranker=none", "--json").json
    assert saved["metrics"] == fresh["metrics"]
    assert saved["verdict"] == fresh["verdict"]
    assert fresh == trials.compare("default", "reranker=none", folder=tiny).as_dict()
    assert any("documents that are not there" in remark for remark in fresh["remarks"])
    many = ",".join(["reranker=none", *["search.rrf_k=60"] * 20])
    mixed = carrel("eval", tiny, "--compare", tmp_path / "a" / "report.json", many)
    assert mixed.code == 0
    assert saved["verdict"] in mixed.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval", "tiny", "--compare", "default", "nonsense"], "'nonsense' is neither a saved report nor settings"),
        (["eval", "--compare", "default", "reranker=none"], "to compare settings, a collection is needed"),
        (["eval", "tiny", "--compare", "default", "search.k=1"], "unknown setting 'search.k'"),
        (["eval", "tiny", "--compare", "default", "search.rrf_k=0"], "setting search.rrf_k = '0'"),
        (["eval", "tiny", "--compare", "tiny/qrels.tsv", "default"], "'tiny/qrels.tsv' is no report"),
        (["eval", "tiny", "--compare", "default", "default", "--beside", "x"], "--beside has no part in --compare"),
        (["eval", "tiny", "--beside", "nobody"], "no embedder is called 'nobody'"),
        (["eval", "tiny", "--part", "dev"], "has no qrels_dev.tsv or qrels/dev.tsv"),
        (["eval", "nowhere"], "no folder 'nowhere'"),
        (["eval", "tiny", "--queries", "0"], "Invalid value for '--queries'"),
        (["--set", "search.limit=0", "eval", "tiny"], "setting search.limit = '0'"),
    ],
)
def test_what_cannot_be_measured_is_told_before_anything_is_indexed(
    carrel: Carrel, tiny: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    def indexed(*_arguments: object) -> None:
        raise CarrelError("indexed")

    assert tiny.name == "tiny"
    monkeypatch.setattr(HashedWords, "embed_passages", indexed)
    done = carrel(*arguments)
    assert (done.code, done.out) == (1, "")
    assert message in done.err


def test_a_missing_extra_is_told_by_its_name(
    carrel: Carrel, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs_more.py").write_text("import no_such_module_anywhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.BUILT_IN["embedders"], "absent", "needs_more:Model")
    done = carrel("eval", tiny, "--beside", "absent")
    assert done.code == 1
    assert "'absent' needs an extra" in done.err


def test_real_claims_find_their_abstracts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty abstracts of SciFact by the bundled model."""
    if not (DATA / "scifact").is_dir():
        pytest.skip("SciFact is not here: shared/data/retrieval/scifact beside the repository")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    whole = collections.read(DATA / "scifact")
    queries = [query for query in whole.queries if len(whole.relevant[query]) == 1][:8]
    wanted = {one for query in queries for one in whole.relevant[query]}
    others = [one for one in whole.documents if one.id not in wanted][: 20 - len(wanted)]
    kept = [one for one in whole.documents if one.id in wanted] + others
    folder = tmp_path / "scifact"
    folder.mkdir()
    lines = [json.dumps({"_id": one.id, "title": one.title, "text": one.abstract}) for one in kept]
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    asked = [json.dumps({"_id": query, "text": whole.queries[query]}) for query in queries]
    (folder / "queries.jsonl").write_text("\n".join(asked))
    (folder / "qrels.tsv").write_text(
        "\n".join(f"{query}\t{next(iter(whole.relevant[query]))}\t1" for query in queries)
    )
    report = trials.evaluate(folder)
    assert (report.documents, report.queries) == (20, 8)
    assert report.metrics["ndcg@10"] > 0.85
    assert report.metrics["recall@100"] == 1.0
    assert {row.name: row.metrics["recall@10"] for row in report.rows}["vector alone"] == 1.0
    assert Mode.VECTOR.value in report.as_markdown()
