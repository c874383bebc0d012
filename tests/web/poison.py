"""A library in which everything that can be written is written by somebody who means harm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from carrel import Library
from carrel.testing import HashedWords
from carrel.types import Prompt

PAYLOADS = {
    "script": "<script>ran('script')</script>",
    "script-remote": "<script src=https://evil.example/a.js></script>",
    "script-split": "<scr<script>ipt>ran('split')</scr</script>ipt>",
    "image-error": "<img src=x onerror=ran('error')>",
    "image-remote": "<img src='https://evil.example/b.png'>",
    "image-slash": '<img/src="x"/onerror=ran`slash`>',
    "broken-out": "\"><img src=x onerror=ran('out')>",
    "broken-out-single": "'><svg onload=ran('single')>",
    "attribute": '" onmouseover="ran(\'over\')" autofocus onfocus="ran(\'focus\')" x="',
    "svg": "<svg onload=ran('svg')><animate onbegin=ran('begin') attributeName=x dur=1s>",
    "svg-use": "<svg><use href=\"data:image/svg+xml,<svg id='x' onload='ran(1)'/>#x\">",
    "math": "<math><mtext><table><mglyph><style><img src=x onerror=ran('math')></style></table></mtext></math>",
    "mutation": "<noscript><p title=\"</noscript><img src=x onerror=ran('mutation')>\">",
    "mutation-template": "<template><s><template><s><img src=x onerror=ran('template')></s></template>",
    "foreign": "<svg><foreignObject><iframe srcdoc=\"<script>parent.ran('foreign')</script>\">",
    "frame": "<iframe src=\"javascript:parent.ran('frame')\"></iframe>",
    "object": "<object data=\"data:text/html,<script>parent.ran('object')</script>\"><embed src=//evil.example/e>",
    "link-script": "[follow me](javascript:ran('link')) javascript:ran('bare')",
    "link-tab": "java\tscript:ran('tab') jAvAsCrIpT&colon;ran(1) \x01javascript:ran(2)",
    "link-data": "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "markdown-image": "![alt](https://evil.example/c.png) ![x](x\" onerror=\"ran('md'))",
    "base": "<base href=https://evil.example/><meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "form": "<form action=https://evil.example/><button autofocus onfocus=ran('form')>Go</button></form>",
    "details": "<details open ontoggle=ran('toggle')><summary>more</summary></details>",
    "media": "<video><source onerror=ran('media')></video><audio src=x onerror=ran('audio')>",
    "style": "<style>@import 'https://evil.example/d.css'; body { display: none }</style>",
    "style-attribute": '<div style="background:url(https://evil.example/e.png);position:fixed;inset:0">over</div>',
    "css": "red; background: url(https://evil.example/f.png)} body{display:none} expression(ran('css'))",
    "entities": "&lt;script&gt;ran('entity')&lt;/script&gt; &#60;img src=x onerror=ran(1)&#62; &#x3c;b&#x3e;",
    "utf7": "+ADw-script+AD4-ran('utf7')+ADw-/script+AD4-",
    "comment": "<!--><img src=x onerror=ran('comment')>--> <![CDATA[<script>ran('cdata')</script>]]>",
    "tagged-template": "${ran('template')} `${alert(1)}` {{constructor.constructor('ran(1)')()}} #{7*7} <%= 7*7 %>",
    "vnode": '{"type":"img","props":{"src":"x","onError":"ran(1)"},"key":null,"ref":null,"constructor":null}',
    "dangerous": '{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=ran(1)>"}}',
    "prototype": "__proto__ constructor prototype toString hasOwnProperty",
    "bidi": "\u202egnp.exe\u2066 \u2067evil\u2069 \u200fright\u200e <b>bold</b>",
    "control": "null\x00byte bell\x07 escape\x1b[31m line\u2028paragraph\u2029 \ufeff <i>x</i>",
    "crlf": "first\r\nSet-Cookie: stolen=1\r\n\r\n<script>ran('crlf')</script>",
    "zalgo": "Z" + "\u0351\u0489" * 60 + " <u>tall</u>",
    "long": "<b>" + "unbreakable" * 180 + "</b>",
}
SHORT = 300
"""More than this no heading needs to show."""
SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="100"
 onload="ran('picture')"><script>ran('picture script'); parent.ran(1);</script>
<image href="https://evil.example/g.png" width="10" height="10"/><rect width="200" height="100" fill="teal"/>
<a href="javascript:ran('picture link')"><text x="10" y="50">click</text></a>
<foreignObject width="99" height="99"><body xmlns="http://www.w3.org/1999/xhtml" onload="ran('foreign')">
<iframe src="https://evil.example/h"></iframe></body></foreignObject></svg>"""
QUESTION = "At how many degrees does poisonium melt?"


def identity(name: str) -> str:
    return f"poison-{name}"


def fill(folder: Path) -> None:
    with Library.init(folder, embedder=HashedWords()) as library:
        library.layout.refs.write_text("".join(f"{json.dumps(one)}\n" for one in _records()), encoding="utf-8")
        _write_graph(folder)
        library.build_index()
        library.add(*_texts(folder))


def _records() -> Iterator[dict[str, Any]]:
    for number, (name, payload) in enumerate(PAYLOADS.items()):
        yield {
            "id": identity(name),
            "title": f"Of {payload}",
            "doi": payload if number % 2 else f"10.1000/{payload}",
            "url": payload if number % 3 else f"javascript:ran('{name}')",
            "authors": [{"first": payload, "last": payload}, {"first": "", "last": f"{payload}, Jr."}],
            "abstract": f"Poisonium melts at {number + 300} degrees under {payload} and nothing else was measured.",
            "venue": payload,
            "published": {"year": 1980 + number},
            "tags": [payload, f"tag {name}"],
        }


def _write_graph(folder: Path) -> None:
    """Concepts with these names, each part of the one before and spoken of in a paper."""
    concepts, edges = [], []
    for number, (name, payload) in enumerate(PAYLOADS.items()):
        concepts.append({"id": f"c{number}", "name": payload, "aliases": [f"also {payload}"], "description": payload})
        edges.append(_edge(identity(name), f"concept:c{number}", payload, payload))
        if number:
            edges.append(_edge(f"concept:c{number}", f"concept:c{number - 1}", "part-of", payload))
    for file, records in (("concepts.jsonl", concepts), ("edges.jsonl", edges)):
        (folder / file).write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")


def _edge(source: str, target: str, kind: str, summary: str) -> dict[str, str]:
    return {"source_id": source, "target_id": target, "relationship_type": kind, "summary": summary}


def _texts(folder: Path) -> Iterator[Path]:
    """Papers in full: hostile headings, bodies, captions, pictures and names of files."""
    (folder / "picture.svg").write_text(SVG, encoding="utf-8")
    for name, payload in PAYLOADS.items():
        if name in {"crlf", "control", "long"}:
            continue
        words = payload.replace("\n", " ")
        paper = folder / f"{name} {payload.replace('/', '∕').replace(chr(9), ' ')[:80]}.md"
        paper.write_text(
            f"---\nid: full-{name}\ntitle: {json.dumps('Full ' + payload)}\nauthors: [{json.dumps(payload)}]\n---\n\n"
            f"# Full {words}\n\n## 1 {words}\n\nPoisonium is measured in full here. {words}\n\n"
            f"As Figure 1 shows, it is hot: {words}\n\n"
            f"![{words}](picture.svg)\n\nFigure 1: A picture of {words}\n\n"
            f"Table 1: Values of {words}\n\n| a | b |\n|---|---|\n| {words.replace('|', '')} | 2 |\n",
            encoding="utf-8",
        )
        yield paper


class Parrot:
    """Says of every source the first sentence, word for word, so that everything hostile gets into the answer."""

    name = "parrot"
    context_tokens = 1_000_000

    def stream(self, prompt: Prompt) -> Iterator[str]:
        for excerpt in prompt.excerpts:
            span, _ = excerpt.sentences[0] if excerpt.sentences else (None, 0.0)
            said = excerpt.text[span.start : span.end] if span else excerpt.text
            yield f"{said} [{excerpt.number}]\n"
