"""Files made to hurt: each is read, has no text, or fails with its reason; the others of its batch are taken in."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import os
import re
import socket
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from carrel.errors import NoTextLayer, SourceError
from carrel.isolation.process import Budget
from carrel.isolation.workers import Workers
from carrel.parsers import Source
from carrel.parsers.markdown import Markdown
from carrel.testing import HashedWords
from carrel.types import AddReport
from tests.hostile_files import FILES, GOOD, MB, READ, block, marker, packed

ROOT = Path(__file__).parent.parent
PDFJS = ROOT.parent / "shared" / "data" / "adversarial" / "pdfjs_dev"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="asks for limits and pipes that Windows has not")

SECONDS, MEGABYTES = 20, 256
SETTINGS = {"ingest.parse_seconds": SECONDS, "ingest.parse_megabytes": MEGABYTES, "ingest.ocr": "off"}


@dataclass(frozen=True)
class Batch:
    report: AddReport
    library: Library
    slowest: float
    """Seconds between two files."""

    def outcome(self, name: str) -> str:
        said = [problem.reason for problem in self.report.failed if Path(problem.source).name == name]
        assert len(said) <= 1
        return said[0] if said else READ

    def text(self, name: str) -> str:
        sources = self.library.stores.catalog.sources()
        (paper_id,) = (paper_id for source, paper_id in sources.items() if Path(source).name == name)
        return self.library.text(paper_id)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    """Every hostile file in one run, good ones before, between and behind them."""
    folder = tmp_path_factory.mktemp("papers")
    for name, content in GOOD.items():
        (folder / name).write_bytes(content)
    for name, (made, _) in FILES.items():
        (folder / name).write_bytes(made())
    with Library.init(folder / "library", embedder=HashedWords(), overrides=SETTINGS) as library:
        moments = [time.monotonic()]
        report = library.add(
            *(folder / name for name in sorted({*GOOD, *FILES})),
            progress=lambda _stage, _done, _of: moments.append(time.monotonic()),
        )
        yield Batch(report, library, max(after - before for before, after in pairwise(moments)))


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_read_or_fails_with_one_clear_sentence(batch: Batch, name: str) -> None:
    _, expected = FILES[name]
    outcome = batch.outcome(name)
    wanted = READ if expected == READ else rf"'{re.escape(name)}' {expected}"
    assert re.fullmatch(wanted, outcome), outcome
    assert len(outcome) < 600


def test_the_good_files_of_the_batch_are_taken_in_and_nothing_else_is(batch: Batch) -> None:
    read = {name for name, (_, expected) in FILES.items() if expected == READ}
    assert {Path(source).name for source in batch.library.stores.catalog.sources()} == {*GOOD, *read}
    assert batch.report.new == len(GOOD) + len(read)
    assert {Path(problem.source).name for problem in batch.report.remarks} == {"deep.xml", "picture.json"}
    assert "Every node keeps a sum." in batch.text("good.md")
    assert "Some words that can be seen" in batch.text("good.pdf")
    assert batch.library.search("every root keeps the tree").passages[0].chunk.paper_id in batch.report.papers


def test_no_file_holds_the_batch_up_for_long(batch: Batch) -> None:
    assert batch.slowest < 2 * SECONDS


def test_what_a_hostile_file_holds_beside_its_attack_is_found(batch: Batch) -> None:
    for name in ("form.pdf", "table.pdf", "nested.pdf"):
        assert "Some words that can be seen" in batch.text(name)
    for name in ("laughs.xml", "deep.xml", "attributes.xml", "cycle.json", "types.json", "picture.json"):
        assert "Some words." in batch.text(name)
    pages = batch.text("pages.pdf")
    assert [f"the number {number}," in pages for number in (0, 1000, 1999)] == [True] * 3
    assert max(len(batch.text(name)) for name in ("laughs.xml", "quadratic.xml")) < 7 * MB


def test_a_long_list_takes_no_longer_than_it_is_long() -> None:
    start = time.process_time()
    paper = Markdown().parse(Source("items.md", b"1. x\n" * 24_000))
    assert len(paper.blocks) == 24_000
    assert time.process_time() - start < 6


# What a file asks for elsewhere


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(Budget(SECONDS, MEGABYTES, ocr_pages=0)) as made:
        yield made


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        yield server


ASKING = {
    "entity": '<!DOCTYPE article [<!ENTITY e SYSTEM "{where}">]><article><body><p>Some words. &e;</p></body></article>',
    "type": '<!DOCTYPE article SYSTEM "{where}"><article><body><p>Some words. &e;</p></body></article>',
    "parameter": '<!DOCTYPE article [<!ENTITY % e SYSTEM "{where}"> %e;]><article><body><p>Some words.</p></body>'
    "</article>",
    "inclusion": '<article xmlns:xi="http://www.w3.org/2001/XInclude"><body><p>Some words.</p>'
    '<xi:include href="{where}" parse="text"/></body></article>',
    "style": '<?xml-stylesheet href="{where}"?><article><body><p>Some words.</p></body></article>',
}


@pytest.mark.parametrize("way", ASKING)
def test_no_xml_opens_a_file_or_an_address(
    workers: Workers, listening: socket.socket, tmp_path: Path, way: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("A secret.")
    for where in (secret.as_uri(), "secret.txt", f"http://127.0.0.1:{listening.getsockname()[1]}/x"):
        content = ASKING[way].replace("{where}", where).encode()
        paper = workers.parse(Source("a.xml", content, tmp_path / "a.xml"), "xml")
        assert "Some words." in paper.text
        assert "secret." not in paper.text.replace("secret.txt", "")
    with pytest.raises(TimeoutError):
        listening.accept()


def test_names_of_pictures_and_the_record_beside_a_paper_lead_nowhere_else(tmp_path: Path) -> None:
    outside, papers = tmp_path / "outside", tmp_path / "papers" / "KEY"
    outside.mkdir()
    papers.mkdir(parents=True)
    (outside / "secret.png").write_bytes(b"\x89PNG a secret")
    (outside / "meta.json").write_text(json.dumps({"title": "A secret"}))
    (papers / "meta.json").symlink_to(outside / "meta.json")
    (papers / "link.png").symlink_to(outside / "secret.png")
    names = ("../../outside/secret.png", str(outside / "secret.png"), "link.png", "..\\..\\outside\\secret.png")
    figures = [block("Figure", '<img alt="Some words.">', images={name: "iVBORw0K"}) for name in names]
    shown = [block("Picture", f'<img alt="Some words." src="{name}">') for name in names]
    (papers / "KEY.json").write_bytes(marker(*figures, *shown))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with Library.init(tmp_path / "library", embedder=HashedWords(), overrides=SETTINGS) as library:
        report = library.add(papers.parent)
        assert (report.new, report.failed) == (1, ())
        (row,) = library.list()
        assert "secret" not in f"{row.reference} {library.text(row.reference.id)}"
    made = [path for path in (tmp_path / "library").rglob("*") if path.is_file() or path.is_symlink()]
    assert not [path for path in made if path.is_symlink() or b"a secret" in path.read_bytes()]
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path: content for path, content in after.items() if path not in made} == before


# What is no file


def carrel_add(library: Path, *sources: Path) -> dict[str, Any]:
    """What the command reports; in a process of its own, as one that waits for a pipe waits for ever."""
    command = [sys.executable, "-m", "carrel", "-C", str(library), "add", "--json", *map(str, sources)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_pipes_links_and_archives_in_a_folder_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (tmp_path / "elsewhere.txt").write_text("Words from elsewhere.")
    (folder / "good.txt").write_text("Every leaf keeps a number.")
    (folder / "link.txt").symlink_to(tmp_path / "elsewhere.txt")
    (folder / "zero.pdf").symlink_to("/dev/zero")
    (folder / "loop").symlink_to(folder)
    for name in ("pipe.pdf", "pipe.json", "pipe.xml", "pipe"):
        os.mkfifo(folder / name)
    (folder / "papers.zip").write_bytes(packed("paper.pdf", 50))
    (folder / "paper.json.gz").write_bytes(gzip.compress(bytes(MB)))
    Library.init(tmp_path / "library").close()
    report = carrel_add(tmp_path / "library", folder)
    assert (report["papers"], report["failed"]) == (["good"], [])
    assert [Path(problem["source"]).name for problem in report["skipped"]] == ["paper.json.gz", "papers.zip"]
    assert "nothing reads '.zip' files" in report["skipped"][1]["reason"]


@pytest.mark.parametrize("name", ["pipe.pdf", "pipe.json", "pipe.txt", "zero.pdf"])
def test_a_pipe_or_device_that_is_named_is_refused_at_once(tmp_path: Path, name: str) -> None:
    if name.startswith("pipe"):
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).symlink_to("/dev/zero")
    Library.init(tmp_path / "library").close()
    (problem,) = carrel_add(tmp_path / "library", tmp_path / name)["failed"]
    assert problem["reason"] == "it is a pipe or device, not a file"


# PDFs that have broken other readers


@dataclass(frozen=True)
class Read:
    outcome: str
    characters: int


@pytest.fixture(scope="module")
def pdfjs(workers: Workers) -> dict[str, Read]:
    if not PDFJS.is_dir():
        pytest.skip("the files are not here: shared/data/adversarial/pdfjs_dev beside the repository")
    with lzma.open(PDFJS / "pdfs.tar.xz") as packed_files, tarfile.open(fileobj=packed_files) as archive:
        members = [(member.name, archive.extractfile(member)) for member in archive if member.isfile()]
        return {Path(name).name: read(workers, Path(name).name, file.read()) for name, file in members if file}


def read(workers: Workers, name: str, content: bytes) -> Read:
    """Anything but a refusal is an error of the test."""
    try:
        paper = workers.parse(Source(name, content), "pdf")
    except NoTextLayer as error:
        return Read(f"no text: {error.message}", 0)
    except SourceError as error:
        return Read(f"failed: {error.message}", 0)
    return Read("ok", len(paper.text))


def manifest() -> dict[str, int]:
    """How many characters a plain dump finds in each file."""
    with (PDFJS / "manifest.tsv").open(newline="") as file:
        return {row["file"]: int(row["pdfium_chars"] or 0) for row in csv.DictReader(file, delimiter="\t")}


def test_every_pdf_that_broke_other_readers_is_read_has_no_text_or_fails_with_its_reason(
    pdfjs: dict[str, Read], workers: Workers
) -> None:
    assert pdfjs.keys() == manifest().keys()
    outcomes = Counter(read.outcome.partition(":")[0] for read in pdfjs.values())
    assert outcomes.keys() == {"ok", "no text", "failed"}
    assert outcomes.total() == 181
    assert outcomes["failed"] <= 12
    for name, read in pdfjs.items():
        assert read.outcome.isprintable()
        assert read.outcome == "ok" or f"'{name}'" in read.outcome
    assert len(workers._all) <= 1


def test_where_a_plain_dump_finds_text_so_do_we(pdfjs: dict[str, Read]) -> None:
    with_text = {name: characters for name, characters in manifest().items() if characters > 200}
    assert len(with_text) >= 4
    for name, characters in with_text.items():
        assert pdfjs[name].characters > 0.8 * characters, name
