"""Files are read in workers: what a hostile one does to its worker, nobody else feels."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import settings
from carrel.errors import (
    BudgetExceeded,
    EmptyDocument,
    InvalidInput,
    ParserCrashed,
    SourceError,
    TooLarge,
    UnknownComponent,
    WorkerUnavailable,
)
from carrel.isolation import bounds, messages, papers
from carrel.isolation.process import Budget
from carrel.isolation.workers import Workers
from carrel.parsers import Parser, Source
from carrel.parsers.markdown import Markdown
from carrel.types import (
    Author,
    Block,
    BlockKind,
    Box,
    Cited,
    Exhibit,
    ExhibitKind,
    Image,
    Paper,
    Place,
    Published,
    Reference,
)

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="asks for signals and limits that Windows has not")

HOSTILE = '''
import ctypes, os, re, signal, struct, subprocess, sys, time
from carrel.errors import EmptyDocument, SourceError
from carrel.types import *

poisoned = False

class Ours(EmptyDocument): pass

def paper(text="Good.", blocks=None, **more):
    return Paper(Reference("", "T"), text, blocks or (Block(BlockKind.TEXT, 0, len(text)),), "hostile", **more)

def spin():
    while True: pass

def backtrack():
    """Holds the interpreter's lock, so that no other thread has a turn."""
    re.match("(a|aa)+$", "a" * 200 + "b")

def allocate():
    held = []
    while True: held.append(bytearray(10_000_000))

def deeper(): deeper()

def refuse(): raise Ours("'x' is empty, says its parser", hint="Fill it.")

def fail(): raise ValueError("no\\nsuch \\x1b[31mthing")

def chat():
    print("hello"); sys.stdout.flush(); os.write(1, b"native"); os.write(2, b"noise"); sys.stdin.read()
    return paper()

def forge():
    """A reply of its own, on whatever may be the pipe."""
    for number in range(3, 12):
        try: os.write(number, struct.pack(">QQ", 3, 0) + b'"x"')
        except OSError: pass

def poison():
    global poisoned
    poisoned = True
    return paper()

def write():
    with open(os.environ["HOME"] + "/written", "w") as file: file.write("x")

def spawn():
    return paper(str(subprocess.Popen(["sleep", "60"]).pid))

DEEDS = {
    "good": paper,
    "segfault": lambda: ctypes.string_at(0),
    "exit": lambda: os._exit(3),
    "leave": lambda: sys.exit(4),
    "sleep": lambda: time.sleep(3600),
    "spin": spin,
    "overwork": lambda: os.kill(os.getpid(), signal.SIGXCPU),
    "backtrack": backtrack,
    "allocate": allocate,
    "deeper": deeper,
    "refuse": refuse,
    "fail": fail,
    "chat": chat,
    "forge": forge,
    "poison": poison,
    "write": write,
    "spawn": spawn,
    "nothing": lambda: None,
    "long": lambda: paper("x" * 100_000_000),
    "pictures": lambda: paper(images=(Image("p", bytes(1_000_000)),) * 300),
    "structure": lambda: paper(remarks=("x" * 1_000_000,) * 70),
    "beyond": lambda: paper(blocks=(Block(BlockKind.TEXT, 0, 99),)),
    "backwards": lambda: paper(blocks=(Block(BlockKind.TEXT, 3, 5), Block(BlockKind.TEXT, 0, 2))),
    "nan": lambda: paper(places=(Place(0, 1, Box(1, float("nan"), 0, 0, 0)),)),
    "surrogate": lambda: paper("\\udc80"),
    "environment": lambda: paper("\\n".join(os.environ)),
}

class Hostile:
    name, suffixes = "hostile", frozenset({".bad"})

    def parse(self, source):
        if poisoned: ctypes.string_at(0)
        if source.content == b"sibling":
            return paper((source.path.parent / "part.txt").read_text())
        return DEEDS[source.content.decode()]()
'''


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Somebody's package with a parser, installed by its entry point."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "hostile.py").write_text(HOSTILE)
    info = folder / "hostile-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[carrel.parsers]\nhostile = hostile:Hostile\n")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def workers(package: Path) -> Iterator[Workers]:
    with Workers(Budget(seconds=60, megabytes=400)) as made:
        yield made


@pytest.fixture(scope="module")
def hasty(package: Path) -> Iterator[Workers]:
    with Workers(Budget(seconds=2, megabytes=400)) as made:
        yield made


def source(deed: str) -> Source:
    return Source(f"{deed}.bad", deed.encode())


def reason(deed: str, workers: Workers) -> tuple[type[SourceError], str]:
    with pytest.raises(SourceError) as caught:
        workers.parse(source(deed), "hostile")
    assert f"'{deed}.bad'" in caught.value.message
    assert caught.value.hint
    return type(caught.value), caught.value.message.removeprefix(f"'{deed}.bad' cannot be read: ")


def is_running(pid: int) -> bool:
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listed.stdout.strip()[:1] not in ("", "Z")


def ends(pid: int, within: float) -> bool:
    deadline = time.monotonic() + within
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_running(pid)


# What a file can do


BROKEN = "the hostile reader gave back what is no paper: "
REASONS = {
    "segfault": (ParserCrashed, "the hostile reader crashed (SIGSEGV)"),
    "exit": (ParserCrashed, "the hostile reader ended with exit code 3"),
    "leave": (ParserCrashed, "the hostile reader failed (SystemExit: 4)"),
    "allocate": (BudgetExceeded, "it needed more than 400 MB of memory"),
    "overwork": (BudgetExceeded, "it took longer than 60 s"),
    "deeper": (ParserCrashed, "the hostile reader failed (RecursionError: maximum recursion depth exceeded)"),
    "fail": (ParserCrashed, "the hostile reader failed (ValueError: no such  [31mthing)"),
    "forge": (ParserCrashed, f"{BROKEN}the reply has no such form"),
    "nothing": (ParserCrashed, "the hostile reader failed (TypeError: it gave back NoneType, not Paper)"),
    "long": (TooLarge, "'long.bad' has 100,000,000 characters, more than the 10,000,000 allowed"),
    "pictures": (TooLarge, "what was read of it, pictures included, is too large"),
    "structure": (TooLarge, "what was read of it, pictures included, is too large"),
    "beyond": (ParserCrashed, f"{BROKEN}block 0–99 is not within 0–5"),
    "backwards": (ParserCrashed, f"{BROKEN}block 0–2 is not within 5–5"),
}


@pytest.mark.parametrize("deed", REASONS)
def test_each_bad_file_fails_with_its_reason_and_the_next_one_is_read(workers: Workers, deed: str) -> None:
    if deed == "allocate" and sys.platform != "linux":
        pytest.skip("the bytes are counted differently here")
    assert reason(deed, workers) == REASONS[deed]
    assert workers.parse(source("good"), "hostile").text == "Good."


@pytest.mark.parametrize("deed", ["nan", "surrogate"])
def test_numbers_and_letters_that_are_none_do_not_get_out(workers: Workers, deed: str) -> None:
    assert reason(deed, workers)[0] is ParserCrashed


@pytest.mark.parametrize("deed", ["sleep", "backtrack"])
def test_one_that_does_not_end_is_ended(hasty: Workers, deed: str) -> None:
    begun = time.monotonic()
    assert reason(deed, hasty) == (BudgetExceeded, "it took longer than 2 s")
    assert time.monotonic() - begun < 10
    assert hasty.parse(source("good"), "hostile").text == "Good."


def test_a_refusal_comes_back_as_the_nearest_class_that_everybody_knows(workers: Workers) -> None:
    with pytest.raises(EmptyDocument) as caught:
        workers.parse(source("refuse"), "hostile")
    assert type(caught.value) is EmptyDocument
    assert (caught.value.message, caught.value.hint) == ("'x' is empty, says its parser", "Fill it.")


def test_what_a_parser_prints_or_asks_is_nobodys_business(workers: Workers, capfd: pytest.CaptureFixture[str]) -> None:
    assert workers.parse(source("chat"), "hostile").text == "Good."
    assert capfd.readouterr() == ("", "")


def test_a_file_does_not_fail_for_what_an_earlier_one_left_behind(workers: Workers) -> None:
    assert [workers.parse(source(deed), "hostile").text for deed in ("poison", "good", "good")] == ["Good."] * 3


def test_parsers_write_no_files(workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    workers.close()
    assert reason("write", workers) == (ParserCrashed, "the hostile reader failed (OSError: [Errno 27] File too large)")
    assert (tmp_path / "written").read_bytes() == b""


def test_a_worker_sees_no_keys_and_no_settings(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CARREL_MODELS__API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_ID", "HARMLESS"):
        monkeypatch.setenv(name, "x")
    workers.close()
    names = workers.parse(source("environment"), "hostile").text.split()
    assert {"PATH", "HARMLESS"} <= set(names)
    assert not [name for name in names if "KEY" in name or "SECRET" in name or name.startswith("CARREL_")]


# What a file is given, and gives


def test_a_parser_reads_the_files_beside_its_own_wherever_the_parent_has_gone(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "part.txt").write_text("From beside.")
    monkeypatch.chdir(tmp_path)
    found = workers.parse(Source("a.bad", b"sibling", Path("a.bad")), "hostile")
    assert found.text == "From beside."


def outcome(parser: Parser, document: Source) -> Paper | tuple[type[SourceError], str, str]:
    try:
        return parser.parse(document)
    except SourceError as error:
        return type(error), error.message, error.hint


@given(st.text(st.sampled_from("ab #-*>|`$\n\t.0\\[]é漢\x00\x0b\u2028"), max_size=60))
def test_a_paper_is_the_same_as_if_it_had_been_read_here(workers: Workers, text: str) -> None:
    note = Source("note.md", text.encode())
    assert outcome(workers.isolated("markdown"), note) == outcome(Markdown(), note)


BOX = Box(2, 1.5, 2.0, 3.25, 4.0)
FULL = Paper(
    reference=Reference("id", "Tïtle", authors=(Author("L", "F"),), published=Published(2020, 1), tags=("a", "b")),
    text="One 漢 text. More!?",
    blocks=(Block(BlockKind.HEADING, 0, 3, 1, "One"), Block(BlockKind.TEXT, 4, 18)),
    format="pdf",
    places=(Place(0, 3, BOX), Place(0, 9, BOX), Place(4, 5, BOX)),
    exhibits=(Exhibit(ExhibitKind.TABLE, 4, 9, "Table 1", box=BOX), Exhibit(ExhibitKind.FIGURE, 9, 18, image="p")),
    cited=(Cited("Someone. 2001.", year=2001),),
    images=(Image("p", b"\x00\xff"), Image("q", b""), Image("r", b"three")),
    remarks=("page 3 is empty",),
)


def test_every_part_of_a_paper_comes_through() -> None:
    content, data = papers.packed(FULL)
    assert papers.unpacked(content["paper"], content["text"], content["images"], data) == FULL


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (replace(FULL, exhibits=FULL.exhibits[::-1]), "exhibit 4–9 is not within 18–18"),
        (replace(FULL, places=FULL.places[::-1]), "place 0–9 is not within 4–18"),
        (replace(FULL, blocks=(Block(BlockKind.TEXT, -1, 3),)), "block -1–3 is not within 0–18"),
        (replace(FULL, blocks=(Block(BlockKind.HEADING, 0, 3, 10**6),)), "a block has level 1000000"),
        (replace(FULL, places=(Place(0, 1, replace(BOX, page=-1)),)), "a box is on page -1"),
        (replace(FULL, places=(Place(0, 1, replace(BOX, left=1e300)),)), r"1e\+300 is no measure"),
        (replace(FULL, reference=replace(FULL.reference, published=Published(2**70))), "is no whole number"),
        (replace(FULL, remarks=("\ud800",)), "half a surrogate pair"),
    ],
)
def test_what_no_paper_can_be_is_told(broken: Paper, words: str) -> None:
    content, data = papers.packed(broken)
    with pytest.raises(papers.Nonsense, match=words):
        papers.unpacked(content["paper"], content["text"], content["images"], data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


def changed(value: object, draw: st.DataObject) -> object:
    """The same with one part of it replaced by anything."""
    if not isinstance(value, list) or not value or draw.draw(st.integers(0, 4)) == 0:
        return draw.draw(JSON)
    position = draw.draw(st.integers(0, len(value) - 1))
    return [*value[:position], changed(value[position], draw), *value[position + 1 :]]


@given(st.data(), st.integers(-3, 40))
def test_whatever_a_worker_says_is_a_whole_paper_or_nonsense(draw: st.DataObject, text: int) -> None:
    content, data = papers.packed(FULL)
    images = draw.draw(st.just(content["images"]) | st.lists(JSON, max_size=3))
    try:
        paper = papers.unpacked(changed(content["paper"], draw), draw.draw(st.sampled_from([20, text])), images, data)
    except papers.Nonsense:
        return
    ends = [0, *(block.end for block in paper.blocks)]
    assert all(block.start >= end for block, end in zip(paper.blocks, ends, strict=False))
    assert ends[-1] <= len(paper.text)
    assert papers.packed(paper)[1] == data


# Workers


def test_one_worker_reads_a_whole_batch(workers: Workers) -> None:
    workers.close()
    first = workers.parse(source("good"), "hostile")
    (only,) = workers._all
    assert [workers.parse(source("good"), "hostile") for _ in range(3)] == [first] * 3
    assert workers._all == {only}


def test_threads_do_not_get_each_others_papers(workers: Workers) -> None:
    texts = [f"Text {number}.\n" * 2000 for number in range(24)]
    with ThreadPoolExecutor(3) as pool:
        found = pool.map(lambda text: workers.parse(Source("a.txt", text.encode()), "text").text, texts)
    assert list(found) == texts


def test_closing_ends_the_workers_and_what_they_started(workers: Workers) -> None:
    workers.close()
    child = int(workers.parse(source("spawn"), "hostile").text)
    (only,) = workers._all
    assert is_running(child)
    workers.close()
    assert ends(child, 5)
    assert not is_running(only._process.pid)


def test_a_registered_parser_is_isolated_under_its_own_name_and_suffixes(workers: Workers) -> None:
    parser = workers.isolated("hostile")
    assert (parser.name, parser.suffixes) == ("hostile", frozenset({".bad"}))
    assert parser.parse(source("good")).format == "hostile"
    with pytest.raises(ParserCrashed, match="SIGSEGV"):
        parser.parse(source("segfault"))


def test_a_parser_that_nobody_registered_is_unknown(workers: Workers) -> None:
    with pytest.raises(UnknownComponent, match="no parser is called 'mine'"):
        workers.parse(source("good"), "mine")


@pytest.mark.parametrize(
    ("executable", "words"),
    [("", "does not know its own program"), ("/no/such/python", "No such file"), ("false", "exit code 1")],
)
def test_when_no_worker_can_be_started_the_way_out_is_named(
    monkeypatch: pytest.MonkeyPatch, executable: str, words: str
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    with Workers(Budget()) as made, pytest.raises(WorkerUnavailable, match=words) as caught:
        made.parse(Source("a.txt", b"x"), "text")
    assert "CARREL_INGEST__ISOLATE=false" in caught.value.hint


def test_a_reply_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "message"
    with path.open("wb") as file:
        messages.write(file, {"a": 1}, bytes(100))
    with path.open("rb") as file:
        assert messages.read(file, most=100) == ({"a": 1}, bytes(100))
    with path.open("rb") as file, pytest.raises(messages.Excess):
        messages.read(file, most=99)


# Processes around them


SCRIPT = """
    import sys
    from carrel.isolation.process import Budget
    from carrel.isolation.workers import Workers
    from carrel.parsers import Parser, Source

    with Workers(Budget(seconds=float(sys.argv[1]), megabytes=400)) as workers:
        print(workers.parse(Source("g.bad", b"good"), "hostile").text, workers._idle[0]._process.pid, flush=True)
        workers.parse(Source("x.bad", sys.argv[2].encode()), "hostile")
"""


def script(package: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    path = folder / "script.py"
    path.write_text(dedent(SCRIPT))
    return path, {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(package)])}


@pytest.mark.parametrize(
    ("seconds", "deed", "sent", "within"),
    [("60", "sleep", signal.SIGKILL, 5), ("60", "spin", signal.SIGINT, 5), ("1", "backtrack", signal.SIGKILL, 20)],
)
def test_no_worker_outlives_the_process_that_asked_it(
    package: Path, tmp_path: Path, seconds: str, deed: str, sent: signal.Signals, within: float
) -> None:
    path, environment = script(package, tmp_path)
    command = [sys.executable, str(path), seconds, deed]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        word, pid = one.stdout.readline().split()
        assert (word, is_running(int(pid))) == ("Good.", True)
        time.sleep(0.2)
        one.send_signal(sent)
        assert one.wait(10) == -sent
        assert ends(int(pid), within)


def test_a_plain_script_without_input_and_in_a_folder_with_traps_can_use_workers(package: Path, tmp_path: Path) -> None:
    path, environment = script(package, tmp_path)
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in ("json", "hostile", "queue"):
        (trap / f"{name}.py").write_text("raise SystemExit('trapped')\n")
    command = ["sh", "-c", 'exec "$0" "$@" <&-', sys.executable, str(path), "60", "good"]
    done = subprocess.run(command, env=environment, cwd=trap, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout.split()[0]) == (0, "", "Good.")


def test_where_the_system_keeps_no_limit_of_memory_the_worker_looks_itself() -> None:
    watched = "from carrel.isolation import bounds; bounds._watch_memory(1)"
    done = subprocess.run([sys.executable, "-c", watched], check=False, timeout=20)
    assert done.returncode == bounds.OUT_OF_MEMORY


def test_a_worker_loads_the_parser_that_is_asked_for_and_no_other(workers: Workers) -> None:
    script = "import carrel.isolation.worker, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numpy", "pydantic", "sqlite3", "markdown_it", "lxml", "subprocess", "carrel.chunking", "pypdfium2"}
    assert heavy.isdisjoint(loaded)


# Settings


def test_a_library_cannot_switch_isolation_off_but_its_user_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[ingest]\nisolate = false\n")
    with pytest.raises(InvalidInput, match=r"setting ingest\.isolate may not be set in") as caught:
        settings.load(config)
    assert "CARREL_INGEST__ISOLATE" in caught.value.hint
    monkeypatch.setenv("CARREL_INGEST__ISOLATE", "false")
    assert settings.load()[0].ingest.isolate is False
    assert settings.Settings().ingest.isolate is True


def test_the_budget_is_what_the_settings_say() -> None:
    assert Budget() == Budget(
        settings.Ingest().parse_seconds, settings.Ingest().parse_megabytes, settings.Ingest().max_document_characters
    )
