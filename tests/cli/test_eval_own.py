"""`carrel eval` in a library, and `--calibrate`."""

from __future__ import annotations

import json
from pathlib import Path

from carrel import Library
from carrel.testing import HashedWords
from carrel.trials import Options, calibrating
from tests.cli.conftest import Carrel
from tests.own_papers import own_papers, put_whole


def _collection(folder: Path) -> Path:
    folder.mkdir()
    papers = own_papers()
    corpus = [{"_id": one.reference.id, "title": one.reference.title, "text": one.text[:500]} for one in papers]
    queries = [{"_id": f"q{one.reference.id}", "text": f"What of {one.reference.title.lower()}?"} for one in papers]
    for name, records in {"corpus": corpus, "queries": queries}.items():
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    lines = [f"q{one.reference.id}\t{one.reference.id}\t1\n" for one in papers]
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines), encoding="utf-8")
    return folder


def test_a_collection_calibrates_too(carrel: Carrel, tmp_path: Path) -> None:
    folder = _collection(tmp_path / "small")
    told = carrel("eval", folder, "--calibrate", "--json").json
    assert (told["collection"], told["queries"]) == ("small", 12)
    assert told["auroc"] > 0.8
    assert told["doubt"].startswith("12 questions are too few")
    with_options = calibrating.calibrate(folder, settings={"embedder": "hashed-words"}, options=Options(queries=5))
    assert len(with_options.calibration.trials) == 5


def test_the_command_measures_the_library_it_stands_in(carrel: Carrel, tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=HashedWords()) as made:
        put_whole(made, *own_papers())
    told = carrel("eval", "--queries", "12", "--json").json
    assert (told["queries"], told["documents"]) == (12, 12)
    assert carrel("eval", "--queries", "12", "--out", "report").code == 0
    assert json.loads((tmp_path / "report" / "report.json").read_text())["scores"]["hybrid"]
    assert "questions of its own" in (tmp_path / "report" / "report.md").read_text()
    config = (tmp_path / ".carrel" / "config.toml").read_bytes()
    refused = carrel("eval", "--calibrate", "--write", "--queries", "12")
    assert (refused.code, (tmp_path / ".carrel" / "config.toml").read_bytes()) == (1, config)
    assert "nothing was written: 12 questions are too few" in refused.err
    assert "Brier score" in refused.out


def test_options_that_do_not_go_together_are_told(carrel: Carrel, tmp_path: Path) -> None:
    assert "--write has no part without --calibrate" in carrel("eval", "--write").err
    assert "need a test collection" in carrel("eval", "--work", tmp_path / "kept").err
    nowhere = carrel("eval", "--calibrate", "--write", _collection(tmp_path / "small"))
    assert (nowhere.code, "carrel init" in nowhere.err) == (2, True)
