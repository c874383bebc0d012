from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.common import State, faint, filter_options, json_option, make_filter, preview, print_json, warn_if_stale
from carrel.cli.common import title as bold
from carrel.cli.figures import print_finding
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.library import Library
    from carrel.reading.chunks import Around
    from carrel.reading.figures import FiguresFound
    from carrel.types import Filter, Passage, SearchResult


@click.command("search")
@click.argument("query")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "vector", "keyword", "graph"]),
    default="hybrid",
    show_default=True,
    help="Which arms to use.",
)
@click.option(
    "--limit", type=click.IntRange(0), metavar="N", help="How many passages, 0 for all; the setting search.limit."
)
@filter_options
@click.option("--author", "authors", metavar="NAME", multiple=True, help="Only papers by Yu, 'Tim Yu' or 'Yu, Tim'.")
@click.option("--title", metavar="WORDS", default="", help="Only papers with these words in their title.")
@click.option("--doi", metavar="DOI", default="", help="Only the paper with this DOI.")
@click.option("--figures", is_flag=True, help="Find figures, tables and algorithms instead of passages.")
@click.option("--figure-type", type=click.Choice(["figure", "table", "algorithm"]), help="Only these; needs --figures.")
@click.option("--context", "with_context", is_flag=True, help="Show what stands before and after each passage.")
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
    figures: bool,  # noqa: FBT001
    figure_type: str | None,
    with_context: bool,  # noqa: FBT001
    explain: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
    **filters: Any,  # noqa: ANN401
) -> None:
    """Find passages, or figures, by meaning and by words."""
    from carrel.selecting import Criteria
    from carrel.types import ExhibitKind

    _check(figures=figures, figure_type=figure_type, with_context=with_context)
    state: State = context.obj
    where = make_filter(**filters)
    asked: dict[str, Any] = {
        "mode": mode,
        "limit": limit,
        "criteria": Criteria(authors, title, doi) if authors or title or doi else None,
    }
    with state.open() as library:
        warn_if_stale(library)
        where = _resolved(where, library)
        if figures:
            kind = ExhibitKind(figure_type) if figure_type else None
            _show_figures(library.figures(query, kind=kind, where=where, **asked), explain=explain, as_json=as_json)
            return
        result = library.search(query, where=where, **asked)
        around = library.around(passage.chunk for passage in result.passages) if with_context else {}
    if as_json:
        print_json(_as_dict(result, around))
    else:
        _print(result, around, explain=explain)


def _check(*, figures: bool, figure_type: str | None, with_context: bool) -> None:
    if figure_type and not figures:
        raise InvalidInput("--figure-type needs --figures", hint="Add --figures.")
    if figures and with_context:
        raise InvalidInput("--context is for passages, not for --figures", hint="Leave one of them out.")


def _resolved(where: Filter, library: Library) -> Filter:
    """Papers may be named by their titles."""
    if not where.paper_ids:
        return where
    return replace(where, paper_ids=frozenset(row.reference.id for row in library.find(*sorted(where.paper_ids))))


def _as_dict(result: SearchResult, around: Mapping[str, Around]) -> dict[str, Any]:
    shown = result.as_dict()
    beside = {address: one.as_dict() for address, one in around.items()}
    return {**shown, "results": [{**one, **beside.get(one["address"], {})} for one in shown["results"]]}


def _show_figures(found: FiguresFound, *, explain: bool, as_json: bool) -> None:
    if as_json:
        print_json(found.as_dict())
        return
    _warn(found.result)
    for finding in found.figures:
        print_finding(finding)
        if explain:
            click.echo(f"   {faint(_ledger(finding.passage))}")


def _warn(result: SearchResult) -> None:
    for part in result.degraded:
        click.echo(f"warning: without {part.arm}: {part.reason}", err=True)
    if not result.passages:
        click.echo(f"Nothing found for {result.query!r}.", err=True)


def _print(result: SearchResult, around: Mapping[str, Around], *, explain: bool) -> None:
    _warn(result)
    for passage in result.passages:
        chunk = passage.chunk
        year = f" ({chunk.year})" if chunk.year else ""
        place = f" — {' — '.join(chunk.section_path)}" if chunk.section_path else ""
        click.echo(f"{passage.rank}. [{passage.score:.2f}] {bold(chunk.title)}{year}{place}")
        click.echo(f"   {faint(chunk.address)}")
        click.echo(f"   {preview(chunk.text)}")
        for word, other in (around[chunk.address].as_dict() if around else {}).items():
            if other:
                click.echo(f"   {faint(word)}: {faint(other['address'])}  {faint(other['preview'])}")
        if explain:
            click.echo(f"   {faint(_ledger(passage))}")
    if result.matched and result.matched > len(result.passages):
        shown, matched = len(result.passages), f"{result.matched:,}"
        click.echo(f"Showing {shown} of {matched} passages with these words; --limit 0 shows all.", err=True)
    if explain:
        stages = ", ".join(f"{stage} {milliseconds:.1f} ms" for stage, milliseconds in result.timings.items())
        click.echo(faint(f"strategy {result.strategy.value}; {stages}"))


def _ledger(passage: Passage) -> str:
    """What each stage said of a passage."""
    arms = [f"{name} #{arm.rank} {arm.score:.3f}" for name, arm in sorted(passage.fused.arms.items())]
    reranked = "not reranked" if passage.probability is None else f"rerank {passage.probability:.3f}"
    return " · ".join([*arms, f"fusion {passage.fused.score:.4f}", reranked])
