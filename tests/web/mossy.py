"""Papers on moss beside the shelf: one with a picture and a table, its copy, and one that is retracted and hostile."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

from carrel import Library

SHARED = (
    "Moss on roofs holds water for nine days after rain, and the slates below it stay dark and cool until the sun has "
    "dried the cushions from above, as every roofer in the valley knows and few botanists have measured."
)
SCRIPT = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
CAPTION = "Water held by moss on roofs of four kinds of slate"
FIRST, SECOND, COPY = "moss-2021", "moss-1999", "moss-2022"

_FIRST = f"""---
id: {FIRST}
title: "Moss on roofs & walls: a survey"
authors: ["Ada Stone", "Bo Rock"]
year: 2021
venue: "Annals of Moss"
tags: [moss, roofs]
---

# Moss on roofs & walls: a survey

## 1 Introduction

{SHARED}

## 2 Method

We weighed moss cushions from forty roofs in spring. Each cushion of moss was dried, weighed and soaked again, and
Figure 1 shows what it held.

![Figure 1: {CAPTION}](held.png)

### 2.1 Slates

Roofs of thin slate carried half as much moss as roofs of thick slate, because thin slate warms sooner.

## 3 Results

Moss covers roofs that face north. It left roofs that face south within four summers.

Table 1: Moss on roofs by slate

| Slate | Moss |
|---|---|
| thin | 12 g |
| thick | 25 g |
"""
_SECOND = f"""---
id: {SECOND}
title: "Roofs, moss and {SCRIPT.replace('"', "'")}"
authors: ["Eve <b>Bold</b>"]
year: 1999
venue: "Roof Letters"
tags: [roofs, retracted]
---

# Roofs

## Findings

Moss ruins roofs, wrote the roofers, {SCRIPT} and so they scraped the moss from roofs each spring.

## Water

{SHARED}
"""


_COPY = _FIRST.replace(FIRST, COPY).replace("year: 2021", "year: 2022").replace('survey"', 'second survey"')


def put_moss(library: Library, folder: Path) -> None:
    folder.mkdir()
    picture = Image.new("RGB", (320, 200), "white")
    ImageDraw.Draw(picture).rectangle((40, 60, 120, 180), fill="seagreen")
    picture.save(folder / "held.png")
    for name, text in ((FIRST, _FIRST), (SECOND, _SECOND), (COPY, _COPY)):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    library.add(folder)
