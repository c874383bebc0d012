"""concepts.jsonl and edges.jsonl: bip's formats, of which nothing is ever lost."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel import curation, files
from carrel.curation import concepts, edges, sheets
from carrel.curation.records import CuratedConcept, Edge, Node
from carrel.errors import CarrelError, InvalidInput, NotFound, SourceError, StorageFull
from carrel.types import Concept

PAPERS = {"smith2020", "lee2021", "mcmc"}
HOSTILE = [
    'O\'Neil "quoted" \\back',
    "'); DROP TABLE concepts; --",
    "<script>alert(1)</script> & co",
    "x" * 10_000,
    "👩‍🔬 emoji 🧪",
    "مفهوم عربي \u202e reversed",
    "a\x00b\x1b[31mred\x7f",
    "\u2028line\u2029",
]
NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30)


def papers(ids: Collection[str]) -> Collection[str]:
    return PAPERS & set(ids)


def nobody(_name: str) -> None:
    return None


def write(folder: Path, name: str, *lines: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines))
    return path


def concept(folder: Path, concept_id: str, name: str, *aliases: str, description: str = "") -> None:
    concepts.add(folder, CuratedConcept(concept_id, name, aliases, description))


def join(folder: Path, source: str, target: str, type_: str = "extends", summary: str = "Because.") -> edges.Kept:
    return edges.add(folder, Edge(source, target, type_, summary), papers)


def is_no_conflict(content: bytes) -> bool:
    return not any(line.startswith((b"<<<<<<<", b"=======", b">>>>>>>")) for line in content.split(b"\n"))


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# Formats


def test_a_concept_is_written_as_bip_writes_it(tmp_path: Path) -> None:
    concept(tmp_path, "k-means", "k-means", "Lloyd's <algorithm>", description="Clusters & means\nin two lines")
    concept(tmp_path, "bare", "Öl")
    assert (tmp_path / "concepts.jsonl").read_bytes() == (
        b'{"id":"k-means","name":"k-means","aliases":["Lloyd\'s \\u003calgorithm\\u003e"],'
        b'"description":"Clusters \\u0026 means\\nin two lines"}\n'
        b'{"id":"bare","name":"\xc3\x96l"}\n'
    )


def test_an_edge_is_written_as_bip_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edges, "now", lambda: "2026-01-02T03:04:05Z")
    assert join(tmp_path, "smith2020", "lee2021", summary="It goes on.").action == "added"
    assert (tmp_path / "edges.jsonl").read_bytes() == (
        b'{"source_id":"smith2020","target_id":"lee2021","relationship_type":"extends","summary":"It goes on.",'
        b'"created_at":"2026-01-02T03:04:05Z"}\n'
    )


def test_a_date_is_one_that_go_reads(tmp_path: Path) -> None:
    created = join(tmp_path, "smith2020", "lee2021").edge.created_at
    assert len(created) == len("2026-01-02T03:04:05Z")
    assert (created[4], created[10], created[-1]) == ("-", "T", "Z")


def test_the_same_edge_again_gets_the_new_summary_and_keeps_its_date_and_unknown_fields(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "edges.jsonl",
        '{ "note" : {"a": 1e5,  "b": "\\u00e9"}, "source_id": "smith2020", "target_id": "lee2021", '
        '"relationship_type": "extends", "summary": "Old.", "created_at": "2025-01-01T00:00:00Z", "n": 1.50 }',
    )
    kept = join(tmp_path, "smith2020", "lee2021", summary="New.")
    assert (kept.action, kept.edge.created_at) == ("updated", "2025-01-01T00:00:00Z")
    assert path.read_text() == (
        '{"note":{"a": 1e5,  "b": "\\u00e9"},"source_id":"smith2020","target_id":"lee2021",'
        '"relationship_type":"extends","summary":"New.","created_at":"2025-01-01T00:00:00Z","n":1.50}\n'
    )


def test_lines_that_are_not_changed_stay_byte_for_byte_whatever_they_are(tmp_path: Path) -> None:
    others = [
        b'\xef\xbb\xbf{"source_id": "mcmc", "target_id": "lee2021", "relationship_type": "cites", "summary": "S"}\r',
        b"",
        b"\xff\xfe not UTF-8",
        b'{"source_id": "half',
        b'["a list"]',
        b'  {"source_id":"a","target_id":"b"}  ',
    ]
    path = write(tmp_path, "edges.jsonl", *others)
    before = path.read_bytes()
    join(tmp_path, "smith2020", "lee2021")
    assert path.read_bytes().startswith(before)
    join(tmp_path, "mcmc", "lee2021", "cites", "T")
    first, *rest = path.read_bytes().split(b"\n")
    assert first == b'{"source_id":"mcmc","target_id":"lee2021","relationship_type":"cites","summary":"T"}\r'
    assert rest[:5] == others[1:]


def test_a_file_without_a_last_line_end_gets_one_before_a_new_line(tmp_path: Path) -> None:
    (tmp_path / "concepts.jsonl").write_bytes(b'{"id":"a","name":"A"}')
    concept(tmp_path, "b", "B")
    assert (tmp_path / "concepts.jsonl").read_bytes() == b'{"id":"a","name":"A"}\n{"id":"b","name":"B"}\n'


def test_bad_lines_are_named_with_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, "concepts.jsonl", "{", '{"id": "a"}', '{"id": "b", "name": "B"}')
    write(tmp_path, "edges.jsonl", "", '{"source_id": "a", "target_id": 1, "relationship_type": " "}', "NaN")
    curated = curation.read(tmp_path)
    assert [(problem.source, problem.reason) for problem in curated.problems] == [
        ("concepts.jsonl, line 1", "no JSON object"),
        ("concepts.jsonl, line 2", "it has no name"),
        ("edges.jsonl, line 2", "it has no target_id, no relationship_type"),
        ("edges.jsonl, line 3", "no JSON object"),
    ]
    assert [*curated.concepts] == ["b"]


def test_a_file_with_a_conflict_of_git_is_not_written_to(tmp_path: Path) -> None:
    path = write(tmp_path, "concepts.jsonl", "<<<<<<< HEAD", '{"id":"a","name":"A"}', "=======", ">>>>>>> other")
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match=r"git left a conflict in concepts\.jsonl, lines 1 to 4") as caught:
        concept(tmp_path, "b", "B")
    assert "delete the markers" in caught.value.hint
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_read_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "concepts.jsonl").mkdir()
    with pytest.raises(SourceError, match="cannot read"):
        curation.read(tmp_path)


@pytest.mark.parametrize("verb", ["add", "merge", "delete"])
def test_an_interrupted_write_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    concept(tmp_path, "a", "A")
    concept(tmp_path, "b", "B")
    join(tmp_path, "smith2020", "concept:a")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "flush", fail)
    with pytest.raises(StorageFull):
        if verb == "add":
            join(tmp_path, "lee2021", "concept:b")
        elif verb == "merge":
            concepts.merge(tmp_path, "a", "b", papers, nobody)
        else:
            concepts.delete(tmp_path, "a", papers, force=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_merge_that_ends_after_its_first_file_is_finished_by_the_same_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    concept(tmp_path, "a", "A")
    concept(tmp_path, "b", "B")
    join(tmp_path, "smith2020", "concept:a")

    def fail_on_concepts(path: Path, content: bytes) -> None:
        if path.name == "concepts.jsonl":
            raise KeyboardInterrupt
        files.write_atomically(path, content)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(sheets, "write_atomically", fail_on_concepts)
        concepts.merge(tmp_path, "a", "b", papers, nobody)
    concepts.merge(tmp_path, "a", "b", papers, nobody)
    curated = curation.read(tmp_path)
    assert [*curated.concepts] == ["b"]
    assert [edge.target for edge in curated.edges] == ["concept:b"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_data(tmp_path: Path, text: str) -> None:
    concept(tmp_path, "h", text, f"also {text}", description=text)
    join(tmp_path, "smith2020", "concept:h", text, text)
    curated = curation.read(tmp_path)
    kept = curated.concepts["h"]
    (edge,) = curated.edges
    clean = text.replace("\x00", "\ufffd").replace("\x1b", "\ufffd").replace("\x7f", "\ufffd")
    assert (kept.description, edge.summary) == (clean.strip(), clean.strip())
    assert (kept.name, edge.type) == (" ".join(clean.split()), " ".join(clean.split()))
    assert kept.aliases == (f"also {kept.name}",)
    assert not curated.problems


def test_a_description_may_have_lines_and_they_end_in_one_way(tmp_path: Path) -> None:
    concept(tmp_path, "a", "A\r\nB", description=" one\r\ntwo\n ")
    kept = curation.read(tmp_path).concepts["a"]
    assert (kept.name, kept.description) == ("A B", "one\ntwo")


def test_a_record_too_long_for_bip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="more than 1,000,000"):
        concept(tmp_path, "a", "A", description="x" * 1_000_000)
    assert not (tmp_path / "concepts.jsonl").exists()


@settings(max_examples=30)
@given(st.lists(st.tuples(NAMES, st.lists(NAMES, max_size=3), st.text(max_size=30)), max_size=5))
def test_what_was_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[tuple[str, list[str], str]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    kept = {}
    for number, (name, aliases, description) in enumerate(wanted):
        made = CuratedConcept(f"c{number}", name, tuple(aliases), description)
        kept[f"c{number}"] = concepts.add(folder, made).concept
    assert curation.read(folder).concepts == kept


@settings(max_examples=30)
@given(st.binary(max_size=200).filter(is_no_conflict), st.binary(max_size=200).filter(is_no_conflict))
def test_no_content_makes_reading_or_writing_fail_or_is_lost(
    tmp_path_factory: pytest.TempPathFactory, own: bytes, joined: bytes
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "concepts.jsonl").write_bytes(own)
    (folder / "edges.jsonl").write_bytes(joined)
    concept(folder, "new", "New")
    join(folder, "smith2020", "concept:new")
    assert (folder / "concepts.jsonl").read_bytes().startswith(own)
    assert (folder / "edges.jsonl").read_bytes().startswith(joined)
    assert curation.read(folder).concepts["new"].name == "New"


# Concepts


@pytest.mark.parametrize("wrong", ["Upper", "two words", "-x", "", "ä", "a/b", "concept:", "a\nb"])
def test_an_id_that_is_none_is_refused_with_one_that_would_do(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(InvalidInput, match="is no concept's id") as caught:
        concept(tmp_path, wrong, "N")
    assert "small letters" in caught.value.hint


def test_ids_are_understood_with_and_without_their_prefix(tmp_path: Path) -> None:
    concept(tmp_path, "concept:cnn", "CNN")
    concept(tmp_path, "rnn", "RNN")
    join(tmp_path, "smith2020", "cnn", "introduces")
    join(tmp_path, "concept:rnn", "concept:cnn", "compared-to")
    curated = curation.read(tmp_path)
    assert [edge.key for edge in curated.edges] == [
        ("smith2020", "concept:cnn", "introduces"),
        ("concept:rnn", "concept:cnn", "compared-to"),
    ]
    assert curated.concept("concept:cnn") == curated.concept("cnn") == curated.concepts["cnn"]


def test_targets_of_old_files_without_prefix_are_found(tmp_path: Path) -> None:
    concept(tmp_path, "cnn", "CNN")
    concept(tmp_path, "mcmc", "MCMC")
    write(
        tmp_path,
        "edges.jsonl",
        '{"source_id":"smith2020","target_id":"cnn","relationship_type":"introduces","summary":"S"}',
        '{"source_id":"smith2020","target_id":"mcmc","relationship_type":"cites","summary":"S"}',
        '{"source_id":"mcmc","target_id":"concept:mcmc","relationship_type":"introduces","summary":"S"}',
    )
    curated = curation.read(tmp_path)
    assert [paper for paper, _ in curated.linked(Node("concept", "cnn"), "paper")] == ["smith2020"]
    assert [one for one, _ in curated.linked(Node("paper", "mcmc"), "concept")] == ["mcmc"]
    # The same edge, written as it is today.
    again = join(tmp_path, "smith2020", "concept:cnn", "introduces", "T")
    assert (again.action, again.edge) == ("updated", curation.read(tmp_path).edges[0])
    # There is a paper mcmc, so that the second edge is of two papers.
    assert concepts.delete(tmp_path, "mcmc", papers, force=True).edges_removed == 1
    assert concepts.merge(tmp_path, *_two(tmp_path, "cnn"), papers, nobody).edges_updated == 1


def _two(folder: Path, source: str) -> tuple[str, str]:
    concept(folder, "other", "Other")
    return source, "other"


def test_a_taken_id_is_refused_also_if_it_was_merged_away(tmp_path: Path) -> None:
    concept(tmp_path, "a", "A")
    concept(tmp_path, "b", "B")
    with pytest.raises(InvalidInput, match="there is a concept 'a' already"):
        concept(tmp_path, "a", "Another")
    concepts.merge(tmp_path, "a", "b", papers, nobody)
    with pytest.raises(InvalidInput, match="'a' was merged into 'b'"):
        concept(tmp_path, "a", "Another")


def test_a_name_that_another_has_is_warned_of(tmp_path: Path) -> None:
    concept(tmp_path, "cnn", "CNN", "ConvNet")
    kept = concepts.add(tmp_path, CuratedConcept("convnet", "Conv nets", ("convnets",)))
    assert kept.warnings == ("'convnets' is a name of the concept 'cnn', too; 'carrel concept merge' makes one of two",)


def test_an_update_changes_what_is_given_and_keeps_the_rest(tmp_path: Path) -> None:
    path = write(tmp_path, "concepts.jsonl", '{"id":"a","name":"A","aliases":["x"],"own":[1, 2],"description":"D"}')
    assert concepts.update(tmp_path, "concept:a", name="B").concept.name == "B"
    assert path.read_text() == '{"id":"a","name":"B","aliases":["x"],"own":[1, 2],"description":"D"}\n'
    concepts.update(tmp_path, "a", aliases=["y", " y ", "z", "B"], description="")
    assert path.read_text() == '{"id":"a","name":"B","aliases":["y","z"],"own":[1, 2]}\n'
    concepts.update(tmp_path, "a", aliases=())
    assert path.read_text() == '{"id":"a","name":"B","own":[1, 2]}\n'
    for change in ({}, {"name": "  "}):
        with pytest.raises(InvalidInput):
            concepts.update(tmp_path, "a", **change)


def test_a_concept_with_edges_is_deleted_only_by_force_and_they_go_with_it(tmp_path: Path) -> None:
    concept(tmp_path, "a", "A")
    concept(tmp_path, "b", "B")
    join(tmp_path, "smith2020", "concept:a")
    join(tmp_path, "concept:a", "concept:b", "part-of")
    join(tmp_path, "smith2020", "concept:b")
    with pytest.raises(InvalidInput, match="'a' has 2 edges"):
        concepts.delete(tmp_path, "a", papers)
    assert concepts.delete(tmp_path, "concept:a", papers, force=True).as_dict() == {
        "status": "deleted",
        "id": "a",
        "edges_removed": 2,
    }
    assert [edge.target for edge in curation.read(tmp_path).edges] == ["concept:b"]
    with pytest.raises(NotFound, match="there is no concept 'a'"):
        concepts.delete(tmp_path, "a", papers)


# Merging


def test_a_merge_moves_edges_names_and_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concepts, "now", lambda: "2026-05-06T07:08:09Z")
    concept(tmp_path, "convnet", "ConvNet", "CNNs", description="Gone")
    concept(tmp_path, "cnn", "Convolutional network", "CNN", description="Stays")
    join(tmp_path, "smith2020", "concept:convnet", "introduces", "Older.")
    join(tmp_path, "smith2020", "concept:cnn", "introduces", "Younger.")
    join(tmp_path, "lee2021", "concept:convnet", "applies")
    join(tmp_path, "concept:convnet", "concept:cnn", "related-to")
    merged = concepts.merge(tmp_path, "concept:convnet", "cnn", papers, nobody)
    assert merged.as_dict() == {
        "status": "merged",
        "source_id": "convnet",
        "target_id": "cnn",
        "edges_updated": 3,
        "aliases_added": ["ConvNet"],
        "duplicates_removed": 2,
    }
    assert records(tmp_path / "concepts.jsonl") == [
        {
            "id": "cnn",
            "name": "Convolutional network",
            "aliases": ["CNN", "ConvNet"],
            "description": "Stays",
            "merged": [{"id": "convnet", "name": "ConvNet", "at": "2026-05-06T07:08:09Z"}],
        }
    ]
    kept = [(edge.source, edge.target, edge.type, edge.summary) for edge in curation.read(tmp_path).edges]
    assert kept == [
        ("smith2020", "concept:cnn", "introduces", "Older."),
        ("lee2021", "concept:cnn", "applies", "Because."),
    ]


def test_of_two_edges_that_become_one_the_older_stays(tmp_path: Path) -> None:
    concept(tmp_path, "a", "A")
    concept(tmp_path, "b", "B")
    line = (
        '{{"source_id":"lee2021","target_id":"concept:{}","relationship_type":"applies","summary":"{}",'
        '"created_at":"{}"}}'
    )
    write(tmp_path, "edges.jsonl", line.format("b", "young", "2026-02"), line.format("a", "old", "2026-01"))
    assert concepts.merge(tmp_path, "a", "b", papers, nobody).duplicates_removed == 1
    assert [(edge.target, edge.summary) for edge in curation.read(tmp_path).edges] == [("concept:b", "old")]


def test_merges_make_a_chain_and_every_old_id_leads_to_its_end(tmp_path: Path) -> None:
    for letter in "abc":
        concept(tmp_path, letter, letter.upper() * 3)
    write(
        tmp_path,
        "edges.jsonl",
        '{"source_id":"smith2020","target_id":"concept:a","relationship_type":"models","summary":"S"}',
    )
    concepts.merge(tmp_path, "a", "b", papers, nobody)
    concepts.merge(tmp_path, "a", "c", papers, nobody)
    curated = curation.read(tmp_path)
    assert [merge.id for merge in curated.concept("a").merged] == ["a", "b"]
    assert curated.concept("a") == curated.concept("concept:b") == curated.concept("AAA") == curated.concepts["c"]
    assert curated.edges[0].target == "concept:c"
    with pytest.raises(InvalidInput, match="'a' and 'c' are one concept already"):
        concepts.merge(tmp_path, "a", "c", papers, nobody)
    # An edge that came by git, from somebody who still has the old id.
    write(
        tmp_path,
        "edges.jsonl",
        '{"source_id":"lee2021","target_id":"concept:b","relationship_type":"models","summary":"S"}',
    )
    assert curation.read(tmp_path).linked(Node("concept", "c"), "paper")[0][0] == "lee2021"
    assert join(tmp_path, "smith2020", "concept:a", "models").edge.target == "concept:c"


def test_two_of_one_name_are_merged(tmp_path: Path) -> None:
    concept(tmp_path, "one", "Same")
    concept(tmp_path, "two", "same")
    merged = concepts.merge(tmp_path, "two", "one", papers, nobody)
    assert (merged.target_id, merged.aliases_added) == ("one", ("two",))


SPOKEN = {
    "CNN": Concept("CNN", aliases=("ConvNets",)),
    "conv nets": Concept("convolutional neural network"),
    "convolutional neural network": Concept("convolutional neural network"),
    "my alias": Concept("Mine"),
}


def test_concepts_of_papers_are_merged_by_name_and_become_the_users_own(tmp_path: Path) -> None:
    concept(tmp_path, "convolutional-neural-network", "Taken")
    merged = concepts.merge(tmp_path, "CNN", "convolutional neural network", papers, SPOKEN.get)
    assert (merged.source_id, merged.target_id) == ("CNN", "convolutional-neural-network-2")
    made = curation.read(tmp_path).concepts["convolutional-neural-network-2"]
    assert (made.name, made.aliases) == ("convolutional neural network", ("CNN", "ConvNets"))
    assert [(merge.id, merge.name) for merge in made.merged] == [("", "CNN")]
    with pytest.raises(InvalidInput, match="one concept already"):
        concepts.merge(tmp_path, "CNN", "conv nets", papers, SPOKEN.get)


def test_a_name_that_papers_use_for_one_of_the_users_own_means_that_one(tmp_path: Path) -> None:
    concept(tmp_path, "mine", "Mine")
    concept(tmp_path, "other", "Other")
    merged = concepts.merge(tmp_path, "my alias", "other", papers, SPOKEN.get)
    assert (merged.source_id, [*curation.read(tmp_path).concepts]) == ("mine", ["other"])


def test_an_unknown_name_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    concept(tmp_path, "a", "A")
    before = (tmp_path / "concepts.jsonl").read_bytes()
    for source, target in (("a", "nothing"), ("nothing", "a")):
        with pytest.raises(NotFound, match="there is no concept 'nothing', neither of your own nor in the papers"):
            concepts.merge(tmp_path, source, target, papers, SPOKEN.get)
    assert (tmp_path / "concepts.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("Segment Tree", "segment-tree"),
        ("C++", "c"),
        ("Gödel's θ", "godel-s"),
        ("卷积", "concept"),
        ("x" * 99, "x" * 60),
    ],
)
def test_an_id_is_made_of_a_name(name: str, made: str) -> None:
    assert concepts.slug(name, ()) == made
    assert concepts.slug(name, [made]) == f"{made}-2"


# Edges


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("smith2020", "smith2020", "leads back to where it begins"),
        ("concept:cnn", "cnn", "leads back to where it begins"),
        ("smith2020", "project:p", "papers and projects are joined by concepts"),
        ("project:p", "smith2020", "papers and projects are joined by concepts"),
        ("project:p", "project:q", "there are no edges between two projects"),
        ("repo:r", "concept:cnn", "a repository has no edges"),
    ],
)
def test_what_edges_do_not_join_is_refused_in_one_sentence(
    tmp_path: Path, source: str, target: str, reason: str
) -> None:
    concept(tmp_path, "cnn", "CNN")
    write(tmp_path, "projects.jsonl", '{"id": "p", "name": "P"}')
    with pytest.raises(InvalidInput, match=reason) as caught:
        join(tmp_path, source, target)
    assert caught.value.hint.startswith("Edges join two papers")
    assert not (tmp_path / "edges.jsonl").exists()


@pytest.mark.parametrize(
    ("source", "target", "type_"),
    [
        ("smith2020", "lee2021", "cites"),
        ("smith2020", "concept:cnn", "introduces"),
        ("concept:cnn", "smith2020", "introduces"),
        ("concept:cnn", "project:p", "implemented-in"),
        ("project:p", "concept:cnn", "refines"),
        ("concept:cnn", "concept:net", "part-of"),
        ("concept:cnn", "concept:net", "prerequisite"),
    ],
)
def test_what_edges_join_is_written_and_only_an_unusual_type_is_warned_of(
    tmp_path: Path, source: str, target: str, type_: str
) -> None:
    concept(tmp_path, "cnn", "CNN")
    concept(tmp_path, "net", "Net")
    write(tmp_path, "projects.jsonl", '{"id": "p", "name": "P"}')
    kept = join(tmp_path, source, target, type_)
    assert (kept.edge.key, kept.warnings) == ((source, target, type_), ())
    unusual = join(tmp_path, source, target, "reminds me of")
    assert unusual.action == "added"
    assert unusual.warnings[0].startswith("'reminds me of' is not one of the usual types here: ")


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("nobody", "smith2020", "there is no paper and no concept 'nobody'"),
        ("smith2020", "concept:gone", "there is no concept 'gone'"),
        ("concept:cnn", "project:gone", "there is no project 'gone'"),
    ],
)
def test_an_end_that_is_not_there_is_refused(tmp_path: Path, source: str, target: str, message: str) -> None:
    concept(tmp_path, "cnn", "CNN")
    with pytest.raises(NotFound, match=message):
        join(tmp_path, source, target)


@pytest.mark.parametrize("empty", ["source", "target", "type", "summary"])
def test_an_edge_without_one_of_its_parts_is_refused(tmp_path: Path, empty: str) -> None:
    parts = {"source": "smith2020", "target": "lee2021", "type": "cites", "summary": "S"} | {empty: " \n"}
    with pytest.raises(InvalidInput, match=f"the edge needs a {empty}"):
        edges.add(tmp_path, Edge(**parts), papers)


def test_an_import_takes_what_it_can_and_names_the_rest_by_line(tmp_path: Path) -> None:
    concept(tmp_path, "cnn", "CNN")
    join(tmp_path, "smith2020", "lee2021", "cites", "Old.")
    common = '"relationship_type":"cites","summary":"New."'
    given = write(
        tmp_path,
        "given.jsonl",
        f'{{"source_id":"smith2020","target_id":"lee2021",{common}}}',
        "",
        f'{{"source_id":"lee2021","target_id":"smith2020",{common},"created_at":"2020-01-01T00:00:00Z","by":"me"}}',
        '{"source_id":"lee2021","target_id":"cnn","relationship_type":"applies"}',
        f'{{"source_id":"lee2021","target_id":"nobody",{common}}}',
        "nonsense",
        f'{{"source_id":"lee2021","target_id":"smith2020",{common.replace("New", "Newer")}}}',
    )
    imported = edges.take_from(given, tmp_path, papers)
    assert imported.as_dict() == {
        "added": 1,
        "updated": 2,
        "skipped": 3,
        "errors": [
            {"line": 4, "error": "it has no summary"},
            {"line": 5, "error": "there is no paper and no concept 'nobody'"},
            {"line": 6, "error": "no JSON object"},
        ],
    }
    kept = records(tmp_path / "edges.jsonl")
    assert [record["summary"] for record in kept] == ["New.", "Newer."]
    assert (kept[1]["created_at"], kept[1]["by"]) == ("2020-01-01T00:00:00Z", "me")


def test_orphans_are_found_and_only_they_are_taken_out(tmp_path: Path) -> None:
    concept(tmp_path, "cnn", "CNN")
    line = '{{"source_id": "{}", "target_id": "{}", "relationship_type": "x", "summary": "S"}}'
    ends = [
        ("smith2020", "lee2021"), ("gone", "lee2021"), ("smith2020", "gone"), ("gone", "concept:gone"),
        ("smith2020", "concept:cnn"), ("concept:cnn", "project:gone"), ("smith2020", "repo:r"),
    ]  # fmt: skip
    path = write(tmp_path, "edges.jsonl", *(line.format(*pair) for pair in ends), "broken")
    groomed = edges.groom(tmp_path, papers)
    assert [(orphan.edge.source, orphan.reason) for orphan in groomed.orphans] == [
        ("gone", "missing_source"),
        ("smith2020", "missing_target"),
        ("gone", "missing_both"),
        ("concept:cnn", "missing_target"),
    ]
    assert groomed.as_dict()["status"] == "orphaned"
    kept = [line.format(*ends[number]) for number in (0, 4, 6)]
    assert edges.groom(tmp_path, papers, fix=True).as_dict()["status"] == "fixed"
    assert path.read_text().splitlines() == [*kept, "broken"]
    assert edges.groom(tmp_path, papers, fix=True).as_dict() == {
        "status": "clean",
        "orphaned_edges": [],
        "fixed": False,
    }


def test_edges_of_papers_that_become_others_are_theirs(tmp_path: Path) -> None:
    join(tmp_path, "smith2020", "lee2021", "cites", "Older.")
    join(tmp_path, "mcmc", "lee2021", "cites", "Younger.")
    join(tmp_path, "mcmc", "smith2020", "cites")
    join(tmp_path, "lee2021", "mcmc", "extends")
    assert edges.rename_papers(tmp_path, {"mcmc": "smith2020"}) == edges.Moved(updated=3, removed=2)
    kept = [(edge.source, edge.target, edge.type, edge.summary) for edge in curation.read(tmp_path).edges]
    assert kept == [
        ("smith2020", "lee2021", "cites", "Older."),
        ("lee2021", "smith2020", "extends", "Because."),
    ]


def test_what_an_edge_does_not_reach_is_not_rewritten(tmp_path: Path) -> None:
    path = write(tmp_path, "edges.jsonl", '{"source_id": "a",  "target_id": "b", "relationship_type": "x"}', "{")
    before = path.read_bytes()
    assert edges.rename_papers(tmp_path, {"mcmc": "smith2020"}) == edges.Moved()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "verb",
    [
        lambda folder: concepts.add(folder, CuratedConcept("a", "A")),
        lambda folder: join(folder, "smith2020", "nobody"),
        lambda folder: concepts.delete(folder, "cnn", papers),
        lambda folder: concepts.merge(folder, "a", "a", papers, nobody),
        lambda folder: concepts.update(folder, "nobody", name="N"),
    ],
)
def test_what_is_refused_changes_nothing(tmp_path: Path, verb: Callable[[Path], object]) -> None:
    concept(tmp_path, "a", "A")
    concept(tmp_path, "cnn", "CNN")
    join(tmp_path, "smith2020", "cnn")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(CarrelError):
        verb(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
