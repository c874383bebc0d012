"""Scanned pages: drawn with reportlab, made pictures by pdfium, and read again."""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial

import pypdfium2  # type: ignore[import-untyped]
import pytest
from PIL import Image, ImageDraw
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from carrel.errors import BudgetExceeded, NoTextLayer
from carrel.isolation.process import Budget
from carrel.isolation.workers import Workers
from carrel.parsers import Source, ocr
from carrel.parsers.pdf import Pdf
from carrel.settings import Ingest
from carrel.types import BlockKind, Box, Paper

A4 = (595.0, 842.0)
SMALL = (300.0, 200.0)
OCR_REMARK = "page {} was read by OCR: quotes may differ from the print"
LEFT = (
    "The harbour was measured in 1887 by two\n"
    "surveyors, who walked along its wall with\n"
    "a chain of brass and noted 412 lengths of\n"
    "it. Their notebooks survive. Each page has\n"
    "a date, a temperature and a short remark\n"
    "about the weather, often that it rained.\n"
    "Nobody has compared the entries until now"
)
RIGHT = (
    "with those of the tide gauge that stood at\n"
    "the pier. We find that both agree to within\n"
    "3.5 centimetres, except in January, when\n"
    "the gauge was frozen. The difference grows\n"
    "with the distance from the pier and falls\n"
    "again behind the lighthouse, for reasons\n"
    "that the third section tries to explain."
)
NOTE = (
    "The small page has three lines of text\n"
    "and each of them stands at its place\n"
    "until somebody turns the page around."
)
pytestmark = pytest.mark.skipif(not ocr.is_installed(), reason=f"needs the extra: {ocr.INSTALL}")

Draw = Callable[[Canvas], object]


def pdf(*pages: Draw, size: tuple[float, float] = A4) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=size)
    for page in pages:
        page(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def put(canvas: Canvas, left: float, bottom: float, text: str, size: float = 10) -> None:
    canvas.setFont("Times-Roman", size)
    for number, line in enumerate(text.split("\n")):
        canvas.drawString(left, bottom - 1.3 * size * number, line)


def columns(canvas: Canvas) -> None:
    put(canvas, 110, 760, "Surveys of a Harbour and Its Tides", size=20)
    put(canvas, 60, 700, LEFT)
    put(canvas, 320, 700, RIGHT)


def note(canvas: Canvas) -> None:
    put(canvas, 40, 150, NOTE, size=12)


def picture_of(page: Draw, size: tuple[float, float] = A4) -> Image.Image:
    document = pypdfium2.PdfDocument(pdf(page, size=size))
    picture: Image.Image = document[0].render(scale=150 / 72).to_pil()
    return picture


def scan(picture: Image.Image, *, scale: float = 72 / 150) -> Draw:
    """A page that is nothing but a picture."""

    def draw(canvas: Canvas) -> None:
        width, height = picture.width * scale, picture.height * scale
        canvas.setPageSize((width, height))
        canvas.drawImage(ImageReader(picture), 0, 0, width, height)

    return draw


def rotated(content: bytes, degrees: int) -> bytes:
    """The same, shown turned to the right."""
    document, buffer = pypdfium2.PdfDocument(content), io.BytesIO()
    document[0].set_rotation(degrees)
    document.save(buffer)
    return buffer.getvalue()


def parse(content: bytes, parser: Pdf | None = None) -> Paper:
    return (parser or Pdf()).parse(Source("scan.pdf", content))


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def box_of(paper: Paper, words: str) -> Box:
    at = paper.text.index(words)
    return next(place.box for place in paper.places if place.start <= at < place.end)


def assert_near(found: Box, wanted: Box, points: float = 2.0) -> None:
    assert found.page == wanted.page
    sides = ("left", "top", "right", "bottom")
    assert [getattr(found, side) for side in sides] == [
        pytest.approx(getattr(wanted, side), abs=points) for side in sides
    ]


@pytest.fixture(scope="module")
def printed() -> Paper:
    return parse(pdf(columns))


@pytest.fixture(scope="module")
def scanned() -> Paper:
    return parse(pdf(scan(picture_of(columns))))


def test_the_words_of_a_scan_are_recognised_and_it_is_said_so(scanned: Paper, printed: Paper) -> None:
    there, found = words(printed.text), words(scanned.text)
    assert (there & found).total() > 0.95 * there.total()
    assert (there & found).total() > 0.95 * found.total()
    assert scanned.remarks == (OCR_REMARK.format(1),)


def test_columns_of_a_scan_are_read_one_after_the_other(scanned: Paper) -> None:
    assert "Nobody has compared the entries until now with those of the tide gauge" in scanned.text
    assert scanned.reference.title == "Surveys of a Harbour and Its Tides"
    assert [block.kind for block in scanned.blocks] == [BlockKind.HEADING, BlockKind.TEXT]


@pytest.mark.parametrize("line", ["Surveys of a Harbour", "a chain of brass", "3.5 centimetres", "lighthouse"])
def test_a_recognised_line_stands_where_it_is_printed(scanned: Paper, printed: Paper, line: str) -> None:
    assert_near(box_of(scanned, line), box_of(printed, line))


@pytest.mark.parametrize(
    ("turned", "rotation"),
    [(270, 0), (90, 90), (90, 270)],
    ids=["right", "upright", "shown on its head"],
)
def test_a_scan_is_read_whichever_way_it_lies(turned: int, rotation: int) -> None:
    upright = box_of(parse(pdf(note, size=SMALL)), "until")
    paper = parse(rotated(pdf(scan(picture_of(note, SMALL).rotate(turned, expand=True))), rotation))
    assert words(paper.text) == words(NOTE)
    left, top, right, bottom = upright.left, upright.top, upright.right, upright.bottom
    width, height = SMALL
    wanted = {
        0: upright,
        180: Box(1, width - right, height - bottom, width - left, height - top),
        270: Box(1, height - bottom, left, height - top, right),
    }[(turned - rotation) % 360]
    assert_near(box_of(paper, "until"), wanted)


@pytest.mark.parametrize("scale", [0.1, 4.0], ids=["tiny", "huge"])
def test_boxes_are_in_points_whatever_the_size_of_the_page(scale: float) -> None:
    box = box_of(parse(pdf(note, size=SMALL)), "until")
    paper = parse(pdf(scan(picture_of(note, SMALL), scale=scale)))
    times = scale * 150 / 72
    wanted = Box(1, box.left * times, box.top * times, box.right * times, box.bottom * times)
    assert_near(box_of(paper, "until"), wanted, points=2.0 * times)


def test_only_the_pages_without_text_are_recognised() -> None:
    asked: list[None] = []
    logo = ImageReader(Image.new("L", (60, 60), 90))
    parser = Pdf(more_time=lambda: asked.append(None))
    small = partial(Canvas.drawImage, image=logo, x=50, y=50, width=100, height=100)
    paper = parse(pdf(columns, scan(picture_of(note, SMALL)), lambda canvas: None, small), parser)
    assert paper.text.startswith("Surveys of a Harbour and Its Tides")
    assert "who walked along its wall with a chain of brass and noted 412 lengths" in paper.text
    assert "and each of them stands at its place" in paper.text
    assert box_of(paper, "stands at its place").page == 2
    assert paper.remarks == (OCR_REMARK.format(2),)
    assert len(asked) == 1


def test_what_cannot_be_read_is_left_out_and_counted() -> None:
    picture = picture_of(note, SMALL).convert("L")
    some = random.Random(3)  # noqa: S311
    scribble = [(100 + 3 * step, 310 + some.randint(-9, 9)) for step in range(120)]
    ImageDraw.Draw(picture).line(scribble, fill=0, width=3)
    paper = parse(pdf(scan(picture)))
    assert words(paper.text) == words(NOTE)
    assert paper.remarks == (OCR_REMARK.format(1), "1 line too unclear for OCR left out")


def test_of_more_scans_than_may_be_recognised_the_rest_is_named() -> None:
    page = scan(picture_of(note, SMALL))
    paper = parse(pdf(page, page, page), Pdf(ocr_pages=1))
    assert words(paper.text) == words(NOTE)
    assert paper.remarks == (OCR_REMARK.format(1), "pages 2–3 are scans and left out: ingest.ocr_pages is 1")


def test_a_scan_without_text_is_refused() -> None:
    with pytest.raises(NoTextLayer, match=r"'scan\.pdf' has no text layer") as caught:
        parse(pdf(scan(Image.new("L", (600, 400), 200))))
    assert caught.value.hint == "OCR, which reads pages that are pictures, found no text on them."


def test_without_the_extra_the_hint_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(NoTextLayer, match=r"'scan\.pdf' has no text layer") as caught:
        parse(pdf(scan(picture_of(note, SMALL))))
    assert caught.value.hint.startswith("pip install 'carrel[ocr]' reads scans. Or run it through OCR first")


def test_switched_off_the_hint_names_the_setting() -> None:
    with pytest.raises(NoTextLayer) as caught:
        parse(pdf(scan(picture_of(note, SMALL))), Pdf(ocr_pages=0))
    assert caught.value.hint.startswith("Set ingest.ocr = 'scans', or run it through OCR first")


def test_a_worker_reads_a_scan_just_the_same_and_each_page_has_its_own_time() -> None:
    content = pdf(scan(picture_of(note, SMALL)))
    with Workers(Budget()) as workers:
        assert workers.parse(Source("scan.pdf", content), "pdf") == parse(content)


@pytest.mark.parametrize(
    ("budget", "reason", "setting"),
    [
        (Budget(ocr_seconds=0.2), "OCR of one page took longer than 0.2 s", "ingest.ocr_seconds"),
        (Budget(megabytes=256), "needed more than 256 MB", "ingest.parse_megabytes"),
    ],
    ids=["time", "memory"],
)
def test_a_scan_that_takes_too_much_is_refused_with_what_to_raise(budget: Budget, reason: str, setting: str) -> None:
    with Workers(budget) as workers, pytest.raises(BudgetExceeded, match=reason) as caught:
        workers.parse(Source("scan.pdf", pdf(scan(picture_of(columns)))), "pdf")
    assert setting in caught.value.hint


def test_nothing_heavy_is_imported_for_pages_that_have_text() -> None:
    program = (
        "import sys; from carrel.parsers import Source; from carrel.parsers.pdf import Pdf\n"
        "Pdf().parse(Source('x.pdf', sys.stdin.buffer.read()))\n"
        "print({'rapidocr', 'cv2', 'onnxruntime'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], input=pdf(columns), capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"


def test_a_budget_is_what_the_settings_say() -> None:
    assert (Budget().ocr_pages, Budget().ocr_seconds) == (Ingest().ocr_pages, Ingest().ocr_seconds)
    assert Pdf()._ocr_pages == Ingest().ocr_pages
