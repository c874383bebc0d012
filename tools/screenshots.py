"""The pictures of the page in docs/images, and the walk through it: python -m tools.screenshots [NAME …].

Everything in them is what a real browser shows of a real library; see tools/showcase.py for what that library holds.
"""

from __future__ import annotations

import io
import sys
import tempfile
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote_plus

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page, expect
from tests.http.serving import running
from tests.web import browsing
from tests.web.shelf import QUESTION, UNANSWERABLE
from tools import showcase

from carrel import Library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SIZES = {"1440": browsing.WIDE, "390": browsing.PHONE}
SCHEMES = ("light", "dark")
# Sharp on a screen of today; what is on the page is mostly text, so a few colours are enough.
SHARPNESS = {"1440": 1.5, "390": 2}
COLOURS = 256
LARGEST = 250_000
ASKED = "Which benchmark evaluates document-level embeddings?"
DRAWN = """
async () => {
  await document.fonts.ready;
  const seen = [...document.images].filter((one) => one.getBoundingClientRect().top < innerHeight);
  await Promise.all(seen.map((one) => one.decode().catch(() => {})));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}
"""
BEFORE = ("What is lexical retrieval based on?", "Why do digital libraries need metadata?", QUESTION, UNANSWERABLE)


class Picture(NamedTuple):
    path: str
    prepare: Callable[[Page], object] = lambda _page: None


def main(names: list[str]) -> None:
    executable = browsing.executable()
    if executable is None:
        sys.exit("There is no Chromium: 'make browser' installs Debian's where it may.")
    IMAGES.mkdir(exist_ok=True)
    with served() as url, browsing.chromium(executable) as browser:
        for name, size, scheme in product(PICTURES, SIZES, SCHEMES):
            if not names or name in names:
                take(browser, url, name, size, scheme)
        if not names or "walk" in names:
            walk(browser, url)


@contextmanager
def served() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        shelf = Path(folder, "papers")
        shelf.mkdir()
        showcase.fill(shelf)
        with Library.open(shelf) as library:
            for question in BEFORE:
                library.ask(question)
            with running(library, requests_per_minute=0) as server:
                yield server.url


def take(browser: Browser, url: str, name: str, size: str, scheme: str) -> None:
    options: dict[str, Any] = {"viewport": SIZES[size], "color_scheme": scheme, "device_scale_factor": SHARPNESS[size]}
    path, prepare = PICTURES[name]
    with browsing.looking(browser, url, **options) as (page, trouble):
        page.goto(path)
        prepare(settled(page))
        content = packed(Image.open(io.BytesIO(settled(page).screenshot())))
    target = IMAGES / f"{name}-{size}-{scheme}.png"
    target.write_bytes(content)
    print(f"{target.name}: {len(content) // 1000} kB", *trouble.requests, *trouble.errors)
    if len(content) > LARGEST:
        sys.exit(f"{target.name} is larger than {LARGEST // 1000} kB")


def settled(page: Page) -> Page:
    """Nothing is awaited any more, and the letters are there."""
    page.wait_for_load_state("networkidle")
    for waiting in (".loading", "[aria-busy=true]", ".is-empty.library-row"):
        expect(page.locator(f"main {waiting}")).to_have_count(0)
    page.evaluate(DRAWN)
    return page


def packed(image: Image.Image) -> bytes:
    plain = image.convert("RGB")
    file = io.BytesIO()
    plain.quantize(palette=few_colours(plain), dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def few_colours(image: Image.Image) -> Image.Image:
    """A palette: half of it what the picture has most of, exactly, so that its grounds stay what they are."""
    counted = cast("list[tuple[int, tuple[int, int, int]]]", image.getcolors(image.width * image.height))
    most = sorted(counted, reverse=True)[: COLOURS // 2]
    others = (
        image.quantize(COLOURS - len(most), Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).getpalette() or []
    )
    palette = Image.new("P", (1, 1))
    palette.putpalette([*(level for _, colour in most for level in colour), *others])
    return palette


def open_proof(page: Page) -> None:
    page.locator(".citation-mark").first.click()
    expect(page.get_by_text("Checked: these words stand in the source")).to_be_visible()
    expect(page.locator(".sheet-picture")).to_be_visible()


def explain_first(page: Page) -> None:
    page.get_by_role("button", name="Explain").first.click()


def see_concepts(page: Page) -> None:
    expect(page.locator(".graph-node").first).to_be_visible()


PICTURES = {
    "ask": Picture(f"/ask?q={quote_plus(ASKED)}"),
    "proof": Picture(f"/ask?q={quote_plus(QUESTION)}", open_proof),
    "refusal": Picture(f"/ask?q={quote_plus(UNANSWERABLE)}"),
    "search": Picture("/search?q=citation+graph", explain_first),
    "figures": Picture("/search?q=questions+answered+and+time&tab=figures"),
    "library": Picture("/library"),
    "paper": Picture("/paper/cohan-etal-2020-specter"),
    "graph": Picture(f"/graph?name={quote_plus(showcase.CONCEPT)}&hops=3", see_concepts),
    "health": Picture("/health"),
}


# The walk: a question, its answer, the proof of a sentence, the concepts around it.

FRAME = (960, 600)
ARROW = ((0, 0), (0, 17), (4, 13), (7, 20), (10, 19), (7, 12), (12, 12))


class Reel:
    """What is seen, moment by moment, and where the pointer is."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.frames: list[Image.Image] = []
        self.durations: list[int] = []
        self.at = (0.0, 0.0)

    def keep(self, milliseconds: int) -> None:
        image = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB")
        if self.at != (0.0, 0.0):
            corners = [(self.at[0] + right, self.at[1] + down) for right, down in ARROW]
            ImageDraw.Draw(image).polygon(corners, "#1d2126", "#ffffff", 1)
        self.frames.append(image.resize(FRAME, Image.Resampling.LANCZOS))
        self.durations.append(milliseconds)

    def point(self, selector: str) -> None:
        target = self._page.locator(selector).first
        box = target.bounding_box()
        if box is None:
            sys.exit(f"there is no {selector!r} to point at")
        self.at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self._page.mouse.move(*self.at)

    def _palette(self) -> Image.Image:
        """Colours for all of it, so that nothing flickers."""
        width, height = FRAME
        together = Image.new("RGB", (width, height * len(self.frames)))
        for place, frame in enumerate(self.frames):
            together.paste(frame, (0, place * height))
        return few_colours(together)

    def save(self, path: Path) -> None:
        palette = self._palette()
        shown = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames]
        first, *rest = shown
        first.save(path, save_all=True, append_images=rest, duration=self.durations, loop=0, optimize=True)
        print(f"{path.name}: {path.stat().st_size // 1000} kB, {len(shown)} frames")


def walk(browser: Browser, url: str) -> None:
    with browsing.looking(browser, url, viewport={"width": 1280, "height": 800}) as (page, _):
        reel = Reel(page)
        page.goto("/ask")
        settled(page)
        reel.keep(900)
        box = page.get_by_label("Question", exact=True)
        words = QUESTION.split()
        for end in range(2, len(words) + 1, 2):
            box.fill(" ".join(words[:end]))
            reel.keep(180)
        box.fill(QUESTION)
        reel.keep(500)
        box.press("Enter")
        expect(page.get_by_role("heading", name="References")).to_be_visible()
        settled(page)
        reel.keep(2200)
        reel.point(".citation-mark")
        expect(page.get_by_role("tooltip")).to_be_visible()
        reel.keep(2200)
        open_proof(page)
        settled(page)
        reel.keep(3200)
        page.goto(f"/graph?name={quote_plus(showcase.CONCEPT)}&hops=3")
        settled(page)
        reel.at = (0.0, 0.0)
        reel.keep(3000)
        reel.save(IMAGES / "walk.gif")


if __name__ == "__main__":
    main(sys.argv[1:])
