from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from carrel.cli.common import State, faint, filter_options, json_option, make_filter, preview, print_json
from carrel.cli.common import title as bold

if TYPE_CHECKING:
    from carrel.types import Passage, SearchResult


@click.command("search")
@click.argument("query")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "vector", "keyword", "graph"]),
    default="hybrid",
    show_default=True,
    help="Which arms to use.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="How many passages; the setting search.limit.")
@filter_options
@click.option("--author", "authors", metavar="NAME", multiple=True, help="Only papers by Yu, 'Tim Yu' or 'Yu, Tim'.")
@click.option("--title", metavar="WORDS", default="", help="Only papers with these words in their title.")
@click.option("--doi", metavar="DOI", default="", help="Only the paper with this DOI.")
@click.option("--explain", is_flag=True, help="Print every arm's rank and score, the fusion and the reranking.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    query: str,
    mode: str,
    limit: int | None,
    authors: tuple[str, ...],
    title: str,
    doi: str,
    explain: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
    **filters: Any,  # noqa: ANN401
) -> None:
    """Find passages by meaning and by words."""
    from carrel.selecting import Criteria

    state: State = context.obj
    criteria = Criteria(authors, title, doi) if authors or title or doi else None
    with state.open() as library:
        result = library.search(query, mode=mode, limit=limit, where=make_filter(**filters), criteria=criteria)
    if as_json:
        print_json(result.as_dict())
    else:
        _print(result, explain=explain)


def _print(result: SearchResult, *, explain: bool) -> None:
    for part in result.degraded:
        click.echo(f"warning: without {part.arm}: {part.reason}", err=True)
    if not result.passages:
        click.echo(f"Nothing found for {result.query!r}.", err=True)
    for passage in result.passages:
        chunk = passage.chunk
        year = f" ({chunk.year})" if chunk.year else ""
        place = f" — {' — '.join(chunk.section_path)}" if chunk.section_path else ""
        click.echo(f"{passage.rank}. [{passage.score:.2f}] {bold(chunk.title)}{year}{place}")
        click.echo(f"   {faint(chunk.address)}")
        click.echo(f"   {preview(chunk.text)}")
        if explain:
            click.echo(f"   {faint(_ledger(passage))}")
    if explain:
        stages = ", ".join(f"{stage} {milliseconds:.1f} ms" for stage, milliseconds in result.timings.items())
        click.echo(faint(f"strategy {result.strategy.value}; {stages}"))


def _ledger(passage: Passage) -> str:
    """What each stage said of a passage."""
    arms = [f"{name} #{arm.rank} {arm.score:.3f}" for name, arm in sorted(passage.fused.arms.items())]
    reranked = "not reranked" if passage.probability is None else f"rerank {passage.probability:.3f}"
    return " · ".join([*arms, f"fusion {passage.fused.score:.4f}", reranked])
