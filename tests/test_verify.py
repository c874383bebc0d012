"""What was saved is held against the library as it is now; what the stores hold, against each other."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from carrel.answer.proving import Prover
from carrel.bundles import files, seal
from carrel.errors import IndexNotFound, InvalidInput
from carrel.testing import HashedWords
from carrel.types import Filter, Flag, Notice, Standing, Statement
from carrel.verifying import Fate, Verified
from tests.saved_answers import BASALT, GRANITE, RECORDS, answer, opened, put_records, record

QUOTE = "It melts at about 1,215 degrees, which surprised nobody at all in the laboratory."
DARK = "Basalt is dark and forms from lava."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with opened(tmp_path / "papers") as library:
        yield library


@pytest.fixture
def bundle(library: Library, tmp_path: Path) -> Path:
    path = tmp_path / "out.json"
    library.save(answer(library, ("granite", QUOTE), ("basalt", DARK)), path)
    return path


def fates(verified: Verified) -> list[Fate]:
    return [quote.status for one in verified.answers for quote in one.citations]


def problems(verified: Verified) -> list[tuple[str, str]]:
    return [(problem.id, problem.problem) for problem in verified.problems]


def test_what_has_not_changed_stands(library: Library, bundle: Path) -> None:
    verified = library.verify(bundle)
    assert verified.ok
    assert fates(verified) == [Fate.UNCHANGED, Fate.UNCHANGED]
    assert verified.checked == {"answers": 1, "quotes": 2, "papers": 2}
    assert verified.answers[0].notes == ()
    assert verified.as_dict()["status"] == "ok"


def test_a_quote_in_a_text_that_changed_elsewhere_stands(library: Library, bundle: Path) -> None:
    put_records(library, {**RECORDS[0], "abstract": f"{GRANITE} So be it."}, *RECORDS[1:])
    verified = library.verify(bundle)
    assert (verified.ok, fates(verified)) == (True, [Fate.TEXT_CHANGED, Fate.UNCHANGED])
    assert "the text of granite/abstract has changed since" in verified.answers[0].notes


def test_a_quote_that_moved_stands_and_is_told_where(library: Library, bundle: Path) -> None:
    put_records(library, {**RECORDS[0], "abstract": f"Well, now. {GRANITE}"}, *RECORDS[1:])
    verified = library.verify(bundle)
    assert (verified.ok, fates(verified)) == (True, [Fate.MOVED, Fate.UNCHANGED])
    (moved, _) = verified.answers[0].citations
    assert moved.start is not None
    assert library.text("granite/abstract")[moved.start : moved.end] == QUOTE
    assert f"[1] granite/abstract stands at characters {moved.start}–{moved.end} now" in verified.answers[0].notes


@pytest.mark.parametrize(("was", "now"), [("1,215", "1,216"), ("surprised nobody", "surprised everybody")])
def test_a_quote_whose_words_changed_is_gone(library: Library, bundle: Path, was: str, now: str) -> None:
    put_records(library, {**RECORDS[0], "abstract": GRANITE.replace(was, now)}, *RECORDS[1:])
    verified = library.verify(bundle)
    assert fates(verified) == [Fate.QUOTE_GONE, Fate.UNCHANGED]
    assert ("[1] granite/abstract", "the quote is no longer in the text") in problems(verified)


def test_a_paper_that_left_is_told(library: Library, bundle: Path) -> None:
    library.remove("granite")
    verified = library.verify(bundle)
    assert fates(verified) == [Fate.PAPER_GONE, Fate.UNCHANGED]
    assert problems(verified)[0] == ("[1] granite/abstract", "the paper's text is no longer in the library")


def tampered(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """A bundle as somebody writes it who knows how it is sealed."""
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps({**content, "sha256": seal(content)}), encoding="utf-8")
    assert files.read(path).is_sealed


def with_text(content: dict[str, Any], was: str, now: str) -> None:
    content["answer"] = content["answer"].replace(was, now)
    content["statements"][0]["text"] = content["statements"][0]["text"].replace(was, now)


def with_quote(content: dict[str, Any], was: str, now: str) -> None:
    with_text(content, was, now)
    content["citations"][0]["quote"] = content["citations"][0]["quote"].replace(was, now)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda c: c.update(answer="Granite is soft. [1]"), "the answer is not what its statements say"),
        (lambda c: c.update(answer=c["answer"].replace("[2]", "[1]")), "the answer is not what its statements say"),
        (lambda c: c.update(answer=f"{c['answer']} And so on."), "the answer is not what its statements say"),
        (lambda c: c.update(has_insufficient_evidence=True), "the answer is not what its statements say"),
        (lambda c: with_text(c, "1,215", "9,999"), "none of its quotes says so"),
        (lambda c: with_text(c, "surprised nobody", "surprised everybody"), "none of its quotes says so"),
        (lambda c: with_quote(c, "1,215", "9,999"), "the text is unchanged, but the quote does not stand where"),
        (lambda c: c["citations"][0].update(start=3, end=3 + len(QUOTE)), "does not stand where the answer says"),
        (lambda c: c["citations"][0].update(start=-5), "does not stand where the answer says"),
        (lambda c: c["citations"][0].update(end=10**30), "does not stand where the answer says"),
        (lambda c: c["citations"].pop(), "it cites [2], which is not there"),
        (lambda c: c["citations"][1].update(id=1), "two citations have one number"),
        (lambda c: c["references"].pop(), "the file does not say what the paper is"),
        (lambda c: c["documents"].pop(), "the file does not say what the paper is"),
        (lambda c: c["statements"][0].update(citations=[]), "none of its quotes says so"),
        (lambda c: c["citations"][0].update(address="basalt/abstract"), "the quote is said to be of 'granite'"),
    ],
)
def test_an_answer_that_somebody_changed_is_damaged(
    library: Library, bundle: Path, change: Callable[[dict[str, Any]], object], problem: str
) -> None:
    tampered(bundle, change)
    verified = library.verify(bundle)
    assert not verified.ok
    assert any(problem in told for _, told in problems(verified)), problems(verified)


def test_a_statement_cannot_be_a_part_of_its_quote_that_says_the_opposite(library: Library, tmp_path: Path) -> None:
    quote = "It does not float on water, whatever older handbooks may claim."
    path = tmp_path / "out.json"
    library.save(answer(library, ("basalt", quote)), path)
    tampered(path, lambda content: with_text(content, quote, "float on water"))
    assert not library.verify(path).ok


def test_an_edit_that_does_not_mend_the_seal_is_seen(library: Library, bundle: Path) -> None:
    bundle.write_text(bundle.read_text(encoding="utf-8").replace("How hard is it?", "How soft is it?"))
    assert ("sha256", "the file was changed after it was saved") in problems(library.verify(bundle))


@pytest.mark.parametrize("kind", [".md", ".html"])
def test_a_page_that_shows_something_else_than_its_data_is_damaged(library: Library, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"out{kind}"
    library.save(answer(library, ("granite", QUOTE)), path)
    assert library.verify(path).ok
    path.write_text(path.read_text(encoding="utf-8").replace("1,215", "9,215", 1), encoding="utf-8")
    assert problems(library.verify(path)) == [("text", "what the file shows is not what its data say")]


def test_what_another_version_wrote_is_not_compared_with_what_this_one_would_show(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.md"
    library.save(answer(library, ("granite", QUOTE)), path)
    path.write_text(path.read_text(encoding="utf-8").replace("## Sources", "## The sources"), encoding="utf-8")
    monkeypatch.setattr("carrel.release.VERSION", "99.0")
    verified = library.verify(path)
    assert verified.ok
    assert any("was not compared with its data" in note for note in verified.answers[0].notes)


def test_what_a_generator_said_in_other_words_stands_and_what_was_made_of_it_does_not(tmp_path: Path) -> None:
    said, path = "Basalt is dark, and it forms from lava.", tmp_path / "out.json"
    with opened(tmp_path / "papers", f"{said} [1]\n", **{"answer.threshold": 0.0}) as library:
        whole = library.ask("What is basalt?", where=Filter(paper_ids=frozenset({"basalt"})))
        assert ([one.text for one in whole.statements], whole.citations[0].quote) == ([said], DARK)
        library.save(whole, path)
        assert library.verify(path).ok
        tampered(path, lambda content: with_text(content, "dark", "bright"))
        assert ("statement 1", "none of its quotes says so") in problems(library.verify(path))


def test_only_what_was_said_in_other_words_is_proved_again(
    library: Library, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    prove = Prover.prove

    def spied(self: Prover, said: Any) -> Any:
        asked.append(said.text)
        return prove(self, said)

    monkeypatch.setattr(Prover, "prove", spied)
    assert library.verify(bundle).ok
    assert asked == []
    tampered(bundle, lambda content: with_text(content, "1,215", "2,000"))
    assert not library.verify(bundle).ok
    assert set(asked) == {QUOTE.replace("1,215", "2,000")}


def test_a_reference_that_is_another_in_the_library_is_told(library: Library, bundle: Path) -> None:
    tampered(bundle, lambda content: content["references"][0].update(title="On marble", doi=""))
    verified = library.verify(bundle)
    assert verified.answers[0].notes == (
        "the title of granite is another in the library now",
        "the doi of granite is another in the library now",
    )


def test_a_retraction_since_is_told(library: Library, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flag = Flag(Notice.RETRACTION, "Retraction Watch, as of 2026-11-01", "2026-10-01", "made up")
    known = {"granite": Standing("", (flag,))}
    monkeypatch.setattr(library, "standing", lambda paper_id: known.get(paper_id, Standing()))
    verified = library.verify(bundle)
    assert verified.ok
    assert verified.answers[0].notes == (
        "of granite since: Retraction, 2026-10-01: made up (Retraction Watch, as of 2026-11-01)",
    )


def test_another_library_and_another_model_are_told(tmp_path: Path, bundle: Path) -> None:
    embedder = HashedWords()
    embedder.name = "other-words"
    with Library.init(tmp_path / "elsewhere", embedder=embedder) as other:
        put_records(other, *RECORDS)
        verified = other.verify(bundle)
    assert verified.ok
    assert verified.answers[0].notes == (
        "it was saved from the library 'papers'; this one is 'elsewhere'",
        f"the embedder was {HashedWords().name!r} and is 'other-words' now",
    )


def test_several_answers_are_one_result_and_a_broken_one_is_named_before_any_is_checked(
    library: Library, bundle: Path, tmp_path: Path
) -> None:
    refusal = tmp_path / "refusal.md"
    library.save(answer(library), refusal)
    assert library.verify(bundle, refusal).checked == {"answers": 2, "quotes": 2, "papers": 2}
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(InvalidInput, match=r"broken\.json"):
        library.verify(bundle, tmp_path / "broken.json")


def test_a_generated_statement_over_several_quotes_needs_only_one_that_carries_it(
    library: Library, tmp_path: Path
) -> None:
    whole = answer(library, ("granite", QUOTE), ("basalt", DARK))
    said = Statement(QUOTE, (2, 1))
    path = tmp_path / "out.json"
    library.save(replace(whole, statements=(said,), answer=f"{QUOTE} [2] [1]"), path)
    assert library.verify(path).ok


# The stores


def test_stores_that_agree_are_told_with_what_was_looked_at(library: Library) -> None:
    verified = library.verify()
    assert verified.ok
    assert verified.problems == ()
    assert {name: verified.checked[name] for name in ("papers", "texts", "chunks", "keywords")} == {
        "papers": 3,
        "texts": 3,
        "chunks": 6,
        "keywords": 3,
    }


def test_an_empty_library_is_well_and_one_that_was_never_indexed_is_told(tmp_path: Path) -> None:
    with Library.init(tmp_path / "papers", embedder=HashedWords()) as library:
        assert library.verify().ok
        library.layout.refs.write_text(json.dumps(record("granite", GRANITE)) + "\n")
        with pytest.raises(IndexNotFound):
            library.verify()


def execute(library: Library, sql: str) -> None:
    with closing(sqlite3.connect(library.layout.database)) as connection:
        connection.execute(sql)
        connection.commit()


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("UPDATE chunks SET text = 'x' || text WHERE address = 'granite/abstract'", "not what stands at its offsets"),
        ("UPDATE texts SET text = 'nothing' WHERE paper_id = 'granite'", "not what stands at its offsets"),
        ("UPDATE papers SET state = 'pending' WHERE id = 'granite'", "not, or not wholly, in an index"),
        ("DELETE FROM papers WHERE id = 'granite'", "lost its papers"),
        ("DELETE FROM chunks WHERE address = 'granite/note'", "an index or the catalog has it"),
    ],
)
def test_a_catalog_that_does_not_agree_is_damaged(library: Library, damage: str, problem: str) -> None:
    execute(library, damage)
    verified = library.verify()
    assert any(problem in told for _, told in problems(verified)), problems(verified)
    assert verified.hint


def test_what_is_lost_from_an_index_is_named(library: Library) -> None:
    library.stores.keywords.delete(["granite"])
    assert ("granite", "it is not, or not wholly, in an index") in problems(library.verify())
    library.build_index()
    assert library.verify().ok
    library.stores.vectors.delete(["basalt"])
    library.stores.graph.delete(["basalt"])
    found = library.verify()
    assert ("basalt", "it is not, or not wholly, in an index") in problems(found)
    assert any(problem.store == "graph" for problem in found.problems)


def test_a_vector_that_is_none_is_named(library: Library) -> None:
    chunks = library.stores.catalog.chunks_of(["granite"])
    vectors = library.embedder.embed_passages([chunk.embedded_text for chunk in chunks])
    library.close()
    stored = [path for path in (library.layout.cache / "vectors").rglob("*") if path.is_file()]
    row = vectors[0].tobytes()
    (path,) = [path for path in stored if row in path.read_bytes()]
    path.write_bytes(path.read_bytes().replace(row, b"\x00" * len(row)))
    assert any(told == "the vector is no unit vector" for _, told in problems(library.verify()))


def test_a_vector_that_is_of_another_text_is_named(library: Library) -> None:
    """As in a store that was not in use while the text changed: the address is the same."""
    granite, *others = library.stores.catalog.chunks_of(["granite"])
    vectors = library.embedder.embed_passages(["What it said before.", *(one.embedded_text for one in others)])
    library.stores.vectors.put([granite, *others], vectors)
    verified = library.verify()
    assert problems(verified) == [(granite.address, "the vector is not that of its text")]
    assert "--force" in verified.hint
    library.build_index(force=True)
    assert library.verify().ok


def test_what_an_index_has_too_much_of_a_paper_goes_with_the_next_build(library: Library) -> None:
    chunks = library.stores.catalog.chunks_of(["granite"])
    more = replace(chunks[0], address="granite/ch9/s9/p9")
    vectors = library.embedder.embed_passages([chunk.embedded_text for chunk in (*chunks, more)])
    library.stores.vectors.put([*chunks, more], vectors)
    assert ("granite", "an index or the catalog has it, but the catalog or refs.jsonl has not") in problems(
        library.verify()
    )
    library.build_index()
    assert library.verify().ok


def test_a_file_that_is_left_over_from_before_a_move_is_not_looked_at(library: Library) -> None:
    elsewhere = {"graph": "postgresql://somebody@127.0.0.1:9/nowhere"}
    with Library.open(library.layout.root, overrides=elsewhere) as moved:
        assert moved._databases == {"catalog": library.layout.database}


def test_a_file_that_is_no_database_any_longer_is_damage_and_not_an_error(library: Library) -> None:
    library.close()
    library.layout.database.write_bytes(b"not a database at all, but long enough to be looked at" * 100)
    verified = library.verify()
    assert [problem.store for problem in verified.problems] == ["catalog"]
    assert "refs.jsonl" in verified.hint


def test_refs_that_changed_since_are_told(library: Library) -> None:
    lines = [json.dumps({**RECORDS[0], "title": "Another"}), *map(json.dumps, RECORDS[1:])]
    library.layout.refs.write_text("\n".join(lines) + "\n")
    (problem,) = library.verify().problems
    assert (problem.store, problem.id) == ("catalog", "granite")


def test_verifying_waits_for_who_writes_and_works_where_nobody_can(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.asking.is_writable", lambda _: False)
    library.layout.lock.unlink(missing_ok=True)
    assert library.verify().ok
    assert not library.layout.lock.exists()
    assert BASALT in library.text("basalt/abstract")
