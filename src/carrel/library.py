"""The library: where everything is put together, and what every surface calls.

with Library.open("papers") as library:
    library.add("refs.jsonl", "notes")
    for passage in library.search("dense retrieval").passages:
        print(passage.chunk.address, passage.score)
    print(library.ask("Does dense retrieval beat BM25?").answer)
"""

from __future__ import annotations

import logging
import secrets
import time
from collections import Counter
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from carrel import answer as answering
from carrel import health, history, layout, likeness, locking, reading, registry, settings
from carrel import search as searching
from carrel.chunking import Limits
from carrel.embedders.cache import EmbeddingCache
from carrel.errors import CarrelError, InvalidInput, PaperNotFound
from carrel.files import write_atomically
from carrel.ingest import adding, entries, indexing
from carrel.references import jsonl
from carrel.selecting import select
from carrel.stores import Stores
from carrel.telemetry import log
from carrel.types import EVERYTHING, DoneEvent, Mode, Part, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from carrel.catalogs import PaperRow
    from carrel.embedders import Embedder
    from carrel.exporting import Appended
    from carrel.generators import Generator
    from carrel.layout import Layout
    from carrel.parsers import Parser
    from carrel.reading import ChunkView, PaperView
    from carrel.references import Found
    from carrel.references.conflicts import Choose, Resolution
    from carrel.references.duplicates import Group
    from carrel.rerankers import Reranker
    from carrel.selecting import Criteria
    from carrel.types import AddReport, Answer, Event, Filter, Progress


class Library:
    """A researcher's papers and everything that can be asked of them.

    Opening is cheap: stores and models are opened by the first verb that needs them. One process writes at a time;
    others that want to wait their turn, and readers never wait. Use it in a `with` block, or call `close`.
    """

    def __init__(
        self,
        place: Layout,
        *,
        overrides: Mapping[str, Any] | None = None,
        embedder: Embedder | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.layout = place
        self.settings, self.origins = settings.load(place.config, overrides)
        if embedder is not None:
            self.embedder = embedder
        if generator is not None:
            self.generator = generator

    @classmethod
    def init(cls, folder: str | Path = ".", **options: Any) -> Self:  # noqa: ANN401
        """Make an empty library in a folder and open it."""
        return cls(layout.create(Path(folder)), **options)

    @classmethod
    def open(cls, path: str | Path = ".", **options: Any) -> Self:  # noqa: ANN401
        """Open the library that a folder holds or lies in.

        `overrides` are settings by key (`{"search.limit": 20}`); `embedder` and `generator` take the place of those
        that the settings name.
        """
        return cls(layout.find(Path(path)), **options)

    def close(self) -> None:
        if "stores" in self.__dict__:
            self.stores.vectors.close()
            self.stores.keywords.close()
            self.stores.graph.close()
            self.stores.catalog.close()
            del self.stores

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # What can be done with it

    def add(
        self,
        *paths: str | Path,
        tags: tuple[str, ...] = (),
        paper_id: str = "",
        force: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> AddReport:
        """Take in references, texts and whole folders, and index what is new or changed."""
        request = adding.Request(tuple(map(Path, paths)), tags, paper_id, force=force, dry_run=dry_run)
        if dry_run:
            return adding.add(request, self._workplace)
        with self._writing(progress):
            return adding.add(request, self._workplace, progress=progress)

    def remove(self, *paper_ids: str) -> list[str]:
        """Take papers out of the library and of refs.jsonl. The files they were read from stay where they are."""
        with self._writing():
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
            self._settle()
            return list(rows)

    def search(
        self,
        query: str,
        *,
        mode: Mode | str = Mode.HYBRID,
        limit: int | None = None,
        where: Filter = EVERYTHING,
        criteria: Criteria | None = None,
    ) -> SearchResult:
        """The passages that best fit a question, of the papers whose records meet the criteria."""
        if criteria is not None:
            chosen = select(criteria, (row.reference for row in self.list()))
            where = replace(where, paper_ids=where.paper_ids & chosen if where.paper_ids else chosen)
            if not where.paper_ids:
                searching.check_query(query)
                return SearchResult(query, Mode(mode), searching.strategy_of(Mode(mode)), ())
        wanted = self.settings.search.limit if limit is None else limit
        result = self._search(query, Mode(mode), wanted, where)
        self._remember(secrets.token_hex(16), result)
        return result

    def ask(self, question: str, *, top_k: int | None = None, where: Filter = EVERYTHING) -> Answer:
        """An answer in which every statement is proved, or the word that the library does not have one."""
        return answering.collect(self.stream(question, top_k=top_k, where=where))

    def stream(self, question: str, *, top_k: int | None = None, where: Filter = EVERYTHING) -> Iterator[Event]:
        """The same answer as it grows; the last event carries the whole."""
        options = self.settings.answer
        result = self._search(question, Mode.HYBRID, options.top_k if top_k is None else top_k, where)
        events = answering.answer(
            question, result=result, embedder=self.embedder, generator=self.generator, options=options
        )
        for event in events:
            if isinstance(event, DoneEvent):
                self._remember(event.answer.query_id, result, event.answer)
            yield event

    def semantic(self, query: str, *, limit: int = 10, threshold: float | None = None) -> likeness.SemanticResult:
        """Papers whose abstracts are about what the query is about, from a similarity on that suits the model."""
        searching.check_query(query)
        parts = self.stores
        return likeness.semantic(
            query,
            limit=limit,
            threshold=threshold,
            embedder=self.embedder,
            vectors=parts.vectors,
            catalog=parts.catalog,
        )

    def similar(self, paper_id: str, *, limit: int = 10) -> likeness.SimilarResult:
        """The papers nearest to one of the library's own."""
        return likeness.similar(paper_id, limit=limit, vectors=self.stores.vectors, catalog=self.stores.catalog)

    def show(self, address: str) -> PaperView | ChunkView:
        """A paper with its outline, or a chunk with its neighbours."""
        return reading.show(address, self.stores.catalog)

    def text(self, address: str) -> str:
        """The stored source text that citations at this address count their offsets in."""
        return reading.source_text(address, self.stores.catalog)

    def list(self) -> list[PaperRow]:
        """Every paper, in order of id."""
        return self.stores.catalog.papers()

    def tags(self) -> dict[str, int]:
        """How many papers have each tag, the most used first."""
        counted = Counter(tag for row in self.list() for tag in row.reference.tags)
        return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))

    def export(self, *paper_ids: str, style: str = "bibtex") -> str:
        """These papers, or all, as BibTeX or as CSL-JSON (`style="csl"`)."""
        from carrel import exporting

        references = exporting.chosen(paper_ids, self.stores.catalog)
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
        """Make one record of each such group; what only a duplicate says is kept."""
        with self._writing():
            groups = self.duplicates()
            gone = {one.id for group in groups for one in group.duplicates}
            with_text = {row.reference.id for row in self.stores.catalog.papers(gone) if Part.BODY in row.parts}
            groups = [group for group in groups if with_text.isdisjoint(one.id for one in group.duplicates)]
            if groups:
                jsonl.write(self.layout.refs, {group.primary.id: group.merged for group in groups})
                jsonl.drop(self.layout.refs, {one.id for group in groups for one in group.duplicates})
                found = self._found()
                entries.put_references(found.references, self.stores, complete=not found.problems)
                self._settle()
        return groups

    def resolve(self, *, choose: Choose | None = None, dry_run: bool = False) -> Resolution:
        """Merge git's conflicts in refs.jsonl; what cannot be merged keeps its markers and is named."""
        from carrel.references import conflicts

        with self._writing():
            try:
                text = self.layout.refs.read_text(encoding="utf-8")
                resolution = conflicts.resolve(text, choose or (lambda *_: None))
            except ValueError as error:
                raise InvalidInput(
                    f"the conflict in {str(self.layout.refs)!r} cannot be read: {error}", hint="Mend that line by hand."
                ) from error
            if not dry_run and resolution.operations:
                write_atomically(self.layout.refs, resolution.text.encode())
        return resolution

    def build_index(self, *, force: bool = False, progress: Progress | None = None) -> health.IndexBuild:
        """Bring catalog and indexes to what refs.jsonl says; `force` makes them anew, embeddings included."""
        start = time.monotonic()
        with self._writing(progress):
            found = self._found()
            entries.put_references(found.references, self.stores, complete=not found.problems)
            if force or self.stores.vectors.model != self.embedder.name:
                indexing.start_over(self.stores)
            else:
                self._reopen_missing()
            embedded = self._settle(progress, fresh=force)
            rows = self.stores.catalog.papers()
            skipped = sum(not indexing.has_meaning(row.reference, row.parts) for row in rows)
        return health.IndexBuild(
            papers_indexed=len(rows) - skipped,
            papers_skipped=skipped,
            chunks_embedded=embedded,
            duration_seconds=round(time.monotonic() - start, 3),
            model=self.embedder.name,
            index_size_bytes=health.index_size(self.layout.cache),
            failed=tuple(found.problems),
        )

    def check_index(self) -> health.IndexCheck:
        """Whether the indexes are what refs.jsonl and the catalog say they should be."""
        return health.check(self._found(), self.stores, self.layout.cache)

    # What it is made of

    @cached_property
    def embedder(self) -> Embedder:
        checked_in = {key for key, origin in self.origins.items() if origin == str(self.layout.config)}
        models = self.settings.models
        made: Embedder = registry.make(
            "embedders",
            self.settings.embedder,
            threads=self.settings.threads or None,
            folder=self.layout.root.parent,
            cache=self.layout.cache / "models",
            confined="embedder" in checked_in,
            # The user's key goes to no server that only the library's config names.
            api_key="" if "models.base_url" in checked_in else models.api_key.get_secret_value(),
            **models.model_dump(exclude={"api_key", "allow_remote"}, exclude_defaults=True),
        )
        return made

    @cached_property
    def generator(self) -> Generator:
        options = {"max_statements": self.settings.answer.max_statements}
        made: Generator = registry.make("generators", self.settings.generator, **options)
        return made

    @cached_property
    def reranker(self) -> Reranker | None:
        name = self.settings.reranker
        made: Reranker | None = None if name == "none" else registry.make("rerankers", name)
        return made

    @cached_property
    def stores(self) -> Stores:
        cache, chosen = self.layout.cache, self.settings
        model = {"model": self.embedder.name, "dim": self.embedder.dim}
        return Stores(
            catalog=registry.make("catalogs", chosen.catalog, path=self.layout.database),
            vectors=registry.make("vectors", chosen.vectors, directory=cache / "vectors", **model),
            keywords=registry.make("keywords", chosen.keywords, directory=cache / "keywords"),
            graph=registry.make("graphs", chosen.graph, path=cache / "graph" / "graph.db"),
            embedder=self.embedder,
            cache=EmbeddingCache(self.layout.embeddings, model=self.embedder.name, dim=self.embedder.dim),
        )

    @cached_property
    def parsers(self) -> Mapping[str, Parser]:
        """The parser for each suffix."""
        made: list[Parser] = [registry.make("parsers", name) for name in registry.names("parsers")]
        return {suffix: parser for parser in made for suffix in parser.suffixes}

    @property
    def _workplace(self) -> adding.Workplace:
        chunking, limits = self.settings.chunking, self.settings.ingest
        return adding.Workplace(
            stores=self.stores,
            refs=self.layout.refs,
            parsers=self.parsers,
            relative=self.layout.relative,
            limits=Limits(chunking.min_tokens, chunking.target_tokens, chunking.max_tokens),
            longest=limits.max_document_characters,
            batch=limits.batch_characters,
        )

    def _search(self, query: str, mode: Mode, limit: int, where: Filter) -> SearchResult:
        stores = self.stores
        arms = {
            "vector": searching.vector_arm(self.embedder, stores.vectors),
            "keyword": searching.keyword_arm(stores.keywords),
        }
        if mode == Mode.GRAPH or stores.graph.count():
            arms["graph"] = searching.graph_arm(stores.graph)
        pipeline = searching.Pipeline(arms, stores.catalog, self.reranker, self.settings.search)
        return searching.search(query, mode=mode, limit=limit, where=where, pipeline=pipeline)

    def _remember(self, query_id: str, result: SearchResult, answer: Answer | None = None) -> None:
        """Keep the query's figures. History is a courtesy: failing to write it does not fail the query."""
        kept = self.settings.history
        if not kept.enabled:
            return
        query = history.record(query_id, result, answer=answer, threshold=self.settings.answer.threshold)
        try:
            self.stores.catalog.record_query(query, keep_text=kept.keep_text)
        except CarrelError as error:
            log("history", logging.WARNING, "query not recorded", reason=error.message)

    def _found(self) -> Found:
        """The library's own references, and the lines of refs.jsonl that are none."""
        return adding.read_refs(self.layout.refs)

    def _reopen_missing(self) -> None:
        """Papers that an index lost, its directory deleted perhaps, are to be indexed again."""
        checked = health.compare(self._found(), self.stores, self.layout.cache)
        self.stores.catalog.reopen(checked.missing)

    def _settle(self, progress: Progress | None = None, *, fresh: bool = False) -> int:
        batch = self.settings.ingest.batch_characters
        return indexing.settle(self.stores, batch=batch, progress=progress, fresh=fresh)

    def _writing(self, progress: Progress | None = None) -> AbstractContextManager[None]:
        return locking.held(self.layout.lock, timeout=self.settings.lock_timeout, progress=progress)
