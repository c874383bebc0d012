from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.cli import curating
from carrel.cli.common import State, faint, json_option, preview, print_json, printable
from carrel.cli.curating import SHOWN, shown
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.curation import Curated
    from carrel.curation.records import Edge, Node


@click.group("edge")
def command() -> None:
    """Join papers and concepts of your own, in edges.jsonl."""


@command.command("add")
@click.option("-s", "--source", required=True, metavar="ID", help="Where it begins: a paper's id, or concept:ID.")
@click.option("-t", "--target", required=True, metavar="ID", help="Where it ends.")
@click.option("-r", "--type", "relationship", required=True, metavar="TYPE", help="How they stand to each other.")
@click.option("-m", "--summary", required=True, metavar="TEXT", help="A sentence that says so.")
@json_option
@click.pass_context
def add(
    context: click.Context,
    source: str,
    target: str,
    relationship: str,
    summary: str,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Write an edge; one of the same source, target and type gets the new summary."""
    state: State = context.obj
    with state.open() as library:
        kept = library.add_edge(source, target, relationship, summary)
    curating.warn(kept.warnings)
    if as_json:
        print_json(kept.as_dict())
    else:
        click.echo(f"{kept.action.capitalize()} {shown(kept.edge)}")


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@click.pass_context
def take(context: click.Context, file: Path, as_json: bool) -> int:  # noqa: FBT001
    """Write the edges of another file of the same format. Exit code 1 if a line was left out."""
    state: State = context.obj
    with state.open() as library:
        imported = library.import_edges(file)
    curating.warn(imported.warnings[:SHOWN])
    if as_json:
        print_json(imported.as_dict())
        return 1 if imported.errors else 0
    click.echo(f"{imported.added:,} added, {imported.updated:,} updated, {len(imported.errors):,} left out")
    for line, error in imported.errors[:SHOWN]:
        click.echo(f"line {line}: {printable(error)}", err=True)
    if len(imported.errors) > SHOWN:
        click.echo(f"… {len(imported.errors) - SHOWN:,} more; --json lists all", err=True)
    return 1 if imported.errors else 0


@command.command("list")
@click.argument("node", metavar="[PAPER]", required=False)
@click.option("--incoming", is_flag=True, help="Those that end there, instead of those that begin there.")
@click.option("--all", "everything", is_flag=True, help="Both.")
@click.option("--paper", metavar="ID", help="The edges of this paper.")
@click.option("--concept", metavar="ID", help="The edges of this concept, in both directions.")
@click.option("--project", metavar="ID", help="The edges of this project, in both directions.")
@json_option
@click.pass_context
def show(
    context: click.Context,
    node: str | None,
    incoming: bool,  # noqa: FBT001
    everything: bool,  # noqa: FBT001
    paper: str | None,
    concept: str | None,
    project: str | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """List the edges: all, those that begin at a paper, or those of a concept or project."""
    curated = curating.read(context)
    asked = _asked(context, curated, {"": node, "paper": paper, "concept": concept, "project": project})
    if asked is None:
        _tell(curated.edges, {}, as_json=as_json)
        return
    begins, ends = curated.of(asked)
    both = everything or (asked.kind != "paper" and not incoming)
    found = {"outgoing": begins if both or not incoming else [], "incoming": ends if both or incoming else []}
    if as_json:
        listed = {way: [edge.as_record() for edge in edges] for way, edges in found.items()}
        print_json({f"{asked.kind}_id": asked.id, **listed})
    else:
        _print([*found["outgoing"], *found["incoming"]])


@command.command("search")
@click.option("-r", "--type", "relationship", required=True, metavar="TYPE", help="The type of the edges wanted.")
@json_option
@click.pass_context
def search(context: click.Context, relationship: str, as_json: bool) -> None:  # noqa: FBT001
    """List the edges of a type."""
    curated = curating.read(context)
    found = [edge for edge in curated.edges if edge.type == relationship]
    _tell(found, {"relationship_type": relationship}, as_json=as_json)


@command.command("export")
@click.option("-p", "--paper", metavar="ID", help="Only edges that begin or end at this paper.")
@json_option
@click.pass_context
def export(context: click.Context, paper: str | None, as_json: bool) -> None:  # noqa: FBT001
    """Print the edges as they are kept: one JSON object a line."""
    curated = curating.read(context)
    asked = None if paper is None else curating.meant(context, paper, curated)
    found = [edge for edge in curated.edges if asked in (None, edge.source, edge.target)]
    if as_json:
        _tell(found, {}, as_json=True)
        return
    for edge in found:
        click.echo(json.dumps(edge.as_record(), ensure_ascii=True, separators=(",", ":")))


@command.command("groom")
@click.option("--fix", is_flag=True, help="Take them out of edges.jsonl.")
@json_option
@click.pass_context
def groom(context: click.Context, fix: bool, as_json: bool) -> None:  # noqa: FBT001
    """Find edges whose paper, concept or project is no longer there."""
    state: State = context.obj
    with state.open() as library:
        groomed = library.groom_edges(fix=fix)
    if as_json:
        print_json(groomed.as_dict())
        return
    for orphan in groomed.orphans:
        click.echo(f"{shown(orphan.edge)}  {faint(orphan.reason)}")
    done = "taken out" if groomed.fixed else "found; take them out with --fix" if groomed.orphans else "found"
    click.echo(f"{len(groomed.orphans):,} orphaned edges {done}", err=True)


def _asked(context: click.Context, curated: Curated, named: dict[str, str | None]) -> Node | None:
    """The paper, concept or project whose edges are wanted; None for all."""
    from carrel.curation import records

    given = [(kind, text) for kind, text in named.items() if text is not None]
    if not given:
        return None
    if len(given) > 1:
        raise InvalidInput("edges are listed of one paper, concept or project", hint="Name only one of them.")
    ((kind, text),) = given
    node = records.node(text)
    if kind not in ("", node.kind):
        node = records.Node(kind, text)
    if node.kind == "concept":
        return records.Node("concept", curated.concept(node.id).id)
    return records.Node("paper", curating.meant(context, text, curated)) if node.kind == "paper" else node


def _tell(edges: Sequence[Edge], about: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json({**about, "edges": [edge.as_record() for edge in edges], "count": len(edges)})
    else:
        _print(edges)


def _print(edges: Sequence[Edge]) -> None:
    for edge in edges:
        click.echo(f"{shown(edge)}  {printable(preview(edge.summary))}")
    click.echo(f"{len(edges):,} edges", err=True)
