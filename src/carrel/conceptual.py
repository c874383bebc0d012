"""The verbs of a library that look at its graph of concepts."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from carrel import atlas, curation
from carrel.atlas import neighbourhoods, paths, views
from carrel.curation import concepts as own_concepts
from carrel.curation import edges as own_edges
from carrel.curation.records import CuratedConcept, Edge
from carrel.errors import CarrelError, InvalidInput
from carrel.parts import Parts
from carrel.types import Part

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from carrel.atlas import Concepts
    from carrel.atlas.neighbourhoods import Neighbourhood
    from carrel.atlas.paths import StudyPath
    from carrel.atlas.views import ConceptView
    from carrel.curation import Curated
    from carrel.types import Concept


class Conceptual(Parts):
    """What can be asked of the graph that the papers make."""

    def concepts(self, query: str = "", *, limit: int = 50, cursor: str = "") -> Concepts:
        """The concepts whose name has this in it, or all, those first of which the papers make most; 0 for no limit."""
        return atlas.concepts(query, self.stores.graph, limit=limit, cursor=cursor)

    def concept(self, name: str) -> ConceptView:
        """What a concept is, how it stands to others, and where the papers speak of it."""
        return views.view(name, self.stores.graph, self.stores.catalog)

    def graph(self, name: str = "", *, hops: int = 1, limit: int = 60) -> Neighbourhood:
        """What lies around a concept; without a name, the concepts of which all papers together make most."""
        if name:
            return neighbourhoods.around(name, self.stores.graph, self.stores.catalog, hops=hops, limit=limit)
        return neighbourhoods.overview(self.stores.graph, self.stores.catalog, limit=limit)

    def draw_graph(self, path: str | Path, shown: Neighbourhood, *, force: bool = False) -> None:
        """Write what `graph` gave as a page for any browser; only `force` replaces a file that is no such page."""
        from carrel.atlas import page

        page.write(Path(path), shown, force=force)

    def path(self, name: str, *, limit: int = 12) -> StudyPath:
        """What to study before a concept, at most so many concepts, in order."""
        return paths.path(name, self.stores.graph, self.stores.catalog, limit=limit)

    # The user's own part of it

    def curated(self) -> Curated:
        """The user's own concepts and edges, as concepts.jsonl and edges.jsonl have them."""
        return curation.read(self.layout.root)

    def add_concept(
        self, concept_id: str, name: str, *, aliases: Iterable[str] = (), description: str = ""
    ) -> own_concepts.Kept:
        """Write a concept of the user's own."""
        wanted = CuratedConcept(concept_id, name, tuple(aliases), description)
        with self._curating() as folder:
            return own_concepts.add(folder, wanted)

    def update_concept(
        self,
        concept_id: str,
        *,
        name: str | None = None,
        aliases: Iterable[str] | None = None,
        description: str | None = None,
    ) -> own_concepts.Kept:
        """Change what is given of a concept; aliases that are given replace the others."""
        with self._curating() as folder:
            return own_concepts.update(folder, concept_id, name=name, aliases=aliases, description=description)

    def delete_concept(self, concept_id: str, *, force: bool = False) -> own_concepts.Deleted:
        """Take a concept out; one that has edges only by `force`, and these with it."""
        with self._curating() as folder:
            return own_concepts.delete(folder, concept_id, self._papers_among, force=force)

    def merge_concepts(self, source: str, target: str) -> own_concepts.Merged:
        """Make one concept of two, each by its id or name; a name that only papers use is made the user's own."""
        with self._curating() as folder:
            return own_concepts.merge(folder, source, target, self._papers_among, self._spoken_of)

    def add_edge(self, source: str, target: str, relationship: str, summary: str) -> own_edges.Kept:
        """Write an edge; one that joins the same two in the same way gets the new summary."""
        with self._curating() as folder:
            return own_edges.add(folder, Edge(source, target, relationship, summary), self._papers_among)

    def import_edges(self, path: str | Path) -> own_edges.Imported:
        """Write the edges of another file; a line that is none is left out and named."""
        with self._curating() as folder:
            return own_edges.take_from(Path(path), folder, self._papers_among)

    def groom_edges(self, *, fix: bool = False) -> own_edges.Groomed:
        """Find the edges one end of which is not there; `fix` takes them out."""
        if not fix:
            return own_edges.groom(self.layout.root, self._papers_among)
        with self._curating() as folder:
            self._refuse_broken_lines()
            return own_edges.groom(folder, self._papers_among, fix=True)

    @contextmanager
    def _curating(self) -> Iterator[Path]:
        """Where the files are; what is written to them meanwhile is in the graph afterwards."""
        with self._writing():
            yield self.layout.root
            try:
                curation.take_in(self.layout, self.stores.catalog, self.stores.graph)
            except CarrelError as error:
                hint = "Your change is written; 'carrel index build' brings it into the graph when that works again."
                raise type(error)(error.message, hint=hint) from error

    def _papers_among(self, ids: Collection[str]) -> set[str]:
        """Which of these are papers' ids. refs.jsonl is read only for those that the catalog does not know."""
        known = {row.reference.id for row in self.stores.catalog.papers(ids)} if self._has_catalog else set()
        if known.issuperset(ids):
            return known
        return known | ({reference.id for reference in self._found().references} & set(ids))

    def _without_reference(self, ids: Collection[str]) -> set[str]:
        """Which of these the library has a text of; none where there is no catalog, or none that can be read."""
        if not self._has_catalog:
            return set()
        try:
            return {row.reference.id for row in self.stores.catalog.papers(ids) if Part.BODY in row.parts}
        except CarrelError:
            return set()

    def _spoken_of(self, name: str) -> Concept | None:
        """The concept that papers mean by a name."""
        graph = self.stores.graph
        key = graph.resolve([name]).get(name)
        return None if key is None else graph.concepts([key])[key].concept

    def _refuse_broken_lines(self) -> None:
        """A line that cannot be read may be the paper or the concept that an edge seems to lack."""
        curated = self.curated()
        problems = [*self._found().problems, *curated.concept_lines.problems, *curated.project_lines.problems]
        if problems:
            first = problems[0]
            raise InvalidInput(
                f"what edges may have lost is not known: {len(problems)} lines cannot be read, as {first.source}",
                hint="'carrel check' names them. Mend them first.",
            )
