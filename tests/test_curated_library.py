"""The user's own concepts and edges in a library: always what the graph says, whoever wrote them."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel import Library, curation
from carrel.curation.records import Node
from carrel.errors import InvalidInput, NotFound, ReadOnlyLibrary, StoreUnavailable
from carrel.graphs import CURATED
from carrel.testing import HashedWords
from carrel.types import EVERYTHING, Concept, Contribution, Mention, Predicate, Role

ABSTRACT = "A text that is long enough to be an abstract which somebody could look for by its meaning."


def reference(paper_id: str, title: str, **fields: object) -> str:
    record = {
        "id": paper_id,
        "title": title,
        "authors": [{"first": "Ann", "last": "Lee"}],
        "published": {"year": 2020},
        "abstract": ABSTRACT,
        **fields,
    }
    return json.dumps(record) + "\n"


def papers(folder: Path) -> Path:
    path = folder / "papers.jsonl"
    texts = [
        reference("zebra", "Stripes of zebras"),
        reference("yak", "The wool of yaks"),
        reference("bare", "X", abstract=""),
    ]
    path.write_text("".join(texts))
    return path


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        made.add(papers(tmp_path))
        yield made


def spoken(library: Library, name: str) -> list[tuple[str, Role, float]]:
    graph = library.stores.graph
    keys = list(graph.resolve([name]).values())
    return [(spot.address, spot.role, spot.relevance) for spot in graph.spots(keys, limit=9, where=EVERYTHING)]


def test_a_concept_of_the_users_own_is_in_the_graph_at_once(library: Library) -> None:
    library.add_concept("stripe", "Stripe pattern", aliases=["Zebra print"], description="Black and white.")
    graph = library.stores.graph
    (key,) = set(graph.resolve(["stripe patterns", "zebra print"]).values())
    row = graph.concepts([key])[key]
    assert row.curated
    assert (row.concept.name, row.concept.aliases) == ("Stripe pattern", ("Zebra print",))
    assert row.concept.definition == "Black and white."
    library.update_concept("stripe", name="Stripes of animals", aliases=())
    assert graph.concepts(graph.resolve(["stripes of animals"]).values())
    assert graph.resolve(["zebra print"]) == {}
    library.delete_concept("stripe")
    assert CURATED not in graph.papers()


def test_edges_become_mentions_and_relations(library: Library) -> None:
    library.add_concept("stripe", "Stripe")
    library.add_concept("pattern", "Pattern of fur")
    library.add_edge("zebra", "concept:stripe", "introduces", "It shows stripes.")
    library.add_edge("concept:stripe", "bare", "applies", "No abstract, but a title.")
    library.add_edge("concept:stripe", "concept:pattern", "part-of", "Stripes make the pattern.")
    library.add_edge("concept:pattern", "concept:stripe", "reminds-of", "Somehow.")
    library.add_edge("zebra", "yak", "cites", "Zebras cite yaks.")
    assert spoken(library, "stripe") == [
        ("bare/abstract", Role.DISCUSSES, 1.0),
        ("zebra/abstract", Role.DISCUSSES, 1.0),
    ]
    graph = library.stores.graph
    keys = graph.resolve(["Stripe", "Pattern of fur"]).values()
    told = [(one.subject, one.predicate, one.object, one.confidence, one.evidence) for one in graph.triples(keys)]
    assert told == [
        ("Pattern of fur", Predicate.RELATED_TO, "Stripe", 1.0, "Somehow."),
        ("Stripe", Predicate.PART_OF, "Pattern of fur", 1.0, "Stripes make the pattern."),
    ]


def test_a_paper_without_abstract_speaks_by_its_first_passage(library: Library, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("---\nid: note\ntitle: A note\n---\n# A note\n\nSome words on llamas.\n")
    library.add(tmp_path / "note.md")
    library.add_concept("llama", "Llama care")
    library.add_edge("note", "llama", "models", "It speaks of llamas.")
    assert spoken(library, "Llama care") == [("note/ch1/s0/p0", Role.DISCUSSES, 1.0)]


def test_files_that_somebody_else_changed_are_taken_in_by_the_next_build_and_only_once(library: Library) -> None:
    folder, graph, catalog = library.layout.root, library.stores.graph, library.stores.catalog
    assert curation.is_current(library.layout)
    (folder / "concepts.jsonl").write_text('{"id": "wool", "name": "Wool quality"}\nbroken\n')
    (folder / "edges.jsonl").write_text(
        '{"source_id": "yak", "target_id": "concept:wool", "relationship_type": "models", "summary": "S"}\n'
    )
    assert not curation.is_current(library.layout)
    library.build_index()
    assert curation.is_current(library.layout)
    assert [address for address, _, _ in spoken(library, "wool quality")] == ["yak/abstract"]
    assert not curation.take_in(library.layout, catalog, graph)
    shutil.copy(folder / "concepts.jsonl", folder / "copy")
    (folder / "copy").replace(folder / "concepts.jsonl")
    assert curation.is_current(library.layout)
    (folder / "concepts.jsonl").unlink()
    (folder / "edges.jsonl").unlink()
    assert curation.take_in(library.layout, catalog, graph)
    assert CURATED not in graph.papers()
    assert not curation.take_in(library.layout, catalog, graph)


def test_a_paper_that_comes_or_goes_brings_or_takes_its_mention(library: Library, tmp_path: Path) -> None:
    library.add_concept("wool", "Wool quality")
    library.add_edge("yak", "wool", "models", "It speaks of wool.")
    library.remove("yak")
    assert spoken(library, "wool quality") == []
    assert [issue.kind for issue in library.check().issues if issue.file == "edges.jsonl"] == ["orphaned_edge"]
    assert [orphan.reason for orphan in library.groom_edges().orphans] == ["missing_source"]
    library.add(papers(tmp_path))
    assert [address for address, _, _ in spoken(library, "wool quality")] == ["yak/abstract"]
    assert library.groom_edges(fix=True).orphans == ()


def test_a_graph_that_was_deleted_gets_it_back(library: Library) -> None:
    library.add_concept("wool", "Wool quality")
    library.stores.graph.clear()
    assert curation.take_in(library.layout, library.stores.catalog, library.stores.graph)
    assert library.stores.graph.resolve(["wool quality"])


def test_concepts_of_papers_are_merged_by_their_names(library: Library) -> None:
    graph, chunks = library.stores.graph, tuple(library.stores.catalog.chunks_of(["zebra", "yak"]))
    for paper, name in (("zebra", "CNN"), ("yak", "convolutional neural network")):
        own = tuple(chunk for chunk in chunks if chunk.paper_id == paper)
        mention = Mention(name, f"{paper}/abstract")
        graph.put([Contribution(paper, own, (Concept(name),), (mention,))])
    assert len(set(graph.resolve(["CNN", "convolutional neural network"]).values())) == 2
    merged = library.merge_concepts("CNN", "Convolutional neural networks")
    assert merged.as_dict() == {
        "status": "merged",
        "source_id": "CNN",
        "target_id": "convolutional-neural-network",
        "edges_updated": 0,
        "aliases_added": ["CNN"],
        "duplicates_removed": 0,
    }
    assert len(set(graph.resolve(["CNN", "convolutional neural network"]).values())) == 1
    assert {address for address, _, _ in spoken(library, "CNN")} == {"zebra/abstract", "yak/abstract"}
    with pytest.raises(NotFound, match="'quaternion'"):
        library.merge_concepts("quaternion", "CNN")


def test_edges_follow_papers_that_dedupe_merges(library: Library) -> None:
    library.add_concept("wool", "Wool quality")
    refs = library.layout.refs
    refs.write_text(refs.read_text() + reference("yak-again", "The wool of yaks", venue="Here", doi="10.1000/yak"))
    library.build_index()
    library.add_edge("yak-again", "wool", "models", "S")
    library.add_edge("yak", "zebra", "cites", "Older.")
    library.add_edge("yak", "yak-again", "extends", "Two of one.")
    (group,) = library.dedupe()
    assert [group.primary.id, *(one.id for one in group.duplicates)] == ["yak-again", "yak"]
    kept = [(edge.source, edge.target) for edge in library.curated().edges]
    assert kept == [("yak-again", "concept:wool"), ("yak-again", "zebra")]
    assert library.groom_edges().orphans == ()
    assert [address for address, _, _ in spoken(library, "wool quality")] == ["yak-again/abstract"]


def test_papers_without_a_reference_have_edges_too(library: Library, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Only a text\n\nSome words that are in no list of references.\n")
    library.add(tmp_path / "note.md")
    library.add_edge("note", "yak", "cites", "S")
    assert [issue.kind for issue in library.check().issues if issue.file == "edges.jsonl"] == []
    assert library.groom_edges(fix=True).orphans == ()


def test_a_library_that_was_never_indexed_has_edges_between_what_its_refs_say(tmp_path: Path) -> None:
    bipartite = tmp_path / ".bipartite"
    bipartite.mkdir()
    (bipartite / "refs.jsonl").write_text(
        reference("zebra", "Stripes of zebras") + reference("yak", "The wool of yaks")
    )
    before = (bipartite / "refs.jsonl").read_bytes()
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        library.add_concept("wool", "Wool quality")
        library.add_edge("yak", "wool", "models", "S")
        library.add_edge("yak", "zebra", "cites", "S")
        assert spoken(library, "wool quality") == []
        library.build_index()
        assert [address for address, _, _ in spoken(library, "wool quality")] == ["yak/abstract"]
    assert (bipartite / "refs.jsonl").read_bytes() == before
    assert sorted(path.name for path in bipartite.iterdir()) == [
        "carrel",
        "concepts.jsonl",
        "edges.jsonl",
        "refs.jsonl",
    ]


def test_orphans_are_not_taken_out_while_a_line_is_broken_that_may_be_what_they_lack(library: Library) -> None:
    library.add_edge("yak", "zebra", "cites", "S")
    refs = library.layout.refs
    refs.write_text(refs.read_text().replace('{"id": "yak"', '{"id": "yak'))
    before = (library.layout.root / "edges.jsonl").read_bytes()
    with pytest.raises(InvalidInput, match=r"1 lines cannot be read, as .*refs\.jsonl:2"):
        library.groom_edges(fix=True)
    refs.write_text(refs.read_text().replace('{"id": "yak', '{"id": "yak"'))
    (library.layout.root / "concepts.jsonl").write_text('{"id": "half')
    with pytest.raises(InvalidInput, match=r"1 lines cannot be read, as concepts\.jsonl, line 1"):
        library.groom_edges(fix=True)
    assert (library.layout.root / "edges.jsonl").read_bytes() == before


def test_a_graph_that_fails_says_that_the_file_is_written(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise StoreUnavailable("the graph does not answer")

    with monkeypatch.context() as patch, pytest.raises(StoreUnavailable, match="the graph does not answer") as caught:
        patch.setattr(type(library.stores.graph), "put", fail)
        library.add_concept("wool", "Wool quality")
    assert "Your change is written" in caught.value.hint
    assert library.curated().concepts["wool"].name == "Wool quality"
    library.build_index()
    assert library.stores.graph.resolve(["wool quality"])


def test_a_library_that_cannot_be_written_to_is_read_and_refuses(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add_concept("wool", "Wool quality")
    library.add_edge("yak", "wool", "models", "S")

    def refuse(*_arguments: object, **_options: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    curated = library.curated()
    assert [*curated.concepts] == ["wool"]
    assert [paper for paper, _ in curated.linked(Node("concept", "wool"), "paper")] == ["yak"]
    with pytest.raises(ReadOnlyLibrary, match="cannot write to"):
        library.add_concept("silk", "Silk")


def add_some(folder: str, writer: int) -> None:
    with Library.open(folder, embedder=HashedWords()) as library:
        for number in range(8):
            library.add_concept(f"w{writer}-{number}", f"Concept {number} of writer {writer}")
            library.add_edge("yak", f"w{writer}-{number}", "models", f"{writer} {number}")


def test_four_processes_that_write_at_once_lose_nothing(library: Library) -> None:
    context = multiprocessing.get_context("fork")
    folder = str(library.layout.root.parent)
    library.close()
    writers = [context.Process(target=add_some, args=(folder, writer)) for writer in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=120)
    assert [writer.exitcode for writer in writers] == [0, 0, 0, 0]
    wanted = {f"w{writer}-{number}" for writer in range(4) for number in range(8)}
    curated = library.curated()
    assert curated.concepts.keys() == wanted
    assert {edge.target.removeprefix("concept:") for edge in curated.edges} == wanted
    assert not curated.problems
    assert len(spoken(library, "Concept 7 of writer 3")) == 1


def test_ten_thousand_edges_are_no_burden(library: Library) -> None:
    lines = (
        f'{{"source_id":"yak","target_id":"concept:c{number % 500}","relationship_type":"t{number}","summary":"S"}}\n'
        for number in range(10_000)
    )
    root = library.layout.root
    (root / "edges.jsonl").write_text("".join(lines))
    (root / "concepts.jsonl").write_text(
        "".join(f'{{"id":"c{number}","name":"Concept number {number}"}}\n' for number in range(500))
    )
    started = time.process_time()
    assert len(library.curated().linked(Node("concept", "c7"), "paper")) == 20
    asked = time.process_time() - started
    started = time.process_time()
    library.add_edge("zebra", "c7", "models", "S")
    added = time.process_time() - started
    assert len(library.curated().linked(Node("concept", "c7"), "paper")) == 21
    assert asked < 3
    assert added < 3


def test_a_hundred_edges_are_written_in_seconds(library: Library) -> None:
    library.add_concept("wool", "Wool quality")
    started = time.process_time()
    for number in range(100):
        library.add_edge("yak", "wool", f"type {number}", "S")
    assert len(library.curated().edges) == 100
    assert time.process_time() - started < 15
