from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from carrel.cli import telling
from carrel.cli.common import State, faint, json_option, print_json, title
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from carrel.atlas.neighbourhoods import Neighbourhood, Node
    from carrel.atlas.views import ConceptView, Related, Spoken
    from carrel.library import Library

_PLACES, _EXAMPLES, _PAPERS = 5, 3, 8
_LIMIT, _LIMIT_OF_A_MAP = 60, 120


@click.command("graph")
@click.argument("name", required=False, default="")
@click.option("--hops", type=click.IntRange(1, 3), metavar="N", help="How far to go, 1 to 3; 1, with --html 2.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), metavar="N", help="So many concepts at most; 60, of a library 120."
)
@click.option("--html", "page", metavar="FILE", type=click.Path(path_type=Path), help="Write it as a page to look at.")
@click.option("--force", is_flag=True, help="With --html: replace a file that is no such page.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    name: str,
    hops: int | None,
    limit: int | None,
    page: Path | None,
    force: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> None:
    """Show what a concept is, how it stands to others, who says so, and where the papers speak of it.

    With --html, NAME may be left out: the page then shows the library's main concepts.
    """
    if not name and not (page or as_json):
        raise InvalidInput("no concept was named", hint="As in 'carrel graph \"Segment tree\"'.")
    if force and not page:
        raise InvalidInput("--force has no part without --html", hint="Leave it out, or add --html FILE.")
    state: State = context.obj
    with state.open() as library:
        shown = library.graph(
            name, hops=hops or (2 if page else 1), limit=limit or (_LIMIT if name else _LIMIT_OF_A_MAP)
        )
        if page:
            _draw(library, shown, page, force=force, as_json=as_json)
            return
        view = library.concept(name) if name else None
    if as_json:
        print_json({"concept": view.as_dict() if view else None, **shown.as_dict()})
    elif view:
        _print(view, shown)


def _draw(library: Library, shown: Neighbourhood, page: Path, *, force: bool, as_json: bool) -> None:
    library.draw_graph(page, shown, force=force)
    counts = {"concepts": len(shown.nodes), "relations": len(shown.edges)}
    if as_json:
        print_json({"output_path": str(page), **counts})
    else:
        click.echo(f"{counts['concepts']:,} concepts and {counts['relations']:,} relations are in {str(page)!r}")


def _print(view: ConceptView, shown: Neighbourhood) -> None:
    from carrel.types import Role

    telling.head(view.row, view.defined)
    _print_tree(shown)
    about = Role.DISCUSSES if view.places(Role.DISCUSSES) else Role.MENTIONS
    for heading, role, most in (
        (f"{'discussed' if about == Role.DISCUSSES else 'mentioned'} in", about, _PLACES),
        ("code for it", Role.CODE_EXAMPLE_FOR, _EXAMPLES),
        ("formulas for it", Role.FORMULA_FOR, _EXAMPLES),
    ):
        _print_places(heading, view.places(role)[:most])
    _print_papers(view)
    if view.beside:
        click.echo(f"\n{title('spoken of beside it')}")
        click.echo(telling.wrapped(", ".join(map(telling.name, view.beside)), "  "))
    left = shown.total + 1 - len(shown.nodes)
    if left:
        click.echo(f"{left:,} concepts further off are left out; --limit shows more", err=True)


def _print_tree(shown: Neighbourhood) -> None:
    """Each concept once, below the one by which it was reached."""
    assert shown.centre is not None  # noqa: S101 (a tree is asked for by name)
    below = _below(shown.centre.key, shown)
    phrases = dict.fromkeys(related.phrase for _, related in below)
    for phrase in phrases:
        click.echo(f"\n{title(phrase)}")
        _print_branches([one for one in below if one[1].phrase == phrase], "", shown, is_first=True)


def _below(key: str, shown: Neighbourhood) -> list[tuple[Node, Related]]:
    """The concepts that were reached by way of this one, by phrase, and how they stand to it."""
    from carrel.atlas.statements import strength
    from carrel.atlas.views import by_phrase, seen_from

    found = []
    for node in shown.nodes:
        ends = {key, node.row.key}
        between = [edge for edge in shown.edges if {edge.relation.subject, edge.relation.object} == ends]
        if node.via == key and between:
            found.append((node, seen_from(key, max(between, key=lambda edge: strength(edge.relation)))))
    return sorted(found, key=lambda one: by_phrase(one[1]))


def _print_branches(
    branches: Sequence[tuple[Node, Related]], stem: str, shown: Neighbourhood, *, is_first: bool = False
) -> None:
    for number, (node, related) in enumerate(branches, start=1):
        is_last = number == len(branches)
        phrase = "" if is_first else f"{related.phrase} "
        count = related.edge.relation.statements
        said = faint(f"  said {count} times") if count > 1 else ""
        click.echo(f"{stem}{'└─' if is_last else '├─'} {faint(phrase)}{telling.name(node.row)}{said}")
        inner = f"{stem}{'  ' if is_last else '│ '} "
        for evidence in related.edge.evidence[:1]:
            click.echo(telling.quoted(evidence, f"{inner}  "))
        _print_branches(_below(node.row.key, shown), inner, shown)


def _print_places(heading: str, spoken: Iterable[Spoken]) -> None:
    lines = [telling.wrapped(telling.place(one.where), "  ") for one in spoken]
    if lines:
        click.echo("\n".join([f"\n{title(heading)}", *lines]))


def _print_papers(view: ConceptView) -> None:
    if view.papers:
        click.echo(f"\n{title('papers')}")
    for paper in view.papers[:_PAPERS]:
        year = f" ({paper.year})" if paper.year else ""
        click.echo(telling.wrapped(f"{paper.paper_id}  {paper.title}{year}, {telling.chunks(paper.chunks)}", "  "))
    for citing, cited in view.citations[:_PAPERS]:
        click.echo(faint(telling.wrapped(f"{citing} cites {cited}", "  ")))
