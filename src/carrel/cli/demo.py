from __future__ import annotations

import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from carrel.cli.ask import print_answer
from carrel.cli.common import Progress, faint, json_option, print_json, title

if TYPE_CHECKING:
    from carrel.library import Library
    from carrel.types import AddReport

QUESTIONS = (
    "Does SPECTER need citation information at inference time?",
    "Does learned dense retrieval beat BM25 for open-domain QA?",
    "Do abstractive summarisation models hallucinate?",
    "Which sodium-ion battery cathode keeps its capacity after 1,000 cycles?",
)


@click.command("demo")
@click.option("--keep", metavar="DIR", type=click.Path(), help="Make the library in this folder and leave it there.")
@json_option
def command(keep: str | None, as_json: bool) -> None:  # noqa: FBT001
    """Index a small shipped library and ask it four questions, one of which it cannot answer."""
    from carrel.library import Library

    sources = Path(str(resources.files("carrel.demo")))
    start = time.monotonic()
    # What is gone afterwards leaves nothing on a server either.
    here = {} if keep else {"catalog": "sqlite", "graph": "sqlite"}
    with (
        tempfile.TemporaryDirectory() as scratch,
        Library.init(keep or scratch, overrides=here) as library,
        Progress() as progress,
    ):
        report = library.add(sources / "refs.jsonl", sources / "papers", progress=progress)
        progress.close()
        if as_json:
            answers = [library.ask(question).as_dict() for question in QUESTIONS]
            print_json({"sources": str(sources), "added": report.as_dict(), "answers": answers})
            return
        _introduce(sources, report, time.monotonic() - start)
        for question in QUESTIONS:
            _ask(library, question)
        click.echo(
            faint(f"{time.monotonic() - start:.1f} s in all. Every quote above stands in {sources}: try grep -r.")
        )
        if keep:
            click.echo(f'The library is in {keep}. Try: carrel -C {keep} ask "…"')


def _introduce(sources: Path, report: AddReport, seconds: float) -> None:
    click.echo(f"{report.new} papers from {sources}")
    click.echo(f"{report.chunks_embedded} chunks embedded and indexed in {seconds:.1f} s, on this machine alone\n")


def _ask(library: Library, question: str) -> None:
    click.echo(f'$ carrel ask "{title(question)}"')
    print_answer(library.stream(question), library.settings.answer.threshold)
    click.echo("")
