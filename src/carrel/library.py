"""The library: where everything is put together, and what every surface calls.

with Library.open("papers") as library:
    library.add("refs.jsonl", "notes")
    for passage in library.search("dense retrieval").passages:
        print(passage.chunk.address, passage.score)
    print(library.ask("Does dense retrieval beat BM25?").answer)
"""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from carrel import health, layout, likeness, locking, reading, retractions, settings
from carrel import search as searching
from carrel.embedders import cache_contents
from carrel.errors import PaperNotFound
from carrel.ingest import adding, indexing, reembedding
from carrel.ingest.reembedding import Replaced
from carrel.reading import chunks, figures, naming, papers
from carrel.references import jsonl
from carrel.references.records import public
from carrel.search.arranging import Shape
from carrel.selecting import narrowed
from carrel.showing import Showing
from carrel.stores import fits
from carrel.types import EVERYTHING, ChunkKind, Mode, Part, SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from carrel.catalogs import PaperRow
    from carrel.catalogs.locations import Location
    from carrel.checking import Checked
    from carrel.cited import Bibliography, CitedBy, Missing
    from carrel.embedders.cache_contents import Entry
    from carrel.exporting import Appended
    from carrel.opening import Opened
    from carrel.reading import View
    from carrel.references.conflicts import Choose, Resolution
    from carrel.references.duplicates import Group
    from carrel.retractions import Report
    from carrel.selecting import Criteria
    from carrel.types import AddReport, Box, Chunk, ExhibitKind, Filter, Progress


class Library(Showing):
    """A researcher's papers and everything that can be asked of them.

    Opening is cheap: stores and models are opened by the first verb that needs them. One process writes at a time;
    others that want to wait their turn, and readers never wait. Use it in a `with` block, or call `close`.
    """

    @classmethod
    def init(cls, folder: str | Path = ".", **options: Any) -> Self:  # noqa: ANN401
        """Make an empty library in a folder and open it."""
        return cls(layout.create(Path(folder)), **options)

    @classmethod
    def open(cls, path: str | Path = ".", **options: Any) -> Self:  # noqa: ANN401
        """Open the library that a folder holds or lies in.

        `overrides` are settings by key (`{"search.limit": 20}`); an `embedder`, `reranker` or `generator` that is given
        goes before the settings'.
        """
        return cls(layout.find(Path(path)), **options)

    def add(
        self,
        *sources: str | Path,
        tags: tuple[str, ...] = (),
        paper_id: str = "",
        force: bool = False,
        dry_run: bool = False,
        attached: bool = False,
        progress: Progress | None = None,
    ) -> AddReport:
        """Take in references, texts, whole folders and `zotero:`, and index what is new or changed.

        `attached` takes in the files that the references name, too. A dry run tells in `details` what would happen.
        """
        root = self.pdf_root.folder
        request = adding.Request(tuple(map(self._meant, sources)), tags, paper_id, force, dry_run, attached, root)
        with self.workers, nullcontext() if dry_run else self._writing(progress):
            return adding.add(request, self._workplace, progress=progress)

    def sync(
        self, *, prune: bool = False, dry_run: bool = False, quiet: float = 0.0, progress: Progress | None = None
    ) -> AddReport:
        """Look again at all that `add` was pointed at, and add, update and retire what changed there.

        `prune` retires also where everything is gone at once; files younger than `quiet` seconds are left alone.
        """
        from carrel.ingest import syncing

        request = syncing.Request(dry_run, prune, quiet, self.pdf_root.folder)
        with self.workers, nullcontext() if dry_run else self._writing(progress):
            return syncing.sync(request, self._workplace, progress=progress)

    def sources(self) -> Sequence[Location]:
        """What `sync` looks at."""
        return self.stores.catalog.locations.all()

    def forget(self, source: str | Path) -> str:
        """Look at a source no longer; its papers stay. Returns it as it was remembered."""
        from carrel.ingest import syncing

        with self._writing():
            return syncing.forget(source, self._workplace)

    def remove(self, *paper_ids: str) -> list[str]:
        """Take papers out of the library and of refs.jsonl. The files they were read from stay where they are."""
        with self._writing():
            was_current = self.index_state() == health.IndexState.READY
            rows = {row.reference.id: row for row in self.stores.catalog.papers(paper_ids)}
            for paper_id in paper_ids:
                if paper_id not in rows:
                    raise PaperNotFound(
                        f"Paper {paper_id!r} not found in database", hint="'carrel list' shows what there is."
                    )
            listed = {paper_id for paper_id, row in rows.items() if row.listed}
            if listed:
                jsonl.drop(self.layout.refs, listed)
            self.stores.catalog.retire(list(rows))
            if was_current:
                health.remember(health.mark_of(self.layout.refs), self.layout.cache)
            self._settle()
            self._archive_papers(rows)
            return list(rows)

    def search(
        self,
        query: str,
        *,
        mode: Mode | str = Mode.HYBRID,
        limit: int | None = None,
        where: Filter = EVERYTHING,
        criteria: Criteria | None = None,
        among: Collection[str] | None = None,
        by_paper: bool = False,
        diversity: float | None = None,
        cursor: str = "",
        user: str = "",
    ) -> SearchResult:
        """The passages that best fit a question, or their papers, of the papers whose records meet the criteria.

        `among` are the addresses of the only chunks that may be found. A result's `next_cursor` gets the next page.
        By `user`, of whom a hash is kept, the history knows whose search it was.
        """
        shape = Shape(by_paper, diversity, cursor, (where, criteria))
        if criteria is not None:
            allowed = narrowed(where, criteria, (card.reference for card in self.shelf.cards()))
            if allowed is None:
                searching.check_query(query)
                return SearchResult(query, Mode(mode), searching.strategy_of(Mode(mode)), ())
            where = allowed
        parts = self._pipeline(Mode(mode), among)
        result = searching.search(query, mode=Mode(mode), limit=limit, where=where, pipeline=parts, shape=shape)
        self._remember(secrets.token_hex(16), result, user=user)
        return result

    def figures(
        self,
        query: str,
        *,
        kind: ExhibitKind | None = None,
        mode: Mode | str = Mode.HYBRID,
        limit: int | None = None,
        where: Filter = EVERYTHING,
        criteria: Criteria | None = None,
        cursor: str = "",
    ) -> figures.FiguresFound:
        """The figures, tables and algorithms, or those of one kind, that best fit a question."""
        catalog, exhibits = self.stores.catalog, replace(where, kinds=frozenset({ChunkKind.EXHIBIT}))
        among = figures.of_kind(kind, where.paper_ids, catalog) if kind else None
        result = self.search(
            query, mode=mode, limit=limit, where=exhibits, criteria=criteria, among=among, cursor=cursor
        )
        return figures.found(result, kind, catalog, self.pictures)

    def around(self, shown: Iterable[Chunk]) -> Mapping[str, chunks.Around]:
        """By address: what stands before and after each of these chunks in its section."""
        return chunks.around(shown, self.stores.catalog)

    def semantic(
        self, query: str, *, limit: int = 10, threshold: float | None = None, where: Filter = EVERYTHING
    ) -> likeness.SemanticResult:
        """Papers whose abstracts are about what the query is about, from a similarity on that suits the model."""
        searching.check_query(query)
        searching.check_filter(where)
        parts = self.current
        return likeness.semantic(
            query,
            limit=limit,
            threshold=threshold,
            where=where,
            embedder=parts.embedder,
            vectors=parts.vectors,
            catalog=parts.catalog,
        )

    def similar(self, paper_id: str, *, limit: int = 10) -> likeness.SimilarResult:
        """The papers nearest to one of the library's own."""
        return likeness.similar(paper_id, limit=limit, vectors=self.stores.vectors, catalog=self.stores.catalog)

    def show(self, address: str) -> View:
        """A paper with its outline, a chapter, a section, a chunk with its neighbours, or a figure."""
        return reading.show(address, self.stores.catalog, self.pictures, self.stores.graph)

    def find(self, *names: str) -> Sequence[PaperRow]:
        """The papers of these ids or titles; one that is unknown or not alone in having its title is an error."""
        return naming.resolve_all(names, self.stores.catalog)

    def boxes(self, chunk: Chunk, start: int | None = None, end: int | None = None) -> tuple[Box, ...]:
        """Where on its pages a chunk stands, or `text[start:end]` of the text it is cut from."""
        return self._boxes(chunk, chunk.start if start is None else start, chunk.end if end is None else end)

    def text(self, address: str) -> str:
        """The stored source text that citations at this address count their offsets in."""
        return reading.source_text(address, self.stores.catalog)

    def list(self) -> list[PaperRow]:
        """Every paper, in order of id."""
        return self.stores.catalog.papers()

    def papers(self, wanted: papers.Wanted = papers.EVERY) -> papers.Listing:
        """The papers that are wanted, with how much there is of each."""
        return papers.listing(wanted, self.shelf, self.stores.catalog)

    def tags(self, *names: str) -> dict[str, int]:
        """How many of these papers, or of all, have each tag, the most used first."""
        return papers.tags(names, self.shelf, self.stores.catalog)

    def venues(self, query: str = "") -> dict[str, int]:
        """How many papers appeared at each venue whose name has this in it, the most used first."""
        return papers.venues(query, self.shelf)

    def bibliography(self, name: str) -> Bibliography:
        """What a paper cites, and which of it the library has."""
        from carrel import cited

        return cited.bibliography(self.find(name)[0].reference, self.stores.catalog)

    def cited_by(self, name: str) -> CitedBy:
        """The papers of the library that cite one of its own."""
        from carrel import cited

        return cited.cited_by(self.find(name)[0].reference, self.stores.catalog)

    def missing(self, *, limit: int = 0) -> Missing:
        """Works that several papers cite and the library does not have, the most cited first."""
        from carrel import cited

        return cited.missing(self.stores.catalog, limit=limit)

    def retractions(self) -> Report:
        """The papers that were retracted, corrected or doubted, by the file that the settings name and by tags."""
        return retractions.report((row.reference for row in self.list()), self.notices, self.settings.retractions)

    def headlines(self, paper_ids: Collection[str]) -> Mapping[str, str]:
        """By id, of those of these papers that somebody has given notice of: `RETRACTED`, or what else there is."""
        references = (row.reference for row in self.stores.catalog.papers(paper_ids))
        told = {one.id: retractions.headline(retractions.flags_of(one, self.notices)) for one in references}
        return {paper_id: word for paper_id, word in told.items() if word}

    def export(self, *paper_ids: str, style: str = "bibtex", for_others: bool = False) -> str:
        """These papers, or all, as BibTeX or as CSL-JSON (`style="csl"`).

        `for_others` leaves out abstracts, the reader's own words, and where files are.
        """
        from carrel import exporting

        references = exporting.chosen(paper_ids, self.stores.catalog)
        references = [public(one) for one in references] if for_others else references
        return exporting.as_csl(references) if style == "csl" else exporting.as_bibtex(references)

    def export_to(self, path: Path, *paper_ids: str) -> Appended:
        """Add these papers, or all, to a .bib file that does not have them yet."""
        from carrel import exporting

        return exporting.append(exporting.chosen(paper_ids, self.stores.catalog), path)

    def duplicates(self) -> Sequence[Group]:
        """Records of refs.jsonl that are one paper under several ids."""
        from carrel.references import duplicates

        return duplicates.find(self._found().references)

    def dedupe(self) -> Sequence[Group]:
        """Make one record of each such group; what only a duplicate says is kept, and its edges are the other's."""
        from carrel.curation import edges

        with self._writing():
            groups = self.duplicates()
            gone = {one.id for group in groups for one in group.duplicates}
            with_text = {row.reference.id for row in self.stores.catalog.papers(gone) if Part.BODY in row.parts}
            groups = [group for group in groups if with_text.isdisjoint(one.id for one in group.duplicates)]
            if groups:
                renamed = {one.id: group.primary.id for group in groups for one in group.duplicates}
                edges.rename_papers(self.layout.root, renamed)
                jsonl.write(self.layout.refs, {group.primary.id: group.merged for group in groups})
                jsonl.drop(self.layout.refs, set(renamed))
                self._take_in_refs()
                self._settle()
        return groups

    def resolve(self, *, choose: Choose | None = None, dry_run: bool = False) -> Resolution:
        """Merge git's conflicts in refs.jsonl; what cannot be merged keeps its markers and is named."""
        from carrel.references import conflicts

        with self._writing():
            return conflicts.resolve_file(self.layout.refs, choose, dry_run=dry_run)

    def check(self) -> Checked:
        """What is wrong with refs.jsonl, the files it names and the curated graph. Nothing is changed."""
        from carrel import checking

        return checking.check(self.layout.refs, self.pdf_root, elsewhere=self._without_reference)

    def open_papers(
        self, *paper_ids: str, recent: int | None = None, since: str | None = None, supplement: int | None = None
    ) -> Opened:
        """Show papers in the user's PDF reader: these, the last ones of refs.jsonl, or those new since a commit."""
        from carrel import opening

        references = {reference.id: reference for reference in self._found().references}
        shelf = opening.Shelf(self.layout.refs, references, self._rows, self.layout.root.parent, self.pdf_root)
        wanted = opening.Wanted(paper_ids, recent, since, supplement)
        return opening.open_papers(wanted, shelf, reader=self.settings.pdf_reader)

    def build_index(
        self, *, force: bool = False, keep_embedder: bool = False, progress: Progress | None = None
    ) -> health.IndexBuild:
        """Bring catalog and indexes to what refs.jsonl says; `force` makes them anew, embeddings included.

        The vectors of another model are built beside those there are, which are searched until the new ones are whole.
        With `keep_embedder` the library's config names the embedder from then on, and no sooner.
        """
        start, ready = time.monotonic(), self._keep_embedder if keep_embedder else lambda: None
        with self._changing_model(progress, ready, force=force) as finish, self._writing(progress):
            found, replaced = self._take_in_refs(), finish()
            if force:
                ready()
                indexing.start_over(self.stores)
            else:
                self._reopen_missing(found)
            settled = self._settle(progress, fresh=force)
            rows = self.stores.catalog.papers()
            skipped = sum(not indexing.has_meaning(row.reference, row.parts) for row in rows)
        return health.IndexBuild(
            papers_indexed=len(rows) - skipped,
            papers_skipped=skipped,
            chunks_embedded=settled.embedded + replaced.embedded,
            duration_seconds=round(time.monotonic() - start, 3),
            model=self.embedder.name,
            index_size_bytes=health.index_size(self.layout.cache),
            failed=(*found.problems, *settled.failed),
            model_before=replaced.model,
            papers_resumed=replaced.resumed,
        )

    @contextmanager
    def _changing_model(
        self, progress: Progress | None, ready: Callable[[], None], *, force: bool
    ) -> Iterator[Callable[[], Replaced]]:
        """Embed what is there, if the vectors are another model's, while others write; given is what ends it."""
        if force or fits(self.current):
            yield Replaced
            return
        lock = self.layout.cache / "model.lock"
        with locking.held(lock, timeout=self.settings.lock_timeout, progress=progress):
            with self._writing(progress):
                self._take_in_refs()
            batch = self.settings.ingest.batch_characters
            yield reembedding.begin(self.current, self.layout.cache, batch=batch, progress=progress, ready=ready)

    def _keep_embedder(self) -> None:
        settings.assign(self.layout.config, "embedder", self.settings.embedder)

    def check_index(self) -> health.IndexCheck:
        """Whether the indexes are what refs.jsonl and the catalog say they should be."""
        return health.check(self._found(), self.stores, self.layout.cache, self.index_state())

    def cached(self, *, model: str = "", paper_id: str = "") -> Sequence[Entry]:
        """What the embedding cache holds, of every model or one, of every paper or one."""
        return cache_contents.entries(self.layout.embeddings, model=model, paper_id=paper_id)

    def clear_cache(self, *, model: str = "", paper_id: str = "") -> Sequence[Entry]:
        """Forget these embeddings, or all; returns what was there. The indexes stay as they are."""
        with self._writing():
            return cache_contents.clear(self.layout.embeddings, model=model, paper_id=paper_id)

    def index_state(self) -> health.IndexState:
        """Whether the index is built, being built, ready or stale, told from its marks alone."""
        return health.state_of(self.stores, self.layout)

    def _rows(self, paper_ids: Sequence[str]) -> Sequence[PaperRow]:
        """What the catalog has of these papers; a library that was never indexed has none yet."""
        return self.stores.catalog.papers(paper_ids) if self._has_catalog else []
