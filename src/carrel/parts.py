"""What a library is made of: its settings, its stores, its models, each opened when first asked for."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from carrel import curation, health, registry, retractions, settings
from carrel.answer import Means
from carrel.assembling import Assembling
from carrel.chunking import Limits, pages
from carrel.concepts import Rules
from carrel.concepts.triples import Asked
from carrel.embedders.cache import EmbeddingCache
from carrel.embedders.papers_cache import PapersCache
from carrel.errors import InvalidInput, SourceError, StoreUnavailable
from carrel.ingest import adding, entries, indexing
from carrel.isolation.process import Budget
from carrel.isolation.workers import Workers
from carrel.once import once
from carrel.pictures import Pictures
from carrel.reading import figures
from carrel.reading.shelf import Shelf
from carrel.search import Pipeline, arms
from carrel.search.begun import within
from carrel.search.concepts import Concepts
from carrel.search.meaning import Meaning
from carrel.search.understanding import Understanding
from carrel.selecting import narrowed_by_fields
from carrel.stores import Stores, fits
from carrel.succession import Succession
from carrel.types import Degradation, Mode, Problem, Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from contextlib import AbstractContextManager
    from types import TracebackType

    from carrel.attachments import PdfRoot
    from carrel.catalogs import Catalog, QueryRecord
    from carrel.concepts import Extractor
    from carrel.embedders import Embedder
    from carrel.generators import Generator
    from carrel.layout import Layout
    from carrel.locking import LibraryLock
    from carrel.parsers import Parser
    from carrel.references import Found
    from carrel.rerankers import Reranker
    from carrel.retractions.index import Index
    from carrel.types import Box, Chunk, Progress


_DATALAB = "datalab:"


class Parts:
    """The parts that the verbs of a library work on."""

    def __init__(
        self,
        place: Layout,
        *,
        overrides: Mapping[str, Any] | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.layout = place
        self.settings, self.origins = settings.load(place.config, overrides)
        self._succession = Succession(place, overrides, is_closed=embedder is not None)
        self.observers: list[Callable[[QueryRecord], None]] = []
        """Who is told of each query, whether or not it is kept."""
        if embedder is not None:
            self.embedder = embedder
        if reranker is not None:
            self.reranker = reranker
        if generator is not None:
            self.generator = generator

    def close(self) -> None:
        if "stores" in self.__dict__:
            self._succession.close()
            self.stores.vectors.close()
            self.stores.keywords.close()
            self.stores.graph.close()
            self.stores.catalog.close()
            del self.stores
            for name in ("_meaning", "shelf"):
                self.__dict__.pop(name, None)
        if "workers" in self.__dict__:
            self.workers.close()
        if notices := self.__dict__.pop("notices", None):
            notices.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @once
    def embedder(self) -> Embedder:
        return self.assembling.embedder()

    @once
    def generator(self) -> Generator:
        chosen = self.settings.generation
        made: Generator = registry.make(
            "generators",
            self.settings.generator,
            max_statements=self.settings.answer.max_statements,
            threads=self.settings.threads or None,
            folder=self.layout.root.parent,
            cache=self.layout.cache / "models",
            confined=self._is_checked_in("generator"),
            api_key=self._generation_key,
            **chosen.model_dump(exclude={"api_key"}),
        )
        return made

    @property
    def _generation_key(self) -> str:
        """The user's key, where the user has named the server: by its address, or by the maker's name."""
        chosen, named = self.settings.generation, self.settings.generator
        if self._is_checked_in("generation.base_url" if chosen.base_url else "generator"):
            return ""
        server = settings.generator_server(named, chosen.base_url)
        return settings.key_for(named, server, chosen.api_key.get_secret_value())

    @once
    def reranker(self) -> Reranker | None:
        if self.settings.reranker == "none":
            return None
        chosen, confined = self.settings.rerank, self._is_checked_in("reranker")
        made: Reranker = registry.make(
            "rerankers",
            self.settings.reranker,
            threads=self.settings.threads or None,
            folder=self.layout.root.parent,
            confined=confined,
            model=chosen.model,
            timeout=chosen.timeout,
            api_key="" if confined else chosen.api_key.get_secret_value(),
        )
        return made

    @once
    def stores(self) -> Stores:
        catalog, make = self.make_catalog(), self.assembling
        return Stores(
            catalog=catalog,
            vectors=make.vectors(catalog, model=self.embedder.name, dim=self.embedder.dim),
            keywords=make.keywords(catalog),
            graph=make.graph(),
            embedder=self.embedder,
            cache=self._cache,
            pictures=self.pictures,
            extractor=self._extractor,
        )

    @property
    def _cache(self) -> EmbeddingCache:
        model = self.embedder
        return EmbeddingCache(self.layout.embeddings, model=model.name, dim=model.dim, lender=self._lender)

    @property
    def current(self) -> Stores:
        """The stores, with the embedder that their vectors are of by now; who only searches need not ask."""
        # Whatever is read, a store sees whose vectors it has by now. What cannot be read is told by whoever needs it.
        with suppress(StoreUnavailable):
            self.stores.vectors.many(())
        return self._follow()

    def _follow(self) -> Stores:
        """Take up the embedder of vectors that took the place of those that were here, if the settings name it."""
        with self._succession.turn:
            if fits(self.stores):
                return self.stores
            if found := self._succession.successor(self.stores, self.settings, self.origins):
                self.settings, self.origins, self.embedder = found.settings, found.origins, found.embedder
                self.stores = replace(self.stores, vectors=found.vectors, embedder=found.embedder, cache=self._cache)
            return self.stores

    @property
    def _extractor(self) -> Extractor | None:
        """Who finds out how concepts stand to each other; None where no graph is wanted."""
        chosen = self.settings.concepts
        if chosen.extractor == "none":
            return None
        if chosen.extractor == "rules":
            return Rules()
        return Asked(self.generator, self.layout.cache / "triples", chosen.max_asked)

    @property
    def _has_catalog(self) -> bool:
        """Whether there may be one; a file is not made only to be found empty."""
        return self.settings.catalog != "sqlite" or self.layout.database.exists()

    def make_catalog(self) -> Catalog:
        return self.assembling.catalog()

    @property
    def assembling(self) -> Assembling:
        return Assembling(self.layout, self.settings, self._is_checked_in)

    @cached_property
    def parsers(self) -> Mapping[str, Parser]:
        """The parser for each suffix. They read in processes of their own, unless the user wants it otherwise."""
        return self._parsers_in(self.workers)

    def _parsers_in(self, workers: Workers) -> Mapping[str, Parser]:
        inside = partial(registry.make, "parsers", ocr_pages=self._budget.ocr_pages)
        make = workers.isolated if self.settings.ingest.isolate else inside
        made: list[Parser] = [make(name) for name in registry.names("parsers")]
        return {suffix: parser for parser in made for suffix in parser.suffixes}

    @cached_property
    def workers(self) -> Workers:
        """The processes that files are read in."""
        return Workers(self._budget)

    def _is_checked_in(self, key: str) -> bool:
        """Whether it is the library's own config, which may come from somebody else, that sets this."""
        return self.origins.get(key) == str(self.layout.config)

    @property
    def _budget(self) -> Budget:
        chosen = self.settings.ingest
        return Budget(
            seconds=chosen.parse_seconds,
            megabytes=chosen.parse_megabytes,
            characters=chosen.max_document_characters,
            ocr_pages=chosen.ocr_pages if chosen.ocr == "scans" else 0,
            ocr_seconds=chosen.ocr_seconds,
        )

    @cached_property
    def pdf_root(self) -> PdfRoot:
        """Where the references' files are looked for."""
        from carrel import attachments

        return attachments.pdf_root(self.layout, self.settings.pdf_root, confined=self._is_checked_in("pdf_root"))

    @property
    def _lender(self) -> PapersCache | None:
        """The embedding cache of papers-rag, where its user has one."""
        folder = self._folder("ingest.papers_embed_cache", self.settings.ingest.papers_embed_cache)
        return PapersCache(folder, model=self.embedder.name, dim=self.embedder.dim) if folder else None

    def _folder(self, key: str, named: str) -> Path | None:
        """What a setting names; where the library's own config names it, links out of the library are not followed."""
        return self.layout.folder(named, confined=self._is_checked_in(key))

    def _meant(self, source: str | Path) -> str | Path:
        """A file, folder or address as it is; `datalab:` and `datalab:KEY` as the folder that papers-rag uses."""
        if not isinstance(source, str) or not source.startswith(_DATALAB):
            return source
        folder = self._folder("ingest.papers_datalab_cache", self.settings.ingest.papers_datalab_cache)
        if folder is None:
            raise InvalidInput(
                f"{source!r} names papers-rag's cache, but nothing says where that is",
                hint="Set PAPERS_DATALAB_CACHE_DIR, or ingest.papers_datalab_cache.",
            )
        key = source.removeprefix(_DATALAB)
        if Path(key).name != key:
            raise InvalidInput(f"{source!r} names no extraction: a key has no '/'", hint="As in datalab:ABCD1234.")
        return folder / key

    @property
    def pictures(self) -> Pictures:
        """The pictures of the papers' figures."""
        return Pictures(self.layout.images, self.layout.root.parent)

    @once
    def shelf(self) -> Shelf:
        """What papers are listed by."""
        return Shelf(self.stores.catalog)

    @once
    def _meaning(self) -> Meaning:
        return Meaning(self.embedder, self.stores.vectors, self._follow)

    def _pipeline(self, mode: Mode, among: Collection[str] | None = None, *, graph: bool = True) -> Pipeline:
        """What a search of this mode is made of; `among` are the addresses of the only chunks it may find."""
        stores = self.stores
        asked = {
            "vector": arms.vector_arm(self._meaning, lambda: len(stores.catalog.addresses())),
            "keyword": arms.keyword_arm(stores.keywords),
        }
        options = self.settings.search
        walked = mode == Mode.GRAPH or (mode == Mode.HYBRID and options.weight_graph > 0)
        # The graph is not to fail with words that do not come.
        chunks = None if walked else partial(within, options.arm_timeout / 2, stores.keywords.count)
        concepts = Concepts(stores.graph, hops=options.graph_hops, nearly=walked, chunks=chunks) if graph else None
        if concepts and walked and (mode == Mode.GRAPH or concepts.may_lead(options.arm_timeout / 2)):
            asked["graph"] = arms.graph_arm(concepts)
        adapt = (lambda arm: arm) if among is None else partial(figures.among, among)
        narrow = partial(narrowed_by_fields, references=lambda: (card.reference for card in self.shelf.cards()))
        return Pipeline(
            {name: adapt(arm) for name, arm in asked.items()},
            stores.catalog,
            self.reranker,
            options,
            understanding=Understanding(stores.keywords, stores.catalog, options, narrow, adapt),
            rerank=self.settings.rerank,
            meaning=self._meaning,
            concepts=concepts,
        )

    @property
    def _means(self) -> Means:
        """What an answer is made with."""
        options = self.settings.answer
        stand_in = registry.make("generators", "extractive", max_statements=options.max_statements)
        return Means(
            self.embedder,
            self.generator,
            options,
            stand_in,
            seconds=self.settings.generation.seconds,
            boxes=self._boxes,
            standing=self.standing,
            faults=self._standing_faults,
        )

    @cached_property
    def notices(self) -> Index | None:
        """Where retractions are looked up, if a file of them is named."""
        from carrel.retractions.index import Index

        named = self.settings.retractions
        return Index(named, self._folder("retractions", named), self.layout.cache) if named else None

    def standing(self, paper_id: str) -> Standing:
        """Where a paper is found in the world, and what became of it."""
        rows = self.stores.catalog.papers([paper_id])
        return retractions.standing_of(rows[0].reference, self.notices) if rows else Standing()

    def _standing_faults(self) -> tuple[Degradation, ...]:
        complaint = self.notices.complaint if self.notices else ""
        return (Degradation("retractions", complaint),) if complaint else ()

    def _boxes(self, chunk: Chunk, start: int, end: int) -> tuple[Box, ...]:
        places = self.stores.catalog.places(chunk.paper_id, chunk.part)
        return pages.boxes(places, start, end, chunk.text, chunk.start)

    @property
    def _workplace(self) -> adding.Workplace:
        chunking, limits = self.settings.chunking, self.settings.ingest
        return adding.Workplace(
            stores=self.current,
            refs=self.layout.refs,
            parsers=self.parsers,
            relative=self.layout.relative,
            taking_in=partial(health.taking_in, self.layout),
            limits=Limits(chunking.min_tokens, chunking.target_tokens, chunking.max_tokens),
            longest=limits.max_document_characters,
            batch=limits.batch_characters,
            curate=self._curate,
        )

    def _found(self) -> Found:
        """The library's own references, and the lines of refs.jsonl that are none."""
        return adding.read_refs(self.layout.refs)

    def _take_in_refs(self) -> Found:
        """Make the catalog say what refs.jsonl says."""
        mark, found = health.mark_of(self.layout.refs), self._found()
        entries.put_references(found.references, self.stores, complete=not found.problems)
        if not found.problems:
            health.remember(mark, self.layout.cache)
        return found

    def _reopen_missing(self, found: Found) -> None:
        """Papers that an index lost, its directory deleted perhaps, or has too much of are to be indexed again.

        What the catalog does not know at all is left: a collection on a server may have been given to two libraries.
        """
        checked = health.compare(found, self.stores, self.layout.cache, health.IndexState.BUILDING)
        self.stores.catalog.reopen({*checked.missing, *checked.wrong_model, *checked.orphaned})

    def _settle(self, progress: Progress | None = None, *, fresh: bool = False) -> indexing.Settled:
        batch = self.settings.ingest.batch_characters
        settled = indexing.settle(self.current, batch=batch, progress=progress, fresh=fresh)
        return settled._replace(remarks=[*settled.remarks, *self._curate()])

    def _curate(self) -> list[Problem]:
        """Make the graph say what the user's own files say; what is wrong with those keeps no paper out."""
        try:
            curation.take_in(self.layout, self.stores.catalog, self.stores.graph)
        except SourceError as error:
            return [Problem("concepts", f"{error.message}. {error.hint}")]
        return []

    @cached_property
    def lock(self) -> LibraryLock:
        """Which of those writes who want to."""
        return self.assembling.lock()

    def _writing(self, progress: Progress | None = None) -> AbstractContextManager[object]:
        return self.lock.alone(timeout=self.settings.lock_timeout, progress=progress)
