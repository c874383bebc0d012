from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from carrel.cli.common import State, faint, filter_options, json_option, make_filter, preview, print_json, title

if TYPE_CHECKING:
    from collections.abc import Iterable

    from carrel.types import Answer, ConfidenceEvent, Event


@click.command("ask")
@click.argument("question")
@click.option("--top-k", type=click.IntRange(1, 20), metavar="N", help="Passages to draw on; the setting answer.top_k.")
@click.option("--no-graph", is_flag=True, help="Do not follow the concepts that lead from one passage to another.")
@filter_options
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    question: str,
    top_k: int | None,
    no_graph: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
    **filters: Any,  # noqa: ANN401
) -> None:
    """Answer a question, each statement with a quote that stands in its source."""
    state: State = context.obj
    with state.open() as library:
        where, graph = make_filter(**filters), not no_graph
        if as_json:
            print_json(library.ask(question, top_k=top_k, where=where, graph=graph).as_dict())
        else:
            events = library.stream(question, top_k=top_k, where=where, graph=graph)
            print_answer(events, library.settings.answer.threshold)


def print_answer(events: Iterable[Event], threshold: float) -> None:
    """Print an answer as it grows: the verdict, the statements, then the proof."""
    from carrel.types import ConfidenceEvent, DoneEvent, TokenEvent

    for event in events:
        if isinstance(event, ConfidenceEvent):
            click.echo(faint(_verdict(event, threshold)))
        elif isinstance(event, TokenEvent):
            click.echo(event.text.rstrip("\n"))
        elif isinstance(event, DoneEvent):
            _print_proof(event.answer)


def _verdict(event: ConfidenceEvent, threshold: float) -> str:
    if event.top_score is None:
        return "Insufficient evidence: nothing could tell how relevant the passages are."
    if event.has_insufficient_evidence:
        return (
            f"Insufficient evidence: the best passage reaches {event.top_score:.2f}, the threshold is {threshold:.2f}."
        )
    return f"Confidence: {event.confidence.value} ({event.top_score:.2f})"


def _print_proof(answer: Answer) -> None:
    for part in answer.degraded:
        click.echo(f"warning: without {part.arm}: {part.reason}", err=True)
    if answer.citations:
        click.echo("\nSources")
    for citation in answer.citations:
        chunk = citation.chunk
        click.echo(f"[{citation.id}] {title(chunk.title)}{f' ({chunk.year})' if chunk.year else ''}")
        click.echo(f"    “{' '.join(citation.quote.split())}”")
        place = f"page {citation.page}, " if citation.page else ""
        click.echo(f"    {faint(f'{chunk.address}, {place}characters {citation.start}–{citation.end}')}")
    if answer.near_misses:
        click.echo("\nNear misses")
    for passage in answer.near_misses:
        click.echo(f"[{passage.score:.2f}] {title(passage.chunk.title)}  {faint(passage.chunk.address)}")
        click.echo(f"       {preview(passage.chunk.text, 120)}")
