"""What can be set: names, defaults, bounds, and what each means."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from carrel.settings import places
from carrel.settings.base import Section
from carrel.settings.service import Jobs, Mcp, Serve


class Search(Section):
    limit: int = Field(default=10, ge=1, le=1000, description="How many passages a search returns.")
    candidates: int = Field(
        default=200,
        ge=1,
        le=10_000,
        description="How many candidates each arm is asked for; more only when these are not enough.",
    )
    shortlist: int = Field(
        default=30,
        ge=1,
        le=10_000,
        description="How many of them are looked at closely and reranked; more only when these are not enough.",
    )
    collapse: bool = Field(
        default=True, description="Show a passage once that stands in several places, or in two versions of a paper."
    )
    diversity: float = Field(
        default=0.0, ge=0, le=1, description="How much a passage must differ from those before it; 0 for not at all."
    )
    fusion: Literal["z_score", "min_max", "rrf"] = Field(
        default="z_score",
        description="How the arms' rankings become one: by scores in standard deviations, by scores between the "
        "least and the best, or by ranks.",
    )
    rrf_k: int = Field(default=60, ge=1, description="k of reciprocal rank fusion: larger values flatten the ranks.")
    weight_vector: float = Field(default=1.0, ge=0, description="Weight of the vector arm in the fusion.")
    weight_keyword: float = Field(default=0.5, ge=0, description="Weight of the keyword arm in the fusion.")
    weight_graph: float = Field(
        default=0.0, ge=0, description="Weight of the graph arm in the fusion; 0 leaves it to `--mode graph`."
    )
    weight_bridge: float = Field(
        default=4.0,
        ge=0,
        le=100,
        description="How far a passage rises that a surer one names by its title; 0 for not at all.",
    )
    graph_hops: int = Field(
        default=2,
        ge=0,
        le=3,
        description="How many relations the graph arm follows from the concepts that a question names.",
    )
    feedback: int = Field(
        default=2,
        ge=0,
        le=20,
        description="How many of the best passages of a first round the question is drawn to for a second; 0 for none.",
    )
    feedback_weight: float = Field(
        default=0.6, ge=0, le=10, description="How far it is drawn to them; 1 counts them as much as the question."
    )
    arm_timeout: float = Field(
        default=10.0, gt=0, description="Seconds an arm may take before the search goes on without it."
    )
    query_fields: bool = Field(
        default=True, description="Whether `author:`, `title:`, `venue:`, `tag:` and `year:` in a query choose papers."
    )
    phrases: bool = Field(
        default=True, description='Whether a "phrase in quotation marks" must stand in what is found by words.'
    )
    spelling: bool = Field(
        default=True, description="Put words right that the library does not have, by those that it has."
    )
    acronyms: bool = Field(
        default=True, description="Look up acronyms also by what they stand for in the library, and the reverse."
    )


class Answer(Section):
    top_k: int = Field(default=5, ge=1, le=20, description="How many passages an answer may draw on.")
    threshold: float = Field(
        default=0.4,
        ge=0,
        le=1,
        description="Least probability that what was found holds an answer, for one to be given.",
    )
    max_statements: int = Field(
        default=4, ge=1, le=50, description="How many statements the extractive generator makes at most."
    )


class Chunking(Section):
    min_tokens: int = Field(default=100, ge=1, description="Smaller pieces are joined to their neighbours.")
    target_tokens: int = Field(
        default=512, ge=1, description="A chunk that has reached this size is closed at the next good place."
    )
    max_tokens: int = Field(default=1024, ge=1, description="No chunk grows beyond this by adding another block.")


class Ingest(Section):
    max_document_characters: int = Field(default=10_000_000, ge=1, description="Longer documents are refused.")
    batch_characters: int = Field(
        default=400_000,
        ge=1,
        description="How much text is embedded and committed together; what an interruption may cost.",
    )
    isolate: bool = Field(
        default=True,
        description="Read files in a process of its own, so that a broken one costs only itself; "
        "only from your own config or `CARREL_INGEST__ISOLATE`.",
    )
    parse_seconds: float = Field(default=120.0, gt=0, le=86_400, description="Seconds that reading one file may take.")
    parse_megabytes: int = Field(
        default=2048, ge=256, le=1_048_576, description="Memory that reading one file may take, in MB; not on Windows."
    )
    ocr: Literal["scans", "off"] = Field(
        default="scans", description="Recognise the text of scanned pages, where the extra `ocr` is installed."
    )
    ocr_pages: int = Field(
        default=200, ge=1, le=100_000, description="Scanned pages of a file that are recognised; the rest is left out."
    )
    ocr_seconds: float = Field(
        default=60.0, gt=0, le=86_400, description="Seconds that recognising one page may take, for each anew."
    )
    papers_embed_cache: str = Field(
        default="",
        description="A papers-rag embedding cache to take vectors from; `PAPERS_EMBED_CACHE_DIR` names one, too.",
    )
    papers_datalab_cache: str = Field(
        default="",
        description="A papers-rag DataLab cache to take papers from; `PAPERS_DATALAB_CACHE_DIR` names one, too.",
    )


class History(Section):
    enabled: bool = Field(default=True, description="Keep a record of each query's timings and counts.")
    keep_text: bool = Field(default=False, description="Keep the words of each query, not only a salted hash.")
    retention_days: int = Field(
        default=0,
        ge=0,
        le=36_500,
        description="Days after which a query and what was said of it are forgotten; 0: never.",
    )


def _web_address(text: str) -> str:
    parts = urlsplit(text)
    # `port` is read because it is only looked at, and refused, then.
    whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    if text and (not whole or parts.username is not None or parts.query or parts.fragment):
        raise ValueError("not an address like http://127.0.0.1:11434 or https://host/v1")
    return text


class Concepts(Section):
    extractor: Literal["rules", "generator", "none"] = Field(
        default="rules",
        description="Who finds how concepts stand to each other: rules, the generator, or nobody, for no graph at all.",
    )
    max_asked: int = Field(
        default=1000,
        ge=0,
        description="How many chunks the generator is asked about in one run; the rules read the rest.",
    )


class Models(Section):
    base_url: Annotated[str, AfterValidator(_web_address)] = Field(
        default="", description="Address of the model server; if empty, `ollama` uses http://127.0.0.1:11434."
    )
    api_key: SecretStr = Field(
        default=SecretStr(""),
        description="Key for the model server; only from your own config or `CARREL_MODELS__API_KEY`.",
    )
    allow_remote: bool = Field(
        default=False,
        description="Whether a library's config may name a server on another machine; only from your own config.",
    )
    query_prefix: str = Field(default="", description="Put before each query; if empty, what the model's files say.")
    passage_prefix: str = Field(
        default="", description="Put before each passage; if empty, what the model's files say."
    )
    dimensions: int = Field(
        default=0, ge=0, le=65_536, description="Shorten vectors to this length, if the model can; 0 for its own."
    )
    max_tokens: int = Field(
        default=0,
        ge=0,
        description="Longer texts are embedded in windows of this size; 0 for the model's own, 512 for a server's.",
    )
    batch_size: int = Field(default=16, ge=1, le=2048, description="How many texts a model server is sent at a time.")
    timeout: float = Field(default=30.0, gt=0, description="Seconds a model server may take for one request.")


class Generation(Section):
    """For generators that run a model."""

    base_url: Annotated[str, AfterValidator(_web_address)] = Field(
        default="",
        description="Address of the generator's server; if empty, `ollama` uses http://127.0.0.1:11434, and "
        "`anthropic` its maker's.",
    )
    api_key: SecretStr = Field(
        default=SecretStr(""),
        description="Key for that server; only from your own config or `CARREL_GENERATION__API_KEY`.",
    )
    timeout: float = Field(default=60.0, gt=0, description="Seconds a server may be silent before or while it answers.")
    seconds: float = Field(default=120.0, gt=0, description="Seconds a generator may take for one answer.")
    max_tokens: int = Field(default=512, ge=16, le=100_000, description="How long an answer may become, in tokens.")
    temperature: float = Field(default=0.0, ge=0, le=2, description="How freely a model chooses its words.")
    context_tokens: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="Tokens a model may read and write for one answer; 0 for 8192, or 1024 to read with `gguf`.",
    )


class Rerank(Section):
    """For rerankers that run a model of their own."""

    overfetch: int = Field(
        default=2,
        ge=1,
        le=10,
        description="How many candidates a slow reranker gets, as a multiple of the limit or, if more, `search.limit`.",
    )
    timeout: float = Field(
        default=30.0, gt=0, description="Seconds a slow reranker may take before the search goes on without it."
    )
    model: str = Field(default="", description="Name of the model, for the server of an `http:` reranker.")
    api_key: SecretStr = Field(
        default=SecretStr(""),
        description="Key for that server; only from your own config or `CARREL_RERANK__API_KEY`.",
    )


ANTHROPIC = "https://api.anthropic.com"


def generator_server(generator: str, base_url: str) -> str:
    """The address that a generator sends its prompts to; nothing where they stay in the process."""
    kind = generator.partition(":")[0]
    if kind in {"extractive", "gguf"}:
        return ""
    return base_url or (ANTHROPIC if kind == "anthropic" else "")


def server_of(component: str) -> str:
    """The address in a name such as `http:https://host/v1`; nothing when there is none."""
    kind, _, address = component.partition(":")
    return address if kind == "http" else ""


def _reranker(name: str) -> str:
    kind, _, address = name.partition(":")
    if kind == "http" and not urlsplit(address).scheme:
        raise ValueError("needs the server's whole address, as in http:http://127.0.0.1:8000")
    _web_address(server_of(name))
    return name


class Settings(Section):
    embedder: str = Field(default="granite", description="Which embedder turns text into vectors.")
    reranker: Annotated[str, AfterValidator(_reranker)] = Field(
        default="fused", description="Which reranker scores the candidates; `none` for none."
    )
    generator: str = Field(
        default="extractive",
        description="Which generator writes answers: `extractive`, `gguf:FILE`, `ollama:MODEL`, `openai:MODEL` or "
        "`anthropic:MODEL`.",
    )
    catalog: Annotated[str, AfterValidator(places.catalog_place)] = Field(
        default="sqlite",
        description="Which catalog keeps papers, chunks and history: `sqlite`, or a server, as in "
        "`postgresql://user@host/database`.",
    )
    catalog_password: SecretStr = Field(
        default=SecretStr(""),
        description="Password for that server; only from your own config or `CARREL_CATALOG_PASSWORD`.",
    )
    catalog_namespace: str = Field(
        default="",
        pattern=r"^[a-z0-9_]{0,40}$",
        description="Name of this library's catalog on that server; if empty, one made of its folder's name and path.",
    )
    vectors: Annotated[str, AfterValidator(places.vectors_place)] = Field(
        default="flat",
        description="Which store keeps vectors: `flat`; `lance`, or `lance:s3://bucket/folder`; `pgvector`, beside a "
        "PostgreSQL catalog; or a server, as in `postgresql://user@host/database`, `milvus://host:19530/collection` or "
        "`iris://user@host:1972/namespace`.",
    )
    vectors_password: SecretStr = Field(
        default=SecretStr(""),
        description="Password for that server; only from your own config or `CARREL_VECTORS_PASSWORD`.",
    )
    vectors_namespace: str = Field(
        default="",
        pattern=r"^[a-z0-9_]{0,40}$",
        description="Name of this library's vectors on that server; if empty, one made of its folder's name and path.",
    )
    vectors_half: bool = Field(
        default=False,
        description="Keep vectors in half precision, where the store can: half the space, scores to three digits.",
    )
    keywords: Annotated[str, AfterValidator(places.keywords_place)] = Field(
        default="tantivy",
        description="Which index looks up words: `tantivy`; `postgresql`, beside a PostgreSQL catalog; or a server, as "
        "in `postgresql://user@host/database` or `milvus://host:19530/collection`.",
    )
    keywords_password: SecretStr = Field(
        default=SecretStr(""),
        description="Password for that server; only from your own config or `CARREL_KEYWORDS_PASSWORD`.",
    )
    keywords_namespace: str = Field(
        default="",
        pattern=r"^[a-z0-9_]{0,40}$",
        description="Name of this library's words on that server; if empty, one made of its folder's name and path.",
    )
    graph: Annotated[str, AfterValidator(places.graph_place)] = Field(
        default="sqlite",
        description="Which store keeps the concept graph: `sqlite`, or a server, as in "
        "`postgresql://user@host/database` or `neo4j://user@host:7687`.",
    )
    graph_password: SecretStr = Field(
        default=SecretStr(""),
        description="Password for that server; only from your own config or `CARREL_GRAPH_PASSWORD`.",
    )
    graph_namespace: str = Field(
        default="",
        pattern=r"^[a-z0-9_]{0,40}$",
        description="Name of this library's graph on that server; if empty, one made of its folder's name and path.",
    )
    threads: int = Field(
        default=0, ge=0, le=256, description="Threads a local model may use; 0 chooses by the machine."
    )
    lock_timeout: float = Field(default=60.0, ge=0, description="Seconds to wait while another process writes.")
    log_level: Literal["off", "debug", "info", "warning", "error"] = Field(
        default="off", description="Least level of the log on stderr."
    )
    pdf_root: str = Field(
        default="", description="Folder in which the references' files are found; if empty, the library's own."
    )
    pdf_reader: str = Field(
        default="system",
        description="Program that opens PDFs: `system`, `skim`, `zathura`, `evince`, `okular` or a program's path; "
        "only from your own config or `CARREL_PDF_READER`.",
    )
    retractions: str = Field(
        default="",
        description="Retraction Watch's CSV file, in which papers are looked up; if empty, only tags are asked.",
    )
    search: Search = Search()
    answer: Answer = Answer()
    chunking: Chunking = Chunking()
    ingest: Ingest = Ingest()
    history: History = History()
    concepts: Concepts = Concepts()
    models: Models = Models()
    rerank: Rerank = Rerank()
    generation: Generation = Generation()
    serve: Serve = Serve()
    jobs: Jobs = Jobs()
    mcp: Mcp = Mcp()
