from __future__ import annotations

from typing import TYPE_CHECKING

import click

from carrel.cli import curating
from carrel.cli.common import State, faint, json_option, preview, print_json, printable, title

if TYPE_CHECKING:
    from carrel.curation.concepts import Kept
    from carrel.curation.records import CuratedConcept, Edge

_type = click.option("-t", "--type", "relationship", default="", metavar="TYPE", help="Only edges of this type.")
_aliases = click.option("-a", "--alias", "aliases", metavar="ALIAS", multiple=True, help="May be repeated.")


@click.group("concept")
def command() -> None:
    """Keep concepts of your own, in concepts.jsonl."""


@command.command("add")
@click.argument("concept", metavar="ID")
@click.option("-n", "--name", required=True, metavar="NAME", help="What it is called.")
@_aliases
@click.option("-d", "--description", default="", metavar="TEXT", help="What it is.")
@json_option
@click.pass_context
def add(
    context: click.Context,
    concept: str,
    name: str,
    aliases: tuple[str, ...],
    description: str,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Write a new concept. Its id has small letters, digits, '-' and '_'."""
    state: State = context.obj
    with state.open() as library:
        kept = library.add_concept(concept, name, aliases=aliases, description=description)
    _tell(kept, as_json=as_json)


@command.command("get")
@click.argument("concept", metavar="ID")
@json_option
@click.pass_context
def get(context: click.Context, concept: str, as_json: bool) -> None:  # noqa: FBT001
    """Show a concept, by its id, by one that it had before a merge, or by a name."""
    curated = curating.read(context)
    found = curated.concept(concept)
    merge = next((one for one in found.merged if one.id and one.id == concept.removeprefix("concept:")), None)
    if merge and merge.id != found.id:
        click.echo(f"{merge.id} ({printable(merge.name)}) was merged into {found.id} at {merge.at}", err=True)
    if as_json:
        print_json(found.as_record())
    else:
        _print(found)


@command.command("list")
@json_option
@click.pass_context
def show(context: click.Context, as_json: bool) -> None:  # noqa: FBT001
    """List your own concepts, by id."""
    curated = curating.read(context)
    concepts = [curated.concepts[one] for one in sorted(curated.concepts)]
    if as_json:
        print_json({"concepts": [one.as_record() for one in concepts], "count": len(concepts)})
        return
    for one in concepts:
        also = f"  {faint(printable(preview(', '.join(one.aliases))))}" if one.aliases else ""
        click.echo(f"{title(printable(one.id))}  {printable(preview(one.name))}{also}")
    click.echo(f"{len(concepts):,} concepts", err=True)


@command.command("update")
@click.argument("concept", metavar="ID")
@click.option("-n", "--name", metavar="NAME", help="Another name.")
@_aliases
@click.option("--no-aliases", is_flag=True, help="Take all aliases away.")
@click.option("-d", "--description", metavar="TEXT", help="Another description; '' for none.")
@json_option
@click.pass_context
def update(
    context: click.Context,
    concept: str,
    name: str | None,
    aliases: tuple[str, ...],
    no_aliases: bool,  # noqa: FBT001
    description: str | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Change what is given of a concept. Aliases that are given replace those it had."""
    if aliases and no_aliases:
        raise click.UsageError("--alias does not go with --no-aliases", context)
    given = aliases if aliases or no_aliases else None
    state: State = context.obj
    with state.open() as library:
        kept = library.update_concept(concept, name=name, aliases=given, description=description)
    _tell(kept, as_json=as_json)


@command.command("delete")
@click.argument("concept", metavar="ID")
@click.option("-f", "--force", is_flag=True, help="Even if it has edges; they are deleted, too.")
@json_option
@click.pass_context
def delete(context: click.Context, concept: str, force: bool, as_json: bool) -> None:  # noqa: FBT001
    """Take a concept out of concepts.jsonl."""
    state: State = context.obj
    with state.open() as library:
        deleted = library.delete_concept(concept, force=force)
    if as_json:
        print_json(deleted.as_dict())
    else:
        edges = f" and {deleted.edges_removed:,} edges" if deleted.edges_removed else ""
        click.echo(f"Deleted {printable(deleted.id)}{edges}")


@command.command("papers")
@click.argument("concept", metavar="ID")
@_type
@json_option
@click.pass_context
def papers(context: click.Context, concept: str, relationship: str, as_json: bool) -> None:  # noqa: FBT001
    """List the papers that edges join to a concept."""
    from carrel.curation.records import Node

    curated = curating.read(context)
    found = curated.concept(concept).id
    linked = curated.linked(Node("concept", found), "paper", relationship)
    if as_json:
        shown = [{"paper_id": paper, **_said(edge)} for paper, edge in linked]
        print_json({"concept_id": found, "papers": shown, "count": len(shown)})
    else:
        _print_linked(linked, "papers")


@command.command("of")
@click.argument("paper")
@_type
@json_option
@click.pass_context
def concepts_of(context: click.Context, paper: str, relationship: str, as_json: bool) -> None:  # noqa: FBT001
    """List the concepts that edges join to a paper."""
    from carrel.curation.records import Node

    curated = curating.read(context)
    found = curating.meant(context, paper, curated)
    linked = curated.linked(Node("paper", found), "concept", relationship)
    if as_json:
        shown = [{"concept_id": concept, **_said(edge)} for concept, edge in linked]
        print_json({"paper_id": found, "concepts": shown, "count": len(shown)})
    else:
        _print_linked(linked, "concepts")


@command.command("merge")
@click.argument("source")
@click.argument("target")
@json_option
@click.pass_context
def merge(context: click.Context, source: str, target: str, as_json: bool) -> None:  # noqa: FBT001
    """Make one concept of two: what SOURCE was called leads to TARGET from then on.

    Each is named by its id or name. One that only papers speak of is found by its name, too; a TARGET of that kind
    becomes a concept of your own.
    """
    state: State = context.obj
    with state.open() as library:
        merged = library.merge_concepts(source, target)
    if as_json:
        print_json(merged.as_dict())
        return
    click.echo(f"Merged {printable(merged.source_id)} into {merged.target_id}")
    click.echo(f"Edges moved: {merged.edges_updated:,}, of them superfluous: {merged.duplicates_removed:,}")
    if merged.aliases_added:
        click.echo(f"Aliases added: {printable(preview(', '.join(merged.aliases_added)))}")
    click.echo("To undo it, go back to the former concepts.jsonl and edges.jsonl with git.", err=True)


def _tell(kept: Kept, *, as_json: bool) -> None:
    curating.warn(kept.warnings)
    if as_json:
        print_json(kept.as_dict())
    else:
        click.echo(f"{kept.status.capitalize()} {kept.concept.id}")
        _print(kept.concept)


def _print(concept: CuratedConcept) -> None:
    click.echo(f"{title(printable(concept.id))}  {printable(preview(concept.name))}")
    if concept.aliases:
        click.echo(f"  also {printable(preview(', '.join(concept.aliases), 1000))}")
    if concept.description:
        click.echo(f"  {printable(preview(concept.description, 1000))}")
    for merge in concept.merged:
        click.echo(faint(f"  merged: {printable(preview(merge.name))} {printable(merge.at)}"))


def _said(edge: Edge) -> dict[str, str]:
    return {"relationship_type": edge.type, "summary": edge.summary}


def _print_linked(linked: list[tuple[str, Edge]], what: str) -> None:
    for other, edge in linked:
        click.echo(f"{title(printable(other))}  {faint(printable(edge.type))}  {printable(preview(edge.summary))}")
    click.echo(f"{len(linked):,} {what}", err=True)
