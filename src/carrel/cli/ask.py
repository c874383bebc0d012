from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.common import (
    State,
    faint,
    filter_options,
    json_option,
    make_filter,
    preview,
    print_flags,
    print_json,
    printable,
    session_option,
    title,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from carrel.asking import Wishes
    from carrel.types import Answer, ConfidenceEvent, Event


@click.command("ask")
@click.argument("question")
@click.option("--top-k", type=click.IntRange(1, 20), metavar="N", help="Passages to draw on; the setting answer.top_k.")
@click.option("--no-graph", is_flag=True, help="Do not follow the concepts that lead from one passage to another.")
@session_option
@click.option(
    "--save",
    "targets",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Keep the answer with its proof, as .json, .md or .html; may be repeated.",
)
@click.option("--force", is_flag=True, help="With --save: replace a file that is there already.")
@filter_options
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    question: str,
    top_k: int | None,
    no_graph: bool,  # noqa: FBT001
    session: str,
    targets: tuple[Path, ...],
    force: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
    **filters: Any,  # noqa: ANN401
) -> None:
    """Answer a question, each statement with a quote that stands in its source."""
    from carrel.bundles.files import check_target

    for target in targets:
        check_target(target, force=force)
    state: State = context.obj
    with state.open() as library:
        where = make_filter(**filters)
        wishes: Wishes = {"top_k": top_k, "where": where, "graph": not no_graph, "session": session}
        if as_json:
            answer = library.ask(question, **wishes)
            print_json(answer.as_dict())
        else:
            asked = library.made_whole(question, session=session)
            if asked != question:
                click.echo(faint(f"Asked as: {printable(asked)}"))
            answer = print_answer(library.stream(question, **wishes), library.settings.answer.threshold)
        for target in targets:
            library.save(answer, target, force=force)
            click.echo(f"Saved {target}", err=True)


def print_answer(events: Iterable[Event], threshold: float) -> Answer:
    """Print an answer as it grows: the verdict, the statements, then the proof. Returns the whole."""
    from carrel.types import ConfidenceEvent, DoneEvent, TokenEvent

    for event in events:
        if isinstance(event, ConfidenceEvent):
            click.echo(faint(_verdict(event, threshold)))
        elif isinstance(event, TokenEvent):
            click.echo(printable(event.text.rstrip("\n")))
        elif isinstance(event, DoneEvent):
            print_proof(event.answer)
            return event.answer
    raise RuntimeError("an answer ended before it was whole")


def _verdict(event: ConfidenceEvent, threshold: float) -> str:
    if event.top_score is None:
        return "Insufficient evidence: nothing could tell how relevant the passages are."
    if event.has_insufficient_evidence:
        return f"Insufficient evidence: {event.top_score:.2f}, where {threshold:.2f} is asked for."
    return f"Confidence: {event.confidence.value} ({event.top_score:.2f})"


def print_proof(answer: Answer) -> None:
    for part in answer.degraded:
        click.echo(f"warning: without {part.arm}: {printable(part.reason)}", err=True)
    if answer.citations:
        click.echo("\nSources")
    for citation in answer.citations:
        chunk = citation.chunk
        click.echo(f"[{citation.id}] {title(chunk.title)}{f' ({chunk.year})' if chunk.year else ''}")
        click.echo(f"    “{printable(' '.join(citation.quote.split()))}”")
        place = f"page {citation.page}, " if citation.page else ""
        click.echo(f"    {faint(f'{chunk.address}, {place}characters {citation.start}–{citation.end}')}")
        print_flags(citation.standing, "    ")
    if answer.unsupported:
        click.echo(f"\nLeft out, as {answer.generator} said it and nothing proves it")
    for one in answer.unsupported:
        click.echo(f"- {printable(one.text)}  {faint(printable(one.reason))}")
    if answer.near_misses:
        click.echo("\nNear misses")
    for passage in answer.near_misses:
        click.echo(f"[{passage.score:.2f}] {title(passage.chunk.title)}  {faint(passage.chunk.address)}")
        click.echo(f"       {preview(passage.chunk.text, 120)}")
