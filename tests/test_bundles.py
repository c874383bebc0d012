"""An answer on disk carries its proof, says nothing of its owner's machine, and is text whatever papers say."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import Library, settings
from carrel.bundles import Bundle, files
from carrel.bundles.circumstances import public
from carrel.errors import InvalidInput, NotFound, ReadOnlyLibrary, StoreUnavailable
from carrel.references import jsonl
from carrel.types import (
    ArmScore,
    Box,
    Confidence,
    Degradation,
    Flag,
    Fused,
    Notice,
    Passage,
    Standing,
    Statement,
    Unsupported,
)
from tests.saved_answers import BASALT, GRANITE, HOSTILE, RECORDS, answer, opened, put_records

QUOTE = "Granite is hard."
KINDS = (".json", ".md", ".html")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with opened(tmp_path / "papers") as library:
        yield library


def saved(library: Library, path: Path, *cited: tuple[str, str], **fields: Any) -> Bundle:
    library.save(answer(library, *cited, **fields), path)
    return files.read(path).bundle


def test_a_bundle_says_what_was_said_by_whom_and_where_it_stands(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    library.save(answer(library, ("granite", QUOTE), ("basalt", "Basalt is dark and forms from lava.")), path)
    record = json.loads(path.read_text(encoding="utf-8"))
    assert (record["format"], record["version"]) == ("carrel-answer", 1)
    assert record["answer"] == "Granite is hard. [1] Basalt is dark and forms from lava. [2]"
    first = record["citations"][0]
    assert (first["address"], first["start"], first["end"], first["quote"]) == ("granite/abstract", 0, 16, QUOTE)
    text = library.text("granite/abstract")
    assert text[first["start"] : first["end"]] == QUOTE
    assert record["documents"][0]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert record["references"][0] == {
        "id": "granite",
        "doi": "10.1000/xyz",
        "title": "On granite",
        "authors": [{"first": "Ada", "last": "Stone"}, {"first": "Bo", "last": "Rock"}],
        "venue": "Journal of Rocks",
        "published": {"year": 2020},
    }
    assert (record["made"]["library"], record["made"]["embedder"]) == ("papers", library.embedder.name)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", record["made"]["time"])


def test_a_bundles_references_can_be_exported(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    library.save(answer(library, ("granite", QUOTE)), path)
    (reference,) = json.loads(path.read_text())["references"]
    assert jsonl.from_record(reference).authors[0].last == "Stone"


def test_every_kind_of_file_holds_the_same_bundle(library: Library, tmp_path: Path) -> None:
    whole = answer(
        library,
        ("hostile", QUOTE),
        ("basalt", "It does not float on water"),
        asked="How hard is it? (granite)",
        unsupported=(Unsupported("Cats fly <b>high</b>.", "no excerpt says so"),),
        degraded=(Degradation("graph", "took too long"),),
    )
    for kind in KINDS:
        library.save(whole, tmp_path / f"out{kind}")
    opened = [files.read(tmp_path / f"out{kind}") for kind in KINDS]
    assert [(one.is_sealed, one.is_shown) for one in opened] == [(True, True)] * 3
    made = opened[0].bundle.made
    assert {replace(one.bundle, made=replace(one.bundle.made, time=made.time)).answer for one in opened} == {
        whole.answer
    }
    assert opened[1].bundle.citations == opened[2].bundle.citations == opened[0].bundle.citations


def test_nothing_of_the_readers_own_words_and_folders_is_saved(library: Library, tmp_path: Path) -> None:
    for kind in KINDS:
        library.save(answer(library, ("granite", QUOTE)), tmp_path / f"out{kind}")
        content = (tmp_path / f"out{kind}").read_text(encoding="utf-8")
        assert "secret" not in content
        assert str(tmp_path) not in content


def test_settings_that_differ_are_told_but_no_secret_and_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_MODELS__API_KEY", "sk-secret")
    monkeypatch.setenv("CARREL_PDF_ROOT", "/home/me/pdfs")
    monkeypatch.setenv("CARREL_SEARCH__LIMIT", "7")
    chosen, _ = settings.load(None)
    assert settings.differing(chosen) == {"search.limit": 7}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("granite", "granite"),
        ("ollama:llama3:8b", "ollama:llama3:8b"),
        ("gguf:/home/me/models/small.gguf", "gguf:small.gguf"),
        ("gguf:models/small.gguf", "gguf:models/small.gguf"),
        ("onnx:~/models/x", "onnx:x"),
        ("http:https://me:secret@host:8080/rerank?key=secret#x", "http:https://host:8080/rerank"),
        ("neo4j://user:secret@host", "neo4j://host"),
    ],
)
def test_names_of_models_and_servers_are_told_without_secrets_and_folders(name: str, shown: str) -> None:
    assert public(name) == shown


class Tags(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(path: Path) -> Tags:
    tags = Tags()
    tags.feed(path.read_text(encoding="utf-8"))
    return tags


def test_a_page_is_whole_in_itself_and_what_papers_say_is_text_on_it(library: Library, tmp_path: Path) -> None:
    saved(library, tmp_path / "out.html", ("hostile", QUOTE), question=HOSTILE)
    tags = parsed(tmp_path / "out.html")
    assert [attributes for tag, attributes in tags.seen if tag == "script"] == [
        {"type": "application/json", "id": "carrel-answer"}
    ]
    assert {"img", "link", "iframe", "b"}.isdisjoint(tag for tag, _ in tags.seen)
    assert not [name for _, attributes in tags.seen for name in attributes if name.startswith("on")]
    sources = [value for _, attributes in tags.seen for name, value in attributes.items() if name in {"href", "src"}]
    assert sources == ["#source-1", "https://doi.org/10.1000/xyz"]
    assert "<script>alert(1)</script>" in tags.text
    assert "\x1b" not in tags.text
    assert "\u202e" not in tags.text


def test_every_citation_of_a_page_leads_to_its_quote(library: Library, tmp_path: Path) -> None:
    saved(library, tmp_path / "out.html", ("granite", QUOTE), ("basalt", "It does not float on water"))
    seen = parsed(tmp_path / "out.html").seen
    targets = {attributes["id"] for tag, attributes in seen if tag == "article"}
    marks = [attributes["href"] for _, attributes in seen if attributes.get("class") == "mark"]
    assert marks == ["#source-1", "#source-2"]
    assert targets == {"source-1", "source-2"}


def test_markdown_reads_well_and_holds_no_markup_of_papers(library: Library, tmp_path: Path) -> None:
    saved(library, tmp_path / "out.md", ("hostile", QUOTE), unsupported=(Unsupported(HOSTILE, "no excerpt says so"),))
    shown = (tmp_path / "out.md").read_text(encoding="utf-8").split("<!-- carrel-answer")[0]
    assert shown.startswith(
        "# How hard is it?\n\nGranite is hard. [1]\n\n*Confidence: high (0.90; the threshold is 0.60).*"
    )
    assert "> “Granite is hard.”\n\nhostile/abstract, characters 0–16" in shown
    assert "<script" not in shown
    assert "](" not in shown.replace("\\](", "").replace("\\]\\(", "")
    assert "- Ada Stone, Bo Rock (2020). " in shown
    assert "Journal of Rocks. https://doi.org/10.1000/xyz" in shown


def test_flags_boxes_and_pages_are_kept_and_shown(library: Library, tmp_path: Path) -> None:
    whole = answer(library, ("granite", QUOTE))
    flag = Flag(Notice.RETRACTION, "the tag 'retracted'", "2024-05-01", "made up")
    marked = replace(whole.citations[0], boxes=(Box(7, 1.0, 2.0, 3.0, 4.0),), standing=Standing("", (flag,)))
    for kind in KINDS:
        library.save(replace(whole, citations=(marked,)), tmp_path / f"out{kind}")
        (quote,) = files.read(tmp_path / f"out{kind}").bundle.citations
        assert (quote.page, quote.boxes, quote.flags) == (7, marked.boxes, (flag,))
    for kind in (".md", ".html"):
        content = (tmp_path / f"out{kind}").read_text(encoding="utf-8").replace("&#x27;", "'")
        assert "Retraction, 2024-05-01: made up (the tag 'retracted')" in content
        assert "page 7" in content


def test_a_refusal_is_saved_with_its_near_misses(library: Library, tmp_path: Path) -> None:
    (chunk,) = library.stores.catalog.chunks(["basalt/abstract"])
    near = Passage(1, chunk, 0.31, Fused(chunk.address, 0.1, {"vector": ArmScore(1, 0.5)}), 0.31)
    for kind in KINDS:
        bundle = saved(library, tmp_path / f"out{kind}", near_misses=(near,), confidence=Confidence.INSUFFICIENT)
        assert bundle.has_insufficient_evidence
        assert [(one.address, one.score, one.text) for one in bundle.near_misses] == [("basalt/abstract", 0.31, BASALT)]
        assert "The library does not say." in (tmp_path / f"out{kind}").read_text(encoding="utf-8")


def test_a_file_that_is_there_is_replaced_only_by_force(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("my thesis")
    with pytest.raises(InvalidInput, match="there already") as caught:
        library.save(answer(library, ("granite", QUOTE)), path)
    assert "--force" in caught.value.hint
    assert path.read_text() == "my thesis"
    library.save(answer(library, ("granite", QUOTE)), path, force=True)
    assert files.read(path).is_sealed


@pytest.mark.parametrize("name", ["out", "out.txt", "out.htm", "out.json.bak", ".json", "o\0ut.json"])
def test_only_the_three_kinds_are_written(library: Library, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"\.json, \.md or \.html"):
        library.save(answer(library, ("granite", QUOTE)), tmp_path / name)
    assert [path for path in tmp_path.iterdir() if path.is_file()] == []


def test_a_folder_that_is_not_there_and_one_in_the_files_place_are_told(library: Library, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no folder"):
        library.save(answer(library, ("granite", QUOTE)), tmp_path / "nowhere" / "out.json")
    (tmp_path / "out.json").mkdir()
    with pytest.raises(InvalidInput, match="there already"):
        library.save(answer(library, ("granite", QUOTE)), tmp_path / "out.json", force=True)


def test_an_interrupted_save_leaves_no_half(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("carrel.files.flush", fail)
    with pytest.raises((StoreUnavailable, ReadOnlyLibrary)):
        library.save(answer(library, ("granite", QUOTE)), tmp_path / "out.json")
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


def test_an_answer_whose_paper_has_left_or_changed_since_is_not_saved(library: Library, tmp_path: Path) -> None:
    whole = answer(library, ("granite", QUOTE))
    put_records(library, {**RECORDS[0], "abstract": f"Well. {GRANITE}"}, *RECORDS[1:])
    with pytest.raises(NotFound, match="has changed since"):
        library.save(whole, tmp_path / "out.json")
    library.remove("granite")
    with pytest.raises(NotFound, match="no longer in the library"):
        library.save(whole, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_half_characters_of_a_shell_do_not_break_a_bundle(library: Library, tmp_path: Path) -> None:
    for kind in KINDS:
        saved(library, tmp_path / f"out{kind}", ("granite", QUOTE), question="caf\udce9?")
        opened = files.read(tmp_path / f"out{kind}")
        assert (opened.is_sealed, opened.is_shown, opened.bundle.question) == (True, True, "caf??")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\x00\xff\xfe",
        b'{"format": "carrel-answer"}',
        b'{"format": "carrel-answer", "version": 2}',
        b'{"format": "carrel-answer", "version": 1, "question": NaN}',
        b'{"format": "carrel-answer", "version": 1, "question": 7}',
        b'{"format": "other", "version": 1}',
        b"[" * 200_000,
        b'{"format": "carrel-answer", "version": 1' + b"1" * 6000 + b"}",
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_no_bundle_gets_one_clear_sentence(tmp_path: Path, content: bytes, kind: str) -> None:
    path = tmp_path / f"out{kind}"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="no answer that can be checked") as caught:
        files.read(path)
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 400


def test_a_file_that_is_too_large_or_not_there_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFound, match="no file"):
        files.read(tmp_path / "out.json")
    monkeypatch.setattr("carrel.bundles.files._LARGEST", 100)
    (tmp_path / "out.json").write_bytes(b" " * 101)
    with pytest.raises(InvalidInput, match="more than 100 bytes"):
        files.read(tmp_path / "out.json")


@pytest.mark.parametrize("kind", [".md", ".html"])
def test_a_file_made_to_keep_us_busy_is_refused_at_once(library: Library, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"out{kind}"
    saved(library, path, ("granite", QUOTE))
    opening = {".md": "<!-- carrel-answer\n", ".html": '<script type="application/json" id="carrel-answer">\n'}[kind]
    path.write_text(opening * 50_000)
    start = time.perf_counter()
    with pytest.raises(InvalidInput, match="50000 saved answers"):
        files.read(path)
    assert time.perf_counter() - start < 5


def test_more_statements_than_any_answer_has_are_refused(plain: Bundle, tmp_path: Path) -> None:
    for many in (
        replace(plain, statements=plain.statements * 1001),
        replace(plain, statements=(Statement("x" * 50_001, (1,)),)),
    ):
        (tmp_path / "out.json").write_text(json.dumps(many.as_dict()))
        with pytest.raises(InvalidInput, match="no answer has more than"):
            files.read(tmp_path / "out.json")


def test_line_ends_that_git_changed_do_not_matter(library: Library, tmp_path: Path) -> None:
    for kind in KINDS:
        path = tmp_path / f"out{kind}"
        saved(library, path, ("granite", QUOTE))
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        opened = files.read(path)
        assert (opened.is_sealed, opened.is_shown) == (True, True)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    folder = tmp_path_factory.mktemp("plain")
    with opened(folder / "papers") as library:
        return saved(library, folder / "out.json", ("granite", QUOTE))


@given(text=st.text(max_size=80), quote=st.text(min_size=1, max_size=80))
def test_whatever_is_in_it_a_bundle_comes_back_from_every_kind_of_file(
    plain: Bundle, tmp_path_factory: pytest.TempPathFactory, text: str, quote: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    cited = replace(plain.citations[0], quote=quote, section_path=(text,))
    bundle = replace(
        plain,
        question=text,
        citations=(cited,),
        references=(replace(plain.references[0], title=text or "t"),),
        unsupported=(Unsupported(text, quote),),
    )
    for kind in KINDS:
        files.write(folder / f"out{kind}", bundle)
        opened = files.read(folder / f"out{kind}")
        assert (opened.is_sealed, opened.is_shown) == (True, True)
        assert (opened.bundle.citations, opened.bundle.question) == ((cited,), text)
