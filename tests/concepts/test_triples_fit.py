"""How far a sentence's words are believed: learned from what people marked, and the same every time."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from benchmarks import fit_triples, scierc_triples
from hypothesis import given
from hypothesis import strategies as st

from carrel.concepts.triples import LEAST_CONFIDENCE, belief
from carrel.concepts.triples.candidates import Candidate, candidates
from carrel.concepts.triples.sentence import read
from carrel.types import Predicate

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
SIGNS = sorted(json.loads(belief.WEIGHTS.read_text(encoding="utf-8"))["weights"])


def found(text: str) -> list[Candidate]:
    sentence = read(text, {})
    return list(candidates(sentence, {})) if sentence else []


@given(st.sets(st.sampled_from(SIGNS)))
def test_what_is_believed_is_a_probability(signs: set[str]) -> None:
    assert 0 < belief.chance(sorted(signs)) < 1


def test_what_was_never_met_counts_nothing() -> None:
    assert belief.chance(["cue of nobody"]) == belief.chance([])
    assert LEAST_CONFIDENCE <= belief.FLOOR < 1


def test_a_plain_statement_is_believed_more_than_the_same_words_far_apart() -> None:
    (near,) = found("The graph parser uses beam search.")
    far = next(one for one in found("The graph parser, as we found in many of the trials, uses them with beam search."))
    assert (near.subject, near.object) == (far.subject, far.object) == ("graph parser", "beam search")
    assert near.plain
    assert not far.plain
    assert belief.chance(near.signs) > belief.FLOOR > belief.chance(far.signs)


def test_every_sign_of_the_package_is_one_that_a_sentence_can_give() -> None:
    assert {sign.split()[0] for sign in SIGNS} <= {"between", "cue", "right", "says", *Predicate}


def write(folder: Path, sentences: Iterable[tuple[str, str, str]]) -> Path:
    """A training part in SciERC's format: each sentence an abstract, with who is used for what."""
    part = folder / "graph" / "scierc"
    part.mkdir(parents=True)
    relations, entities = [], []
    for sentence, used, purpose in sentences:
        marked = [{"text": used}, {"text": purpose}]
        entities.append(json.dumps({"sentences": [{"tokens": sentence.split(), "entities": marked}]}))
        triple = {"head": used, "relation": "USED-FOR", "tail": purpose}
        relations.append(json.dumps({"sentence": sentence, "triples": [triple]}))
    for name, lines in (("train.jsonl.gz", relations), ("train_entities.jsonl.gz", entities)):
        with gzip.open(part / name, "wt", encoding="utf-8") as file:
            file.write("\n".join(lines))
    return folder


def tiny(folder: Path) -> Path:
    names = ["graph", "word", "noun", "verb", "tree", "speech", "image", "scene", "phrase", "text"]
    right = [(f"We train a {name} parser for {name} alignment .", f"{name} parser", f"{name} alignment")
             for name in names]  # fmt: skip
    wrong = [(f"The {name} chunker like the {name} grammar is large .", "nothing", "nobody") for name in names]
    return write(folder, [*right, *wrong])


def test_the_script_writes_the_same_weights_every_time_and_they_tell_right_from_wrong(tmp_path: Path) -> None:
    data = tiny(tmp_path / "data")
    written = [tmp_path / name for name in ("first.json", "second.json")]
    for path in written:
        command = [sys.executable, "-m", "benchmarks.fit_triples", str(data), "--write", str(path)]
        shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        assert "20 abstracts, 20 relations, 20 candidates, 10 of them right" in shown
    assert written[0].read_bytes() == written[1].read_bytes()
    learned = json.loads(written[0].read_text(encoding="utf-8"))
    assert learned["weights"]["cue for"] > 0 > learned["weights"]["cue like"]
    assert learned["floor"] >= LEAST_CONFIDENCE


def test_signs_that_few_candidates_have_are_left_out() -> None:
    stated = scierc_triples.Stated("A", Predicate.USES, "B")
    examples = [
        fit_triples.Example(number, stated, ("cue x", "rare") if number < 5 else ("cue x",), number < 9, number < 9)
        for number in range(12)
    ]
    model = fit_triples.fit(examples)
    assert model.signs == ("cue x",)
    assert model.chances(examples) == pytest.approx(9 / 12, abs=0.01)


def test_a_floor_is_where_enough_of_what_is_kept_is_right() -> None:
    import numpy as np

    examples = [
        fit_triples.Example(number, scierc_triples.Stated(f"a{number}", Predicate.USES, "b"), (), right, right)
        for number, right in enumerate([True] * 9 + [False] * 3)
    ]
    chances = np.array([0.9] * 8 + [0.62, 0.61, 0.52, 0.51])
    assert fit_triples.floor_of(examples, chances) == 0.55
    assert fit_triples.precision(fit_triples.kept(examples, chances, 0.55)) == pytest.approx(0.9)
    assert fit_triples.floor_of(examples, chances / 10) == fit_triples.FLOORS[-1]


def test_the_package_has_the_weights_that_the_training_part_gives() -> None:
    if not (DATA / "graph" / "scierc").exists():
        pytest.skip("the shared data (scierc) is not here")
    model = fit_triples.fit(list(fit_triples.examples(scierc_triples.abstracts(DATA, "train"))))
    assert belief.WEIGHTS.read_text(encoding="utf-8") == fit_triples.written(model, belief.FLOOR)
