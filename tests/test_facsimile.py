"""Papers as they look: pictures, words and boxes that lie where the ink is, whatever the PDF."""

from __future__ import annotations

import io
import json
import os
import signal
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from PIL import Image

from carrel import Library, sentences
from carrel.chunking import pages
from carrel.errors import BudgetExceeded, InvalidInput, NotFound, ParserCrashed
from carrel.facsimile.keeping import Kept
from carrel.facsimile.png import png
from carrel.isolation import sheets
from carrel.isolation.drawers import Allowance, Drawers, Inside, Pdf
from carrel.testing import HashedWords
from carrel.types import Box, Chunk, ChunkKind, Place
from tests.printed import HEIGHT, LINES, QUOTE, WIDTH, Reader, pdf, plain, turned
from tests.saved_answers import put_records, record

DATA = Path(__file__).parents[2] / "shared/data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs the papers in ../shared/data")


def opened(content: bytes, name: str = "paper") -> Pdf:
    return Pdf(name, sha256(content).hexdigest(), lambda: content)


@pytest.fixture(autouse=True)
def inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes take a while to start, and have tests of their own."""
    monkeypatch.setenv("CARREL_INGEST__ISOLATE", "false")


def shelf(folder: Path, **files: bytes) -> Library:
    """A library with these PDFs taken in."""
    library = Library.init(folder, embedder=HashedWords())
    for name, content in files.items():
        (folder / f"{name}.pdf").write_bytes(content)
    report = library.add(folder)
    assert not report.failed, report.failed
    return library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with shelf(tmp_path, granite=pdf(LINES, ["A second page, which is short."])) as made:
        yield made


@pytest.fixture(scope="module")
def drawers() -> Iterator[Drawers]:
    made = Drawers(Allowance())
    yield made
    made.close()


def passage(library: Library, quote: str = QUOTE) -> tuple[Chunk, int, int]:
    chunks = library.stores.catalog.chunks_of([row.reference.id for row in library.list()])
    chunk = next(one for one in chunks if quote in one.text)
    start = chunk.start + chunk.text.index(quote)
    return chunk, start, start + len(quote)


def image_of(content: bytes) -> Image.Image:
    with Image.open(io.BytesIO(content)) as image:
        image.load()
        return image


# Pictures


@given(some.integers(1, 40), some.integers(1, 40), some.booleans(), some.randoms(use_true_random=False))
def test_a_picture_is_the_pixels_it_was_made_of(width: int, height: int, is_grey: bool, chance: Any) -> None:
    pixels = np.frombuffer(chance.randbytes(width * height * 3), dtype=np.uint8).reshape(height, width, 3)
    if is_grey:
        pixels = np.repeat(pixels[..., :1], 3, axis=2)
    image = image_of(png(pixels))
    assert image.mode == ("L" if (pixels == pixels[..., :1]).all() else "RGB")
    assert np.array_equal(np.asarray(image.convert("RGB")), pixels)


def test_a_page_is_drawn_as_wide_as_wanted_and_in_its_proportions(library: Library) -> None:
    found = library.pages("granite")
    assert [(one.page, one.width, one.height) for one in found.sheets] == [(1, WIDTH, HEIGHT), (2, WIDTH, HEIGHT)]
    for width in (200, 1000, 2400):
        assert image_of(library.page_image("granite", 1, width).content).size == (width, width * 3 // 2)


def test_a_picture_is_drawn_once_and_has_a_mark_that_saves_sending_it_again(library: Library) -> None:
    first = library.page_image("granite", 1)
    (kept,) = library.layout.pages.iterdir()
    kept.write_bytes(b"what is kept")
    assert library.page_image("granite", 1).content == b"what is kept"
    assert library.page_image("granite", 1, known=["other", first.mark]).content == b""
    assert library.page_image("granite", 2, known=[first.mark]).content.startswith(b"\x89PNG")


@pytest.mark.parametrize(("size", "drawn"), [((20.0, 900_000.0), (4, 16_000)), ((900_000.0, 20.0), (1000, 1))])
def test_no_page_is_so_large_that_its_picture_is(
    drawers: Drawers, size: tuple[float, float], drawn: tuple[int, int]
) -> None:
    content = sheets.picture(drawers, opened(pdf([], size=size)), 1, 1000)
    image = image_of(content)
    assert max(image.size) <= 16_000
    assert image.size == pytest.approx(drawn, abs=4)


def test_pictures_are_bounded_the_oldest_go_first(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "pages", most=1000)
    for number in range(20):
        kept.put(f"{number}.png", bytes(100))
        os.utime(tmp_path / "pages" / f"{number}.png", (number, number))
    names = {path.name for path in (tmp_path / "pages").iterdir()}
    assert sum(path.stat().st_size for path in (tmp_path / "pages").iterdir()) <= 1000
    assert (kept.get("19.png"), kept.get("0.png")) == (bytes(100), None)
    assert len(names) >= 8


def test_where_nothing_can_be_kept_pages_are_drawn_all_the_same(library: Library) -> None:
    library.layout.pages.parent.mkdir(exist_ok=True)
    library.layout.pages.write_text("in the way")
    assert library.page_image("granite", 1).content.startswith(b"\x89PNG")
    assert library.layout.pages.read_text() == "in the way"


# Where the words are


@pytest.mark.parametrize("crop", [None, (40, 60, 380, 580)])
@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_boxes_and_words_lie_on_the_ink_of_turned_and_cropped_pages(
    tmp_path: Path, degrees: int, crop: tuple[float, float, float, float] | None
) -> None:
    with shelf(tmp_path, page=turned(pdf(LINES), degrees, crop)) as library:
        (sheet,) = library.pages("page").sheets
        pixels = np.asarray(image_of(library.page_image("page", 1, 1200).content).convert("L"))
        rows, columns = np.nonzero(pixels < 128)
        points = sheet.width / 1200
        ink = (columns.min() * points, rows.min() * points, columns.max() * points, rows.max() * points)
        words = library.page_words("page", 1).words
        sides = [(one.left, one.top, one.right, one.bottom) for one in words]
        around = (*np.min(sides, axis=0)[:2], *np.max(sides, axis=0)[2:])
        assert ink == pytest.approx(around, abs=4)
        chunk, start, end = passage(library)
        boxes = library.proof(chunk.address, start, end).boxes
        assert Reader(library).spelled("page", boxes) == plain(QUOTE)
        assert sorted(plain("".join(one.text for one in words))) == sorted(plain("".join(LINES)))


def test_a_quote_is_marked_from_its_first_word_to_its_last_stop(library: Library) -> None:
    chunk, start, end = passage(library)
    first, second = library.proof(chunk.address, start, end).boxes
    words = {word.text: word for word in library.page_words("granite", 1).words}
    assert first.left == pytest.approx(words["It"].left, abs=0.1)
    assert first.right == pytest.approx(words["at"].right, abs=1)
    assert second.left == pytest.approx(words["about"].left, abs=1)
    assert second.right == pytest.approx(words["1)."].right, abs=0.1)
    near = library.boxes(chunk, start, end)
    assert [(one.left, one.right) for one in near] == [
        pytest.approx((one.left, one.right), abs=6) for one in (first, second)
    ]


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A paper in two columns, and one of the other kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARREL_INGEST__ISOLATE", "false")
        two = (DATA / "fulltext/acl_pdf_tei/N18-3011.pdf").read_bytes()
        one = (DATA / "fulltext/jose_pdf_jats_dev/jose.00090.pdf").read_bytes()
        with shelf(tmp_path_factory.mktemp("columns"), two=two, one=one) as made:
            yield made


@needs_data
def test_the_words_in_the_boxes_of_every_sentence_of_real_papers_are_the_sentence(columns: Library) -> None:
    reader, asked = Reader(columns), 0
    for chunk in columns.stores.catalog.chunks_of(["one", "two"]):
        for span in sentences.spans(chunk.text) if chunk.kind == ChunkKind.PASSAGE else ():
            found = columns.proof(chunk.address, chunk.start + span.start, chunk.start + span.end)
            assert reader.spelled(chunk.paper_id, found.boxes) == plain(found.quote), found.quote
            asked += 1
    assert asked > 250


@needs_data
def test_the_words_in_the_boxes_of_any_words_of_a_paper_in_columns_are_those_words(columns: Library) -> None:
    reader = Reader(columns)
    passages = [one for one in columns.stores.catalog.chunks_of(["two"]) if one.kind == ChunkKind.PASSAGE]
    # Where an arrow stands over a letter, as it does as `!`, characters are not written in the order of reading.
    chunks = [one for one in passages if "!" not in one.text]
    assert len(chunks) >= 11

    @given(some.data())
    def holds(data: some.DataObject) -> None:
        chunk = data.draw(some.sampled_from(chunks))
        starts = [index for index in range(len(chunk.text)) if f" {chunk.text}"[index].isspace()]
        first = data.draw(some.sampled_from(starts))
        last = data.draw(some.sampled_from([*[one - 1 for one in starts if one > first + 1], len(chunk.text)]))
        found = columns.proof(chunk.address, chunk.start + first, chunk.start + last)
        assert reader.spelled("two", found.boxes) == plain(found.quote), found.quote

    holds()


# Lines cut without a look at the page


def line(start: int, end: int, top: float = 0.0) -> Place:
    return Place(start, end, Box(1, 10.0, top, 10.0 + 4.6 * (end - start), top + 10.0))


def test_a_line_that_is_quoted_in_part_is_cut_where_the_quote_begins_and_ends() -> None:
    text = "a" * 60
    first, second, third = pages.boxes([line(0, 20), line(20, 40, 12), line(40, 60, 24)], 10, 45, text)
    assert (first.left, first.right) == (pytest.approx(10 + 46), pytest.approx(10 + 92))
    assert (second.left, second.right) == (10.0, pytest.approx(10 + 92))
    assert (third.left, third.right) == (10.0, pytest.approx(10 + 23))


def test_wide_letters_take_more_of_a_line_than_narrow_ones() -> None:
    (box,) = pages.boxes([line(0, 20)], 10, 20, "i" * 10 + "m" * 10)
    assert box.left == pytest.approx(10 + 92 * 28 / 103, abs=0.01)


def test_what_is_written_from_right_to_left_is_cut_from_the_right() -> None:
    (box,) = pages.boxes([line(0, 20)], 0, 5, "\u0628" * 20)
    assert (box.left, box.right) == (pytest.approx(10 + 92 - 23), pytest.approx(10 + 92))


def test_a_block_of_several_lines_is_not_cut() -> None:
    block = Place(0, 400, Box(1, 10.0, 10.0, 110.0, 210.0))
    assert pages.boxes([block], 100, 120, "a" * 400) == (block.box,)


@given(some.integers(0, 60), some.integers(1, 60), some.text(min_size=0, max_size=80), some.integers(0, 70))
def test_no_cut_box_leaves_its_line(start: int, length: int, text: str, offset: int) -> None:
    places = [line(0, 20), line(20, 40, 12), line(41, 60, 24)]
    found = pages.boxes(places, start, start + length, text, offset)
    whole = {place.box.top: place.box for place in places}
    for box in found:
        assert whole[box.top].left - 0.01 <= box.left <= box.right <= whole[box.top].right + 0.01


# Which PDF


def test_a_pdf_that_changed_is_not_shown_until_it_is_read_again(library: Library, tmp_path: Path) -> None:
    chunk, start, end = passage(library)
    before = library.page_image("granite", 1)
    file = tmp_path / "granite.pdf"
    original = file.read_bytes()
    file.write_bytes(pdf(["Something else."]))
    with pytest.raises(NotFound, match="'granite' has changed since its text was read"):
        library.page_image("granite", 1)
    found = library.proof(chunk.address, start, end)
    assert (found.no_pages, found.quote) == ("the PDF of 'granite' has changed since its text was read", QUOTE)
    assert plain(found.quote) == plain(QUOTE)
    assert len(found.boxes) == 2
    file.write_bytes(original)
    assert library.page_image("granite", 1) == before
    file.unlink()
    with pytest.raises(NotFound, match="no longer where it was"):
        library.pages("granite")


def test_texts_that_would_be_cut_otherwise_by_now_keep_their_pages(library: Library, tmp_path: Path) -> None:
    mark = library.page_image("granite", 1).mark
    with Library.open(tmp_path, embedder=HashedWords(), overrides={"chunking.target_tokens": 77}) as other:
        assert other.page_image("granite", 1).mark == mark


def test_papers_without_a_pdf_say_what_they_were_read_from(tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        put_records(
            library, record("listed", "An abstract.", pdf_path=""), record("lost", "Another.", pdf_path="a.pdf")
        )
        (tmp_path / "notes.md").write_text("# Notes\n\nWords about stones, some of them hard.\n")
        library.add(tmp_path / "notes.md")
        for name, reason in {
            "listed": "it has no text but its record, and its record names no PDF",
            "lost": "names is not in the folder of PDFs",
            "notes": "it was read from Markdown",
        }.items():
            with pytest.raises(NotFound, match=reason):
                library.pages(name)
        assert library.proof("listed/abstract").no_pages.startswith("'listed' has no pages to show")


def test_a_record_leads_to_its_pdf_but_not_out_of_the_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "library", tmp_path / "secret.pdf"
    inside.mkdir()
    outside.write_bytes(pdf())
    (inside / "paper.pdf").write_bytes(pdf())
    (inside / "link.pdf").symlink_to(outside)
    (inside / "void.pdf").touch()
    (inside / "closed.pdf").write_bytes(pdf(password="secret"))  # noqa: S106
    with Library.init(inside, embedder=HashedWords()) as library:
        names = {
            "good": "paper.pdf",
            "up": "../secret.pdf",
            "link": "link.pdf",
            "whole": str(outside),
            "shut": "closed.pdf",
            "void": "void.pdf",
        }
        put_records(library, *(record(name, "An abstract.", pdf_path=path) for name, path in names.items()))
        assert len(library.pages("good").sheets) == 1
        for name in ("up", "link", "whole"):
            with pytest.raises(NotFound, match="is not in the folder of PDFs"):
                library.pages(name)
        with pytest.raises(NotFound, match="'shut' is encrypted"):
            library.pages("shut")
        assert len(library.pages("good").sheets) == 1
        with pytest.raises(NotFound, match="'void' is empty"):
            library.pages("void")


def marker(folder: Path, scale: float = 1.0) -> None:
    box = [55.0 * scale, 90.0 * scale, 345.0 * scale, 160.0 * scale]
    block = {"id": "/page/0/Text/0", "block_type": "Text", "html": f"<p>{' '.join(LINES)}</p>", "bbox": box}
    page = {"id": "/page/0/Page/0", "block_type": "Page", "html": "", "children": [block]}
    (folder / "paper.json").write_text(json.dumps({"block_type": "Document", "children": [page]}))


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_what_marker_read_is_marked_on_the_pdf_beside_it(tmp_path: Path, scale: float) -> None:
    marker(tmp_path, scale)
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        library.add(tmp_path / "paper.json")
        chunk, start, end = passage(library)
        alone = library.proof(chunk.address, start, end)
        assert (alone.page, len(alone.boxes)) == (1, 1)
        assert "it was read from Marker's JSON" in alone.no_pages
        (tmp_path / "paper.pdf").write_bytes(pdf())
        found = library.proof(chunk.address, start, end)
        assert (found.no_pages, len(found.boxes)) == ("", 2)
        assert Reader(library).spelled("paper", found.boxes) == plain(QUOTE)


def test_what_marker_read_of_another_pdf_is_not_marked_on_this_one(tmp_path: Path) -> None:
    marker(tmp_path)
    (tmp_path / "paper.pdf").write_bytes(pdf(["Nothing of what was quoted stands here."]))
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        library.add(tmp_path / "paper.json")
        chunk, start, end = passage(library)
        assert library.proof(chunk.address, start, end).boxes == ()


def test_the_abstract_of_a_record_is_marked_where_the_paper_has_it(tmp_path: Path) -> None:
    (tmp_path / "granite.pdf").write_bytes(pdf())
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        put_records(library, record("granite", " ".join(LINES), pdf_path="granite.pdf"))
        library.add(tmp_path / "granite.pdf", paper_id="granite")
        text = library.text("granite/abstract")
        start = text.index(QUOTE)
        found = library.proof("granite/abstract", start, start + len(QUOTE))
        assert (found.page, found.quote) == (1, QUOTE)
        assert Reader(library).spelled("granite", found.boxes) == plain(QUOTE)


# Proofs


def test_a_proof_has_the_quote_what_is_around_it_and_its_neighbours(library: Library) -> None:
    chunk, start, end = passage(library)
    found = library.proof(chunk.address, start, end)
    text = library.text(chunk.address)
    assert (found.before + found.quote + found.after) in text
    assert text[found.start : found.end] == found.quote == QUOTE
    whole = library.proof(chunk.address)
    assert (whole.quote, whole.start, whole.end) == (chunk.text, chunk.start, chunk.end)


@pytest.mark.parametrize(("start", "end"), [(5, 5), (9, 3), (0, 10**8), (10**8, None), (None, 0)])
def test_a_quote_that_is_none_is_refused(library: Library, start: int | None, end: int | None) -> None:
    chunk, _, _ = passage(library)
    with pytest.raises(InvalidInput, match="there is no quote from"):
        library.proof(chunk.address, start, end)


@pytest.mark.parametrize("address", ["granite", "granite/ch1"])
def test_a_whole_paper_or_chapter_is_no_proof(library: Library, address: str) -> None:
    with pytest.raises(NotFound):
        library.proof(address)


# Processes


def bomb(depth: int = 12, times: int = 12) -> bytes:
    """A page that draws a form that draws a form …, each many times."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"]
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>"
    objects += [page, b"<</Length 4>>stream\n/F Do\nendstream"]
    for level in range(depth):
        drawn = b"/F Do " * times if level + 1 < depth else b"0 0 300 300 re f"
        inner = b"/Resources<</XObject<</F %d 0 R>>>>" % (level + 6) if level + 1 < depth else b""
        head = b"<</Type/XObject/Subtype/Form/BBox[0 0 300 300]%s/Length %d>>" % (inner, len(drawn))
        objects.append(head + b"stream\n" + drawn + b"\nendstream")
    numbered = b"".join(b"%d 0 obj%s\nendobj\n" % (number, one) for number, one in enumerate(objects, start=1))
    return b"%PDF-1.4\n" + numbered + b"trailer<</Root 1 0 R/Size %d>>\n%%%%EOF" % (len(objects) + 1)


@contextmanager
def nothing_started(drawers: Drawers) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(drawers, "_started", lambda: pytest.fail("it is drawn a second time"))
        yield


def test_a_page_that_takes_too_long_is_given_up_and_the_next_is_drawn() -> None:
    # It takes memory, too, the faster the machine the more.
    drawers, bad = Drawers(Allowance(seconds=4.0, megabytes=16_384)), opened(bomb(), "bomb")
    try:
        with pytest.raises(BudgetExceeded, match="a page of 'bomb' takes longer than 4 s to draw"):
            sheets.picture(drawers, bad, 1, 300)
        with nothing_started(drawers), pytest.raises(BudgetExceeded):
            sheets.picture(drawers, bad, 1, 300)
        assert sheets.picture(drawers, opened(pdf()), 1, 300).startswith(b"\x89PNG")
    finally:
        drawers.close()


def test_a_page_that_takes_too_much_memory_is_given_up_and_the_next_is_drawn() -> None:
    drawers, bad = Drawers(Allowance(megabytes=700)), opened(bomb(), "bomb")
    try:
        with pytest.raises((BudgetExceeded, ParserCrashed), match="memory"):
            sheets.picture(drawers, bad, 1, 300)
        with nothing_started(drawers), pytest.raises((BudgetExceeded, ParserCrashed), match="memory"):
            sheets.picture(drawers, bad, 1, 300)
        assert sheets.picture(drawers, opened(pdf()), 1, 300).startswith(b"\x89PNG")
    finally:
        drawers.close()


def test_a_process_that_died_or_left_is_replaced() -> None:
    drawers, good = Drawers(Allowance(idle_seconds=0.3)), opened(pdf())
    try:
        first = sheets.picture(drawers, good, 1, 300)
        os.kill(drawers._idle[0]._process.pid, signal.SIGKILL)
        assert sheets.picture(drawers, good, 1, 300) == first
        left = drawers._idle[0]
        left._process.wait(10)
        assert sheets.picture(drawers, good, 1, 300) == first
        assert drawers._idle != [left]
    finally:
        drawers.close()
    assert not drawers._all


def test_many_may_look_at_once_and_each_sees_what_it_asked_for(drawers: Drawers) -> None:
    papers = [opened(pdf(*([f"Paper {number}, page {page}"] for page in range(3))), str(number)) for number in range(3)]
    asked = [(paper, page) for page in (1, 2, 3) for paper in papers] * 2
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda one: sheets.words(drawers, *one), asked))
    said = [" ".join(word.text for word in one.words) for one in found]
    assert said == [f"Paper {paper.name}, page {page - 1}" for paper, page in asked]
    assert len(drawers._all) <= 2


def test_without_another_process_the_same_is_drawn(drawers: Drawers) -> None:
    inside, paper = Inside(), opened(pdf(LINES, ["Two."]))
    assert sheets.sizes(inside, paper) == sheets.sizes(drawers, paper)
    assert sheets.picture(inside, paper, 2, 400) == sheets.picture(drawers, paper, 2, 400)
    assert sheets.words(inside, paper, 1) == sheets.words(drawers, paper, 1)
    for who in (inside, drawers):
        with pytest.raises(NotFound, match="'paper' has no page 3: its pages are 1 to 2"):
            sheets.words(who, paper, 3)
        with pytest.raises(NotFound, match="'none' is damaged, no PDF or without pages"):
            sheets.sizes(who, opened(b"no PDF", "none"))
        assert sheets.sizes(who, paper)[0] == 2
    inside.close()


class Liar:
    def __init__(self, *reply: Any) -> None:
        self.reply = reply

    def ask(self, *_: object) -> Any:
        return self.reply

    def close(self) -> None: ...


@pytest.mark.parametrize(
    "reply",
    [{}, {"total": -1, "sizes": []}, {"total": 1, "sizes": [[1, float("inf")]]}, {"total": 1, "sizes": [[True, 2]]},
     {"size": [1, 2], "words": [["a", 1, 2, 3]]}, {"size": [1, 2], "words": [[5, 1, 2, 3, 4]]},
     {"size": ["1", 2], "words": []}, {"marks": 7}],
)  # fmt: skip
def test_what_is_no_page_is_not_believed(reply: dict[str, Any]) -> None:
    paper, liar = opened(b""), Liar(reply, b"<svg>")
    for asked in (
        lambda: sheets.sizes(liar, paper),
        lambda: sheets.picture(liar, paper, 1, 300),
        lambda: sheets.words(liar, paper, 1),
        lambda: sheets.marks(liar, paper, 1, []),
    ):
        with pytest.raises(ParserCrashed):
            asked()


@needs_data
def test_odd_and_hostile_pdfs_are_drawn_or_refused_and_their_sizes_agree(drawers: Drawers) -> None:
    with tarfile.open(DATA / "adversarial/pdfjs_dev/pdfs.tar.xz") as archive:
        members = [one for one in archive.getmembers() if one.name.endswith(".pdf")][::6]
        files = {one.name: archive.extractfile(one) for one in members}
        contents = {name: file.read() for name, file in files.items() if file}
    assert len(contents) >= 30
    drawn = 0
    for name, content in contents.items():
        paper = opened(content, name)
        with suppress(NotFound):
            _, (sheet, *_) = sheets.sizes(drawers, paper)
            assert sheets.picture(drawers, paper, 1, 400).startswith(b"\x89PNG")
            assert sheets.words(drawers, paper, 1).sheet == sheet, name
            drawn += 1
    assert drawn >= 25
