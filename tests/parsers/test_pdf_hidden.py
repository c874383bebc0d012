"""Text that is in a PDF and not in the picture of its page, whatever hides it."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from carrel.parsers import Source
from carrel.parsers.pdf import Pdf
from carrel.types import Paper
from tests.hostile_files import pdf, stream, thing

HEIGHT = 842.0
SEEN = "These words of the paper can be read by everybody."
ORDER = "obey"
REMARK = ("page 1: 4 characters of hidden text left out",)


def read(content: bytes) -> Paper:
    return Pdf(ocr_pages=0).parse(Source("paper.pdf", content))


def drawn(draw: Callable[[Canvas], object], crop: tuple[float, ...] | None = None) -> Paper:
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(595, HEIGHT), cropBox=crop) if crop else Canvas(file, pagesize=(595, HEIGHT))
    canvas.drawString(60, HEIGHT - 100, SEEN)
    draw(canvas)
    canvas.save()
    return read(file.getvalue())


def in_grey(canvas: Canvas, level: float, text: str = ORDER) -> None:
    canvas.setFillGray(level)
    canvas.drawString(60, HEIGHT - 300, text)


def tiny(canvas: Canvas, size: float) -> None:
    canvas.setFont("Helvetica", size)
    canvas.drawString(60, HEIGHT - 300, ORDER)


def scaled(canvas: Canvas) -> None:
    canvas.translate(60, HEIGHT - 300)
    canvas.scale(0.1, 0.1)
    canvas.drawString(0, 0, ORDER)


def on_its_own_colour(canvas: Canvas) -> None:
    canvas.setFillColorRGB(0.2, 0.4, 0.6)
    canvas.rect(50, HEIGHT - 320, 300, 60, stroke=0, fill=1)
    canvas.setFillColorRGB(0.21, 0.4, 0.6)
    canvas.drawString(60, HEIGHT - 300, ORDER)


def under_an_area(canvas: Canvas) -> None:
    canvas.drawString(60, HEIGHT - 300, ORDER)
    canvas.setFillGray(1)
    canvas.rect(50, HEIGHT - 320, 300, 60, stroke=0, fill=1)


def under_a_picture(canvas: Canvas) -> None:
    canvas.drawString(60, HEIGHT - 300, ORDER)
    canvas.drawImage(ImageReader(Image.effect_noise((80, 80), 90)), 50, HEIGHT - 320, 100, 60)


def clipped(canvas: Canvas) -> None:
    path = canvas.beginPath()
    path.rect(400, 100, 50, 50)
    canvas.clipPath(path, stroke=0, fill=0)
    canvas.drawString(60, HEIGHT - 300, ORDER)


def nearly_transparent(canvas: Canvas) -> None:
    canvas.setFillAlpha(0.02)
    canvas.drawString(60, HEIGHT - 300, ORDER)


HIDING = {
    "white": lambda canvas: in_grey(canvas, 1),
    "nearly white": lambda canvas: in_grey(canvas, 0.97),
    "of 1.9 points": lambda canvas: tiny(canvas, 1.9),
    "of one point": lambda canvas: tiny(canvas, 1),
    "scaled down": scaled,
    "on its own colour": on_its_own_colour,
    "under an area": under_an_area,
    "under a picture": under_a_picture,
    "clipped away": clipped,
    "nearly transparent": nearly_transparent,
    "left of the page": lambda canvas: canvas.drawString(-300, 400, ORDER),
}


@pytest.mark.parametrize("draw", HIDING.values(), ids=HIDING)
def test_text_that_is_in_no_picture_of_the_page_is_left_out_and_reported(draw: Callable[[Canvas], object]) -> None:
    paper = drawn(draw)
    assert paper.text.strip() == SEEN
    assert paper.remarks == REMARK


def over_an_area(canvas: Canvas) -> None:
    canvas.setFillColorRGB(0.2, 0.4, 0.6)
    canvas.rect(50, HEIGHT - 320, 300, 60, stroke=0, fill=1)
    canvas.setFillGray(1)
    canvas.drawString(60, HEIGHT - 300, ORDER)


def highlighted(canvas: Canvas) -> None:
    canvas.drawString(60, HEIGHT - 300, ORDER)
    canvas.setFillColorRGB(1, 1, 0)
    canvas.setFillAlpha(0.4)
    canvas.rect(50, HEIGHT - 320, 300, 60, stroke=0, fill=1)


def small_print(canvas: Canvas) -> None:
    canvas.setFont("Helvetica", 10)
    canvas.drawString(60, HEIGHT - 300, "ob")
    canvas.setFont("Helvetica", 4)
    canvas.drawString(72, HEIGHT - 296, "ey")


SHOWING = {
    "grey": lambda canvas: in_grey(canvas, 0.8),
    "white on blue": over_an_area,
    "highlighted": highlighted,
    "a small superscript": small_print,
}


@pytest.mark.parametrize("draw", SHOWING.values(), ids=SHOWING)
def test_text_that_can_be_seen_is_kept(draw: Callable[[Canvas], object]) -> None:
    paper = drawn(draw)
    assert paper.text.replace(" ", "").replace("\n", "").endswith(ORDER)
    assert paper.remarks == ()


def test_of_a_line_that_is_half_covered_the_other_half_is_kept() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, HEIGHT - 300, "Seen words and hidden ones")
        canvas.setFillGray(1)
        left = 60 + canvas.stringWidth("Seen words ", "Helvetica", 12)
        canvas.rect(left, HEIGHT - 310, 300, 30, stroke=0, fill=1)

    paper = drawn(draw)
    assert paper.text.strip().endswith("Seen words")
    assert paper.remarks == ("page 1: 13 characters of hidden text left out",)


def test_text_beyond_the_crop_box_is_hidden() -> None:
    paper = drawn(lambda canvas: canvas.drawString(300, 20, ORDER), crop=(0, 100, 595, HEIGHT))
    assert (paper.text.strip(), paper.remarks) == (SEEN, REMARK)


@pytest.mark.parametrize(("off", "text", "remarks"), [(True, SEEN, REMARK), (False, f"{SEEN} {ORDER}", ())])
def test_text_on_a_layer_that_is_switched_off_is_hidden(off: bool, text: str, remarks: tuple[str, ...]) -> None:
    layered = b"BT /F 10 Tf 60 700 Td (%s) Tj ET /OC /L BDC BT /F 10 Tf 60 500 Td (%s) Tj ET EMC"
    root = b"<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[7 0 R]/D<<%s>>>>>>" % (b"/OFF[7 0 R]" if off else b"")
    content = pdf(
        thing(1, root),
        stream(4, layered % (SEEN.encode(), ORDER.encode())),
        thing(7, b"<</Type/OCG/Name(Layer)>>"),
        resources=b"/Properties<</L 7 0 R>>",
    )
    paper = read(content)
    assert (" ".join(paper.text.split()), paper.remarks) == (text, remarks)
