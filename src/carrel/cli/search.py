from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.common import (
    State,
    faint,
    filter_options,
    json_option,
    make_filter,
    mark,
    preview,
    print_json,
    warn_if_stale,
)
from carrel.cli.common import title as bold
from carrel.cli.figures import print_finding
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from carrel.library import Library
    from carrel.reading.chunks import Around
    from carrel.reading.figures import FiguresFound
    from carrel.types import Chunk, Filter, Passage, SearchResult

USUAL = 0.3
"""Diversity, when nobody says how much."""


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
    "--limit",
    type=click.IntRange(0),
    metavar="N",
    help="How many passages, or papers with --by-paper, 0 for all; the setting search.limit.",
)
@click.option("--by-paper", is_flag=True, help="One result for each paper: its best passage, then its others.")
@click.option("--diverse", is_flag=True, help=f"Prefer passages that say something new; --diversity {USUAL}.")
@click.option(
    "--diversity",
    type=click.FloatRange(0, 1),
    metavar="D",
    help="How much they must be new, from 0 to 1; the setting search.diversity.",
)
@click.option("--cursor", metavar="C", default="", help="The next page, by what the page before printed last.")
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
    by_paper: bool,  # noqa: FBT001
    diverse: bool,  # noqa: FBT001
    diversity: float | None,
    cursor: str,
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
    """Find passages, papers or figures, by meaning and by words."""
    from carrel.selecting import Criteria
    from carrel.types import ExhibitKind

    shape: dict[str, Any] = {
        "by_paper": by_paper,
        "diversity": USUAL if diverse and diversity is None else diversity,
        "cursor": cursor,
    }
    _check(figures=figures, figure_type=figure_type, with_context=with_context, shape=shape)
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
        result = library.search(query, where=where, **asked, **shape)
        around = library.around(_chunks(result)) if with_context else {}
        notices = library.headlines({passage.chunk.paper_id for passage in result.passages})
    if as_json:
        print_json(_as_dict(result, around, notices))
    else:
        _print(result, around, notices, explain=explain)


def _check(*, figures: bool, figure_type: str | None, with_context: bool, shape: Mapping[str, Any]) -> None:
    if figure_type and not figures:
        raise InvalidInput("--figure-type needs --figures", hint="Add --figures.")
    for_passages = {"--context": with_context, "--by-paper": shape["by_paper"], "--cursor": shape["cursor"]}
    for_passages["--diversity"] = shape["diversity"] is not None
    for option, given in for_passages.items():
        if figures and given:
            raise InvalidInput(f"{option} is for passages, not for --figures", hint="Leave one of them out.")


def _chunks(result: SearchResult) -> Iterator[Chunk]:
    for passage in result.passages:
        yield from (one.chunk for one in (passage, *passage.others))


def _resolved(where: Filter, library: Library) -> Filter:
    """Papers may be named by their titles."""
    if not where.paper_ids:
        return where
    return replace(where, paper_ids=frozenset(row.reference.id for row in library.find(*sorted(where.paper_ids))))


def _as_dict(result: SearchResult, around: Mapping[str, Around], notices: Mapping[str, str]) -> dict[str, Any]:
    shown = result.as_dict()
    for one in shown["results"]:
        one["notice"] = notices.get(one["paper_id"])
        for passage in (one, *one.get("passages", ())):
            if passage["address"] in around:
                passage.update(around[passage["address"]].as_dict())
    return shown


def _show_figures(found: FiguresFound, *, explain: bool, as_json: bool) -> None:
    if as_json:
        print_json(found.as_dict())
        return
    _warn(found.result)
    for finding in found.figures:
        print_finding(finding)
        if explain:
            for line in ledger(finding.passage):
                click.echo(f"   {faint(line)}")
    if explain:
        _print_ways(found.result)


def _warn(result: SearchResult) -> None:
    failed = {part.arm for part in result.degraded}
    for part in result.degraded:
        # A query is understood by the keyword index: without that, one warning suffices.
        if part.arm != "understanding" or "keyword" not in failed:
            click.echo(f"warning: without {part.arm}: {part.reason}", err=True)
    told = [step for step in result.understood if step.is_told]
    if not told and not result.passages:
        # What was made of the query may be the reason.
        told = [step for step in result.understood if step.found]
    for step in told:
        click.echo(f"note: {step.found} → {step.taken}", err=True)
    if result.no_concepts and not result.passages:
        click.echo(f"note: {result.no_concepts}", err=True)
    if not result.passages:
        click.echo(f"Nothing found for {result.query!r}.", err=True)


def _print(result: SearchResult, around: Mapping[str, Around], notices: Mapping[str, str], *, explain: bool) -> None:
    _warn(result)
    for passage in result.passages:
        chunk = passage.chunk
        year = f" ({chunk.year})" if chunk.year else ""
        # A paper that is only listed has no score.
        score = f"[{passage.score:.2f}] " if passage.fused.arms else ""
        notice = mark(notices.get(chunk.paper_id, ""))
        click.echo(f"{passage.rank}. {score}{notice}{bold(chunk.title)}{year}{_place(chunk)}")
        _print_passage(passage, around, explain=explain)
        for other in passage.others:
            click.echo(f"   [{other.score:.2f}]{_place(other.chunk)}")
            _print_passage(other, around, explain=explain)
    _print_end(result)
    if explain:
        _print_ways(result)


def _print_ways(result: SearchResult) -> None:
    """What was made of the query, and where the time went."""
    for step in result.understood:
        click.echo(faint(f"{step.kind.value} {f'{step.found} → ' if step.found else ''}{step.taken}"))
    for named in result.concepts:
        click.echo(faint(f"concept {named.said} → {named.concept}, by {named.match.value}"))
    if result.no_concepts:
        click.echo(faint(f"concepts: {result.no_concepts}"))
    if chosen := result.where.as_dict():
        click.echo(faint("filters " + " · ".join(f"{name} {value}" for name, value in chosen.items())))
    stages = ", ".join(f"{stage} {milliseconds:.1f} ms" for stage, milliseconds in result.timings.items())
    click.echo(faint(f"strategy {result.strategy.value}; {stages}"))


def _place(chunk: Chunk) -> str:
    return f" — {' — '.join(chunk.section_path)}" if chunk.section_path else ""


def _print_passage(passage: Passage, around: Mapping[str, Around], *, explain: bool) -> None:
    chunk = passage.chunk
    click.echo(f"   {faint(chunk.address)}")
    click.echo(f"   {preview(chunk.text)}")
    for word, other in (around[chunk.address].as_dict() if around else {}).items():
        if other:
            click.echo(f"   {faint(word)}: {faint(other['address'])}  {faint(other['preview'])}")
    if passage.duplicates:
        click.echo(f"   {faint('the same')}: {faint(', '.join(passage.duplicates))}")
    if explain:
        for line in ledger(passage):
            click.echo(f"   {faint(line)}")


def _print_end(result: SearchResult) -> None:
    """What there is besides, and how to get it."""
    shown = len(result.passages)
    if shown and result.matched and result.matched > shown and not result.by_paper:
        matched = f"{result.matched:,}"
        click.echo(f"Showing {shown} of {matched} passages with these words; --limit 0 shows all.", err=True)
    if result.next_cursor:
        click.echo(f"The next page: the same search with --cursor {result.next_cursor}", err=True)


def ledger(passage: Passage) -> Iterator[str]:
    """What each stage said of a passage, a line each."""
    fused = passage.fused
    if not fused.arms:
        yield "listed for what its record says"
        return
    yield "found by " + " · ".join(f"{name} #{arm.rank} {arm.score:.3f}" for name, arm in fused.arms.items())
    yield f"fusion {fused.score:.4f}" + "".join(f" · {name} +{share:.4f}" for name, share in fused.shares.items())
    reranked = "not reranked" if passage.probability is None else f"rerank {passage.probability:.3f}"
    yield reranked + "".join(f" · {name} {value:.3f}" for name, value in passage.signals.items())
    if passage.path:
        yield f"led to by {passage.path}"
