"""Measures, collections, intervals and reports."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.errors import InvalidInput, NotFound, SourceError
from carrel.evaluate import baselines, collections, comparing, intervals, metrics, plots, reports
from carrel.evaluate.collections import Collection, Remark
from carrel.evaluate.reports import Scored
from carrel.types import Reference

# Measures


def test_measures_are_what_one_computes_by_hand() -> None:
    ranked, relevant = ["c", "a", "x", "b"], {"a": 3, "b": 1, "d": 2, "c": 0}
    gain, ideal = 3 / log2(3) + 1 / log2(5), 3 + 2 / log2(3) + 1 / 2
    assert metrics.ndcg(ranked, relevant) == pytest.approx(gain / ideal)
    assert metrics.ndcg(ranked, relevant, depth=2) == pytest.approx((3 / log2(3)) / (3 + 2 / log2(3)))
    assert metrics.recall(ranked, relevant, depth=10) == pytest.approx(2 / 3)
    assert metrics.recall(ranked, relevant, depth=3) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank(ranked, relevant) == 1 / 2
    assert metrics.average_precision(ranked, relevant) == pytest.approx((1 / 2 + 2 / 4) / 3)


def test_what_is_below_the_depth_does_not_count() -> None:
    ranked = [*(f"x{number}" for number in range(10)), "a"]
    assert metrics.scores(ranked, {"a": 1}) == {
        "ndcg@10": 0.0,
        "recall@10": 0.0,
        "recall@100": 1.0,
        "mrr@10": 0.0,
        "map": pytest.approx(1 / 11, abs=1e-6),
    }


@pytest.mark.parametrize("relevant", [{}, {"a": 0}, {"a": -1}])
def test_without_a_relevant_document_every_measure_is_0(relevant: dict[str, int]) -> None:
    assert set(metrics.scores(["a"], relevant).values()) == {0.0}


DOCUMENTS = [f"d{number}" for number in range(30)]
RANKINGS = st.lists(st.sampled_from(DOCUMENTS), unique=True)
GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 4), min_size=1)


@given(RANKINGS, GRADES)
def test_measures_are_those_of_trec_eval(ranked: list[str], relevant: dict[str, int]) -> None:
    trec = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")
    if not ranked or max(relevant.values()) < 1:
        return
    names = {"ndcg@10": "ndcg_cut_10", "recall@10": "recall_10", "recall@100": "recall_100", "map": "map"}
    evaluator = trec.RelevanceEvaluator({"q": relevant}, {"ndcg_cut.10", "recall.10,100", "map", "recip_rank"})

    def of(documents: list[str]) -> Any:
        return evaluator.evaluate({"q": {document: -rank for rank, document in enumerate(documents, start=1)}})["q"]

    expected = {ours: of(ranked)[theirs] for ours, theirs in names.items()}
    expected["mrr@10"] = of(ranked[:10])["recip_rank"]
    assert metrics.scores(ranked, relevant) == pytest.approx(expected, abs=2e-6)


@given(RANKINGS, GRADES)
def test_measures_lie_between_0_and_1_and_the_best_order_is_1(ranked: list[str], relevant: dict[str, int]) -> None:
    assert all(0 <= value <= 1 for value in metrics.scores(ranked, relevant).values())
    best = sorted((one for one, grade in relevant.items() if grade > 0), key=lambda one: -relevant[one])
    assert metrics.ndcg(best, relevant) == pytest.approx(1.0 if best else 0.0)
    assert metrics.average_precision(best, relevant) == pytest.approx(1.0 if best else 0.0)


@given(RANKINGS.filter(lambda ranked: len(ranked) > 1), GRADES, st.data())
def test_moving_the_better_of_two_neighbours_up_never_lowers_a_measure(
    ranked: list[str], relevant: dict[str, int], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(ranked) - 2))
    first, second = sorted(ranked[place : place + 2], key=lambda one: -relevant.get(one, 0))
    better = [*ranked[:place], first, second, *ranked[place + 2 :]]
    before, after = metrics.scores(ranked, relevant), metrics.scores(better, relevant)
    assert all(after[name] >= before[name] for name in before)


# Intervals


def test_an_interval_is_as_wide_as_the_normal_law_says() -> None:
    low, high = intervals.bootstrap([0.0, 1.0] * 200)
    assert (low + high) / 2 == pytest.approx(0.5, abs=0.01)
    assert high - low == pytest.approx(2 * 1.96 * 0.5 / 20, abs=0.015)
    assert (low, high) != intervals.bootstrap([0.0, 1.0] * 200, seed=1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.integers(0, 5))
def test_the_same_seed_gives_the_same_interval_between_the_least_and_the_greatest(
    scores: list[float], seed: int
) -> None:
    found = intervals.bootstrap(scores, seed=seed)
    assert found == intervals.bootstrap(scores, seed=seed)
    assert min(scores) - 1e-9 <= found.low <= found.high <= max(scores) + 1e-9


def test_no_query_has_no_interval() -> None:
    with pytest.raises(InvalidInput, match="at least one query"):
        intervals.bootstrap([])


def test_large_samples_are_drawn_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = list(np.linspace(0, 1, 40))
    whole = intervals.bootstrap(scores), intervals.difference(scores, scores[::-1])
    monkeypatch.setattr(intervals, "_AT_ONCE", 100)
    assert (intervals.bootstrap(scores), intervals.difference(scores, scores[::-1])) == whole


def test_chance_makes_four_differences_of_one_sign_twice_in_sixteen() -> None:
    found = intervals.difference([0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.0, 0.0])
    assert found.p == pytest.approx(2 / 16, abs=0.015)
    assert (found.mean, found.better, found.worse, found.equal) == (pytest.approx(0.25), 4, 0, 0)


def test_equal_rankings_do_not_differ() -> None:
    found = intervals.difference([0.5, 0.7], [0.5, 0.7])
    assert found == intervals.Difference(0.0, intervals.Interval(0.0, 0.0), 1.0, 0, 0, 2)


def test_what_is_always_better_is_not_by_chance() -> None:
    found = intervals.difference([0.6] * 30, [0.5] * 30)
    assert found.p < 0.001
    assert found.interval == pytest.approx((0.1, 0.1))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_a_difference_the_other_way_round_is_the_same_with_the_other_sign(pairs: list[tuple[float, float]]) -> None:
    one, other = zip(*pairs, strict=True)
    there, back = intervals.difference(one, other, trials=200), intervals.difference(other, one, trials=200)
    assert there.mean == pytest.approx(-back.mean)
    assert (there.p, there.better, there.worse, there.equal) == (back.p, back.worse, back.better, back.equal)
    assert there.reversed.interval == (-there.interval.high, -there.interval.low)


def test_scores_of_different_queries_are_no_pairs() -> None:
    with pytest.raises(InvalidInput, match="1 and 2 scores"):
        intervals.difference([0.1], [0.1, 0.2])


# Collections

CORPUS = (
    '{"_id": "d1", "title": "One", "text": "The first."}\n'
    '{"_id": "d2", "title": "", "text": "The second."}\n'
    '{"_id": 3, "text": "The third.", "metadata": {"url": "x"}}\n'
)
QUERIES = '{"_id": "q1", "text": "first?"}\n{"_id": "q2", "text": "second?"}\n{"_id": "q3", "text": "none?"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\t3\t1\nq2\td2\t1\nq3\td1\t0\n"


def folder_with(folder: Path, **files: str | bytes) -> Path:
    """A collection's folder; `qrels__train_tsv` is qrels/train.tsv, an empty text leaves a file out."""
    usual: dict[str, str | bytes] = {"corpus_jsonl": CORPUS, "queries_jsonl": QUERIES, "qrels_tsv": QRELS}
    for name, content in {**usual, **files}.items():
        stem, _, suffix = name.replace("__", "/").rpartition("_")
        path = folder / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if content:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def remarks(collection: Collection) -> list[str]:
    return [str(remark) for remark in collection.remarks]


def test_a_folder_is_read_as_beir_lays_it_out(tmp_path: Path) -> None:
    read = collections.read(folder_with(tmp_path / "tiny"))
    assert [(one.id, one.title, one.abstract) for one in read.documents] == [
        ("d1", "One", "The first."),
        ("d2", "—", "The second."),
        ("3", "—", "The third."),
    ]
    assert (read.name, read.queries) == ("tiny", {"q1": "first?", "q2": "second?"})
    assert read.relevant == {"q1": {"d1": 2, "3": 1}, "q2": {"d2": 1}}
    assert remarks(read) == [
        "documents of corpus.jsonl without a title, called '—': 2 (d2; 3)",
        "queries without a relevant document, left out: 1",
    ]


@pytest.mark.parametrize(
    "qrels",
    [
        QRELS.partition("\n")[2],
        QRELS.replace("\n", "\r\n"),
        "\ufeff" + QRELS,
        "q1 0 d1 2\nq1 0 3 1\nq2 0 d2 1\nq3 0 d1 0\n",
        "q1\tQ0\td1\t2\n\nq1\tQ0\t3\t1\nq2\tQ0\td2\t1\n",
    ],
)
def test_judgements_have_a_header_or_not_and_three_columns_or_trecs_four(tmp_path: Path, qrels: str) -> None:
    read = collections.read(folder_with(tmp_path, qrels_tsv=qrels))
    assert read.relevant == {"q1": {"d1": 2, "3": 1}, "q2": {"d2": 1}}
    assert remarks(read)[1:] == ["queries without a relevant document, left out: 1"]


def test_packed_files_and_beirs_own_folder_of_judgements_are_read_the_same(tmp_path: Path) -> None:
    plain = collections.read(folder_with(tmp_path / "a" / "tiny"))
    packed = folder_with(
        tmp_path / "b" / "tiny", corpus_jsonl="", queries_jsonl="", qrels_tsv="", qrels__test_tsv=QRELS
    )
    (packed / "corpus.jsonl.gz").write_bytes(gzip.compress(CORPUS.encode()))
    (packed / "queries.jsonl.gz").write_bytes(gzip.compress(QUERIES.encode()))
    assert replace(collections.read(packed), remarks=()) == replace(plain, remarks=())


def test_another_part_has_its_own_judgements_and_maybe_its_own_queries(tmp_path: Path) -> None:
    folder = folder_with(
        tmp_path / "tiny",
        queries_train_jsonl='{"_id": "t1", "text": "trained?"}\n',
        qrels_train_tsv="t1\td2\t1\n",
        qrels__dev_tsv="q3\td1\t1\n",
    )
    train, dev = collections.read(folder, part="train"), collections.read(folder, part="dev")
    assert (train.name, train.queries, train.relevant) == ("tiny-train", {"t1": "trained?"}, {"t1": {"d2": 1}})
    assert (dev.name, dev.queries) == ("tiny-dev", {"q3": "none?"})


def test_nothing_is_dropped_without_a_word(tmp_path: Path) -> None:
    corpus = [
        CORPUS.strip(),
        "{broken",
        "[1]",
        '{"_id": "", "text": "x"}',
        '{"_id": true, "text": "x"}',
        '{"_id": "d9", "text": 5}',
        '{"_id": "d1", "text": "Again."}',
        '{"_id": "d4", "title": "Only a title", "text": " "}',
        '{"_id": "d5\\u0000", "text": "x"}',
        '{"_id": "' + "d" * 600 + '", "text": "x"}',
        "[" * 100_000,
    ]
    queries = [QUERIES.strip(), '{"text": "no id"}', '{"_id": "q1", "text": "again"}', '{"_id": "q5", "text": ""}']
    qrels = [QRELS.strip(), "q1\td1\t9", "q1\tgone\t1", "q7\td1\t1", "q2\td1", "q2\td1\thigh", "q2\td1\t1\t1\t1"]
    read = collections.read(
        folder_with(
            tmp_path,
            corpus_jsonl="\n".join(corpus),
            queries_jsonl="\n".join(queries),
            qrels_tsv="\n".join(qrels),
        )
    )
    assert [one.id for one in read.documents] == ["d1", "d2", "3", "d4"]
    assert read.relevant == {"q1": {"d1": 2, "3": 1, "gone": 1}, "q2": {"d2": 1}}
    assert [(remark.what, remark.count) for remark in read.remarks] == [
        ("documents of corpus.jsonl without a title, called '—'", 2),
        ("lines of corpus.jsonl that are no documents, left out", 8),
        ("ids given twice in corpus.jsonl, the first kept", 1),
        ("documents of corpus.jsonl without text", 1),
        ("lines of queries.jsonl that are no queries, left out", 1),
        ("ids given twice in queries.jsonl, the first kept", 1),
        ("queries of queries.jsonl without text, left out", 1),
        ("judgements given twice in qrels.tsv, the first kept", 1),
        ("judgements of qrels.tsv for documents that are not there, never found", 1),
        ("judgements of qrels.tsv for queries that are not there, left out", 1),
        ("lines of qrels.tsv that are no judgements, left out", 3),
        ("queries without a relevant document, left out", 1),
    ]
    assert remarks(read)[1] == (
        "lines of corpus.jsonl that are no documents, left out: 8 (line 4: not JSON: Expecting property name enclosed "
        "in double quotes at column 2; line 5: a record is a JSON object, this is list; line 6: '_id' is empty; …)"
    )


def test_a_first_line_that_is_no_header_is_not_taken_for_one(tmp_path: Path) -> None:
    read = collections.read(folder_with(tmp_path, qrels_tsv="q1\td1\nq1\td1\t1\n"))
    assert remarks(read)[1] == (
        "lines of qrels.tsv that are no judgements, left out: 1 (line 1: 2 columns, not query, document and grade)"
    )


@pytest.mark.parametrize(
    ("files", "kind", "message"),
    [
        ({"corpus_jsonl": ""}, NotFound, r"has no corpus\.jsonl"),
        ({"queries_jsonl": ""}, NotFound, r"has no queries_test\.jsonl or queries\.jsonl"),
        ({"qrels_tsv": ""}, NotFound, r"has no qrels\.tsv or qrels_test\.tsv or qrels/test\.tsv"),
        ({"corpus_jsonl": "\n\n"}, SourceError, r"there is no document in corpus\.jsonl"),
        ({"corpus_jsonl": b'{"_id": "\xff"}'}, SourceError, "is not UTF-8"),
        (
            {"qrels_tsv": "q1\td1\t0\n"},
            SourceError,
            r"no query of queries\.jsonl has a relevant document in qrels\.tsv",
        ),
        ({"qrels_tsv": b"\x00\x01\x02"}, SourceError, "no query of"),
        ({"corpus_jsonl": "", "corpus_jsonl_gz": b"\x1f\x8b\x08broken"}, SourceError, "damaged"),
        ({"corpus_jsonl": "", "corpus_jsonl_gz": gzip.compress(CORPUS.encode())[:-9]}, SourceError, "damaged"),
        ({"corpus_jsonl": "", "corpus_jsonl_gz": b"plain text"}, SourceError, "damaged"),
    ],
)
def test_a_folder_that_is_no_collection_is_answered_by_what_is_wrong(
    tmp_path: Path, files: dict[str, Any], kind: type[Exception], message: str
) -> None:
    packed = files.get("corpus_jsonl_gz")
    folder = folder_with(tmp_path, **{name: content for name, content in files.items() if content is not packed})
    if packed:
        (folder / "corpus.jsonl.gz").write_bytes(packed)
    with pytest.raises(kind, match=message):
        collections.read(folder)


def test_a_line_without_end_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.evaluate.lines._LONGEST", 50)
    with pytest.raises(SourceError, match=r"line 1 of .* has more than 50 bytes"):
        collections.read(folder_with(tmp_path, corpus_jsonl="x" * 51))


def test_a_remark_gives_a_terminal_nothing_to_obey(tmp_path: Path) -> None:
    read = collections.read(folder_with(tmp_path, qrels_tsv=f"{QRELS}\x1b[31mred\td1\t1\n{'q' * 200}\td1\t1\n"))
    assert remarks(read)[1] == (
        f"judgements of qrels.tsv for queries that are not there, left out: 2 (\ufffd[31mred; {'q' * 120}…)"
    )


@pytest.mark.parametrize("part", ["../train", "", "a/b", "a b"])
def test_a_part_is_a_word(tmp_path: Path, part: str) -> None:
    with pytest.raises(InvalidInput, match="is not a part's name"):
        collections.read(folder_with(tmp_path), part=part)


def test_no_folder_is_no_collection(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no folder"):
        collections.read(tmp_path / "nowhere")


def collection(queries: int = 20) -> Collection:
    names = [f"q{number}" for number in range(queries)]
    return Collection("made", [Reference("d", "D")], dict.fromkeys(names, "?"), {name: {"d": 1} for name in names})


def test_a_sample_is_drawn_by_its_seed_and_keeps_the_order() -> None:
    whole = collection()
    some = whole.sample(5, seed=1)
    assert list(some.queries) == [query for query in whole.queries if query in some.queries]
    assert len(some.queries) == 5
    assert some.queries.keys() == some.relevant.keys()
    assert some == whole.sample(5, seed=1)
    assert some != whole.sample(5, seed=2)
    assert whole.sample(99, seed=0) == whole
    with pytest.raises(InvalidInput, match="positive"):
        whole.sample(0, seed=0)


def test_collections_are_told_apart_by_all_that_figures_depend_on() -> None:
    whole = collection(3)
    assert whole.fingerprint == replace(whole, name="other").fingerprint
    others = [
        replace(whole, documents=[Reference("d", "E")]),
        replace(whole, documents=[Reference("d", "D", abstract="x")]),
        replace(whole, relevant={**whole.relevant, "q1": {"d": 2}}),
        replace(whole, queries={**whole.queries, "q1": "!"}),
        whole.sample(2, seed=0),
    ]
    assert len({whole.fingerprint, *(other.fingerprint for other in others)}) == 6


# Published figures

BASELINES = (
    "# bm25s 0.3, method lucene\n"
    "collection\tdocs\tqueries\tnDCG@10\tR@100\tMAP@100\n"
    "tiny\t3\t2\t0.5\t1.0\tunknown\n"
    "tiny\t3\t2\tnan\t1.0\t0.5\n"
    "tiny\t4\t2\t0.6\t1.0\t0.5\n"
    "# a comment\n"
)


def test_published_figures_are_found_above_the_folder_for_a_collection_of_this_size(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "data" / "retrieval" / "tiny")
    (tmp_path / "data" / "BASELINES.tsv").write_text(BASELINES)
    (found,) = baselines.find(folder, documents=3, queries=2)
    assert (found.name, found.metrics) == ("bm25s (published)", {"ndcg@10": 0.5, "recall@100": 1.0})
    assert baselines.find(folder, documents=3, queries=1) == ()
    assert baselines.find(tmp_path / "data", documents=3, queries=2) == ()


# Reports


def scores(*values: float) -> dict[str, dict[str, float]]:
    return {f"q{number}": dict.fromkeys(metrics.METRICS, value) for number, value in enumerate(values)}


def report(whole: float = 0.5, arm: float = 0.4) -> reports.Report:
    return reports.Report(
        "tiny <&>",
        3,
        2,
        (
            reports.row("hybrid", scores(whole, whole)),
            reports.row("vector alone", scores(arm, arm), settings={"reranker": "none"}, is_arm=True),
            reports.row("keyword alone", scores(0.1, 0.3), is_arm=True),
        ),
        settings={"search.rrf_k": 20, "embedder": "granite"},
        published=(baselines.Published("bm25s (published)", {"ndcg@10": 0.3}),),
        remarks=(Remark("lines left out", 2, ("line 3", "line 4")),),
        fingerprint="f",
    )


def test_a_report_has_the_documented_shape() -> None:
    told = report().as_dict(with_scores=True)
    assert told["metrics"] == dict.fromkeys(metrics.METRICS, 0.5)
    assert told["intervals"]["ndcg@10"] == [0.5, 0.5]
    assert list(told["arms"]) == ["hybrid", "vector alone", "keyword alone"]
    assert told["arms"]["keyword alone"]["map"] == 0.2
    assert told["arm_intervals"]["keyword alone"]["map"] == [0.1, 0.3]
    assert told["published"] == {"bm25s (published)": {"ndcg@10": 0.3}}
    assert (told["best_arm"], told["holds"]) == ("vector alone", True)
    assert told["remarks"] == ["lines left out: 2 (line 3; line 4)"]
    assert told["scores"]["keyword alone"]["q1"]["map"] == 0.3
    assert "scores" not in report().as_dict()


@pytest.mark.parametrize(("whole", "holds"), [(0.5, True), (0.3981, True), (0.3979, False)])
def test_the_whole_may_fall_behind_its_better_arm_by_no_more_than_two_thousandths(whole: float, holds: bool) -> None:
    made = report(whole)
    assert made.holds is holds
    assert ("no worse than by 0.002: holds." in made.as_markdown()) is holds
    assert ("no worse than by 0.002: FAILS." in made.as_markdown()) is not holds


def test_markdown_says_what_was_measured_what_was_read_and_what_was_set() -> None:
    lines = report().as_markdown().splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len({len(line) for line in table}) == 1
    assert table[2].startswith("| hybrid            | 0.5000 [0.500 0.500] |")
    assert table[-1].startswith("| bm25s (published) | 0.3000               |    ")
    assert "*(published)*: read from BASELINES.tsv, not measured here." in lines
    assert lines[-1] == "Settings: `search.rrf_k = 20`; seed 0."


def test_a_report_without_arms_says_nothing_of_them() -> None:
    made = reports.Report("tiny", 3, 2, (reports.row("hybrid", scores(0.5)),))
    assert (made.holds, made.best_arm) == (None, None)
    assert "arm" not in made.as_markdown()


def test_pictures_are_well_formed_whatever_they_name() -> None:
    drawn = ET.fromstring(report().as_svg())  # noqa: S314
    texts = [element.text for element in drawn.iter() if element.tag.endswith("text")]
    assert "tiny <&>: ndcg@10" in texts
    assert len([element for element in drawn.iter() if element.tag.endswith("path")]) == 3
    bins = [plots.Bin(0.1, 0.0, 90), plots.Bin(0.9, 1.0, 10)]
    dots = [one for one in ET.fromstring(plots.reliability(bins)).iter() if one.tag.endswith("circle")]  # noqa: S314
    assert [(dot.get("cx"), dot.get("cy"), dot.get("r")) for dot in dots] == [
        ("90.0", "340.0", "12.0"),
        ("330.0", "40.0", "5.3"),
    ]
    ET.fromstring(plots.reliability([]))  # noqa: S314


def test_curves_are_drawn_where_their_points_are_and_named_below() -> None:
    drawn = plots.lines("risk", "share <all>", [plots.Line("a & b", ((0.0, 0.0), (1.0, 0.5))), plots.Line("c", ())])
    parts = list(ET.fromstring(drawn).iter())  # noqa: S314
    assert [one.get("points") for one in parts if one.tag.endswith("polyline")] == ["60.0,340.0 360.0,190.0", ""]
    assert {"risk", "share <all>", "a & b", "c"} <= {one.text for one in parts if one.tag.endswith("text")}


# Comparing


def scored(name: str, *values: float, **changed: Any) -> Scored:
    return replace(Scored(name, "tiny", "f", scores(*values)), **changed)


def test_a_saved_report_compares_as_the_one_that_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report().as_dict(with_scores=True)))
    assert reports.load(path) == replace(report().scored(report().rows[0]), name=str(path))


def saved(score: Any) -> str:
    told = {"collection": "c", "fingerprint": "f", "scores": {"hybrid": {"q": dict.fromkeys(metrics.METRICS, score)}}}
    return json.dumps(told)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"scores": {}}', "[" * 100_000, "\x00", saved(float("nan")), saved("1"), saved(2), saved([])],
)
def test_what_is_no_report_is_not_taken_for_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="is no report"):
        reports.load(path)


def test_the_verdict_is_a_sentence_and_its_direction_the_true_one() -> None:
    high, low = scored("high", *[0.6, 0.7] * 10), scored("low", *[0.5, 0.6] * 10)
    assert comparing.compare(high, low).verdict == (
        "A is better than B by 0.1000 ndcg@10 (95 % 0.1000 … 0.1000), p = 0.0001."
    )
    assert comparing.compare(low, high).verdict == (
        "B is better than A by 0.1000 ndcg@10 (95 % 0.1000 … 0.1000), p = 0.0001."
    )
    assert comparing.compare(high, high).verdict == (
        "A and B cannot be told apart: A − B is 0.0000 ndcg@10 (95 % 0.0000 … 0.0000), p = 1.0000."
    )


def test_a_comparison_counts_queries_and_tells_every_measure() -> None:
    found = comparing.compare(scored("a", 0.5, 0.5, 0.5), scored("b", 0.4, 0.6, 0.5), seed=3)
    told = found.as_dict()
    assert (told["a"], told["b"], told["queries"], told["seed"]) == ("a", "b", 3, 3)
    assert list(told["metrics"]) == list(metrics.METRICS)
    counts = {key: told["metrics"]["map"][key] for key in ("a_better", "b_better", "equal", "difference")}
    assert counts == {"a_better": 1, "b_better": 1, "equal": 1, "difference": 0.0}
    assert "| map        | 0.5000 | 0.5000 | +0.0000 |" in found.as_markdown()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"collection": "other"}, "a is of 'tiny', b of 'other'"),
        ({"fingerprint": "g"}, "not asked the same queries"),
        ({"scores": scores(0.5)}, "2 and 1 queries"),
    ],
)
def test_different_collections_or_queries_cannot_be_compared(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        comparing.compare(scored("a", 0.5, 0.5), scored("b", 0.5, 0.5, **changed))
