"""The library that the page is looked at with: what the demo brings, and a PDF in two columns."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, FrameBreak, PageTemplate, Paragraph, Spacer

from carrel import Library

TITLE = "Growth of the map lichen on dry stone walls"
QUESTION = "How fast does the map lichen grow on granite walls?"
PROOF = "On granite walls the map lichen grew by 0.61 mm a year, which is half of what it grew on slate."
UNANSWERABLE = "Which enzyme repairs double-strand breaks in tardigrades?"

_SECTIONS = {
    "1 Introduction": (
        "Stone walls carry lichens for centuries. Their size tells how long a surface has lain open, if their rate of "
        "growth is known. That rate depends on rock, light and rain, and it is rarely measured on the same wall twice.",
        "This note measures the map lichen, Rhizocarpon geographicum, on walls of known age in three valleys. It asks "
        "how much of the difference between walls is explained by their rock alone.",
    ),
    "2 Method": (
        "We photographed 214 thalli on 31 walls with a calibrated frame, each in the same week of five years. "
        "Diameters were taken along the longest axis. Thalli that touched a neighbour were left out, because contact "
        "slows them.",
        "Lichenometry relates the diameter of a thallus to the age of the surface. We fitted a line for each rock and "
        "compared the lines by resampling the walls, not the thalli, as thalli of one wall are not independent.",
    ),
    "3 Results": (
        f"{PROOF} On limestone no map lichen was found. North-facing walls differed from south-facing ones by less "
        "than the error of measurement, once rock was held fixed.",
        "Rain explained a further fifth of the variance. In the driest valley growth nearly stopped in two of the five "
        "years, and the thalli lost colour at their margins.",
    ),
    "4 Discussion": (
        "A surface dated with the growth rate of another rock is off by a factor of two. Published curves that mix "
        "rocks should therefore not be used for walls. A rate of growth belongs to a rock and a climate.",
    ),
}


def write_pdf(path: Path) -> Path:
    styles = getSampleStyleSheet()
    body = ParagraphStyle(
        "body", parent=styles["BodyText"], fontName="Times-Roman", fontSize=10, leading=13, alignment=4
    )
    story: list[Flowable] = [
        Paragraph(TITLE, styles["Title"]),
        Spacer(1, 6),
        FrameBreak(),
    ]
    for heading, paragraphs in _SECTIONS.items():
        story.append(Paragraph(heading, styles["Heading2"]))
        story += [Paragraph(text, body) for text in paragraphs]
    width, height = A4
    column = (width - 130) / 2
    frames = [
        Frame(50, height - 120, width - 100, 70),
        Frame(50, height - 460, column, 330),
        Frame(80 + column, height - 460, column, 330),
    ]
    made = BaseDocTemplate(str(path), pagesize=A4, title=TITLE, author="Ada Stone")
    made.addPageTemplates(PageTemplate(frames=frames))
    made.build(story)
    return path


def fill(folder: Path) -> None:
    """Two dozen papers: three full ones in Markdown, one PDF, references with abstracts."""
    with Library.init(folder) as library, as_file(files("carrel") / "demo") as demo:
        library.add(demo / "refs.jsonl", demo / "papers", write_pdf(folder / "stone-lichen.pdf"))
