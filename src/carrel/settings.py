"""What can be set, and who set it: defaults < the user's config < the library's config < environment < flags."""

from __future__ import annotations

import difflib
import ipaddress
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from carrel.errors import InvalidInput, UnknownSetting
from carrel.files import write_atomically, writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PREFIX = "CARREL_"
_NOT_SETTINGS = frozenset({"CARREL_LIBRARY"})
LIBRARY_VARIABLE = "CARREL_LIBRARY"
_PERSONAL = frozenset({"models.api_key", "models.allow_remote", "rerank.api_key", "pdf_reader", "ingest.isolate"})
"""Taken from the user's own config and the environment only: a library's config travels with the library."""
_CONFINED = frozenset({"pdf_root", "ingest.papers_embed_cache", "ingest.papers_datalab_cache"})
"""Folders. A library's config may name only those inside the library's own."""
_OF_PAPERS = {
    "PAPERS_EMBED_CACHE_DIR": "ingest.papers_embed_cache",
    "PAPERS_DATALAB_CACHE_DIR": "ingest.papers_datalab_cache",
}
"""Variables of papers-rag, so that its caches are found where its user has put them."""
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Search(_Section):
    limit: int = Field(default=10, ge=1, le=1000, description="How many passages a search returns.")
    candidates: int = Field(
        default=200,
        ge=1,
        le=10_000,
        description="How many candidates each arm is asked for; more only when these are not enough.",
    )
    shortlist: int = Field(
        default=50,
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
    weight_graph: float = Field(default=0.5, ge=0, description="Weight of the graph arm in the fusion.")
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


class Answer(_Section):
    top_k: int = Field(default=5, ge=1, le=20, description="How many passages an answer may draw on.")
    threshold: float = Field(
        default=0.6, ge=0, le=1, description="Least probability of the best passage for an answer to be given."
    )
    max_statements: int = Field(
        default=4, ge=1, le=50, description="How many statements the extractive generator makes at most."
    )


class Chunking(_Section):
    min_tokens: int = Field(default=100, ge=1, description="Smaller pieces are joined to their neighbours.")
    target_tokens: int = Field(
        default=512, ge=1, description="A chunk that has reached this size is closed at the next good place."
    )
    max_tokens: int = Field(default=1024, ge=1, description="No chunk grows beyond this by adding another block.")


class Ingest(_Section):
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


class History(_Section):
    enabled: bool = Field(default=True, description="Keep a record of each query's timings and counts.")
    keep_text: bool = Field(default=False, description="Keep the words of each query, not only a salted hash.")


def _web_address(text: str) -> str:
    parts = urlsplit(text)
    # `port` is read because it is only looked at, and refused, then.
    whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    if text and (not whole or parts.username is not None or parts.query or parts.fragment):
        raise ValueError("not an address like http://127.0.0.1:11434 or https://host/v1")
    return text


class Models(_Section):
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


class Rerank(_Section):
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


def _reranker(name: str) -> str:
    kind, _, address = name.partition(":")
    if kind == "http" and not urlsplit(address).scheme:
        raise ValueError("needs the server's whole address, as in http:http://127.0.0.1:8000")
    _web_address(server_of(name))
    return name


class Settings(_Section):
    embedder: str = Field(default="granite", description="Which embedder turns text into vectors.")
    reranker: Annotated[str, AfterValidator(_reranker)] = Field(
        default="fused", description="Which reranker scores the candidates; `none` for none."
    )
    generator: str = Field(default="extractive", description="Which generator writes answers.")
    catalog: str = Field(default="sqlite", description="Which catalog keeps papers, chunks and history.")
    vectors: str = Field(default="flat", description="Which store keeps vectors.")
    keywords: str = Field(default="tantivy", description="Which index looks up words.")
    graph: str = Field(default="sqlite", description="Which store keeps the concept graph.")
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
    search: Search = Search()
    answer: Answer = Answer()
    chunking: Chunking = Chunking()
    ingest: Ingest = Ingest()
    history: History = History()
    models: Models = Models()
    rerank: Rerank = Rerank()


@dataclass(frozen=True, slots=True)
class Setting:
    """One value as `carrel config show` prints it."""

    key: str
    value: Any
    origin: str
    description: str


def load(library_config: Path | None = None, flags: Mapping[str, Any] | None = None) -> tuple[Settings, dict[str, str]]:
    """The settings in force and, for each key that is not a default, where it was set."""
    layers: list[tuple[str, dict[str, Any]]] = [
        (str(path), _read(path)) for path in (user_config(), library_config) if path and path.exists()
    ]
    layers.append(("environment", _environment()))
    layers.append(("flag", {key: value for key, value in (flags or {}).items() if value is not None}))
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers:
        for key, value in layer.items():
            _known(key, origin)
            _check_personal(key, origin)
            values[key], origins[key] = value, origin
    settings = _validated(values, origins)
    for key, server in _servers(settings).items():
        if origins.get(key) == str(library_config):
            _check_consent(key, server, allowed=settings.models.allow_remote)
    for key in sorted(_CONFINED):
        if origins.get(key) == str(library_config):
            _check_inside(key, _value(settings, key))
    return settings, origins


def listing(settings: Settings, origins: Mapping[str, str]) -> list[Setting]:
    return [
        Setting(key, _value(settings, key), origins.get(key, "default"), description)
        for key, description in descriptions().items()
    ]


def descriptions() -> dict[str, str]:
    """Every key that can be set, with what it does."""
    return dict(_walk(Settings, ""))


def assign(path: Path, key: str, text: str, *, comment: str = "") -> Any:  # noqa: ANN401
    """Set one key in a config file, its comments and order kept; returns the value as it was understood.

    A comment is put behind the value, in the place of one that is there.
    """
    import tomlkit

    _known(key, "the command line")
    _check_personal(key, str(path))
    settings = _validated({**_read(path), key: text} if path.exists() else {key: text}, {key: "the command line"})
    value = _value(settings, key)
    if key in _servers(settings):
        _check_consent(key, _servers(settings)[key], allowed=load()[0].models.allow_remote)
    if key in _CONFINED:
        _check_inside(key, value)
    document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    section, _, name = key.rpartition(".")
    table = document.setdefault(section, tomlkit.table()) if section else document
    table[name] = value
    if comment:
        table[name].comment(comment)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, tomlkit.dumps(document).encode())
    return value


def user_config() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_dir("carrel")) / "config.toml"


def library_from_environment() -> str | None:
    return os.environ.get(LIBRARY_VARIABLE)


def server_of(component: str) -> str:
    """The address in a name such as `http:https://host/v1`; nothing when there is none."""
    kind, _, address = component.partition(":")
    return address if kind == "http" else ""


def is_loopback(url: str) -> bool:
    """Whether an address stays on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def wants_colour() -> bool:
    """Not when NO_COLOR is set, to whatever."""
    return not os.environ.get("NO_COLOR")


def has_display() -> bool:
    """Whether a Unix session has a screen to open windows on."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def environment_without_secrets() -> dict[str, str]:
    """The environment for a process that need not know Carrel's settings, nor any key."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_PREFIX) and not any(word in name.upper() for word in _SECRET_WORDS)
    }


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(_flat(tomllib.loads(path.read_text(encoding="utf-8")), ""))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"config {str(path)!r} is not valid TOML: {error}", hint="Correct or remove it.") from error


def _environment() -> dict[str, str]:
    """`CARREL_SEARCH__LIMIT=5` sets search.limit. Carrel's own names win over those of papers-rag."""
    papers = {key: os.environ[name] for name, key in _OF_PAPERS.items() if os.environ.get(name)}
    named = {key: value for key, value in os.environ.items() if key.startswith(_PREFIX) and key not in _NOT_SETTINGS}
    return papers | {key.removeprefix(_PREFIX).lower().replace("__", "."): value for key, value in named.items()}


def _flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _walk(section: type[BaseModel], prefix: str) -> Iterator[tuple[str, str]]:
    for name, info in section.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from _walk(info.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", info.description or ""


def _known(key: str, origin: str) -> None:
    keys = descriptions()
    if key not in keys:
        close = difflib.get_close_matches(key, keys, n=1)
        meant = f"Did you mean {close[0]!r}? " if close else ""
        raise UnknownSetting(
            f"unknown setting {key!r} in {origin}", hint=f"{meant}'carrel config show' lists all settings."
        )


def _check_personal(key: str, origin: str) -> None:
    if key in _PERSONAL and origin not in {"environment", str(user_config())}:
        variable = f"{_PREFIX}{key.upper().replace('.', '__')}"
        raise InvalidInput(
            f"setting {key} may not be set in {origin}",
            hint=f"Set it in your own config {str(user_config())!r} or in the environment variable {variable}.",
        )


def _servers(settings: Settings) -> dict[str, str]:
    """The settings that name a server, and which."""
    return {"models.base_url": settings.models.base_url, "reranker": server_of(settings.reranker)}


def _check_consent(key: str, url: str, *, allowed: bool) -> None:
    if url and not allowed and not is_loopback(url):
        raise InvalidInput(
            f"this library's config would send its texts to another machine: {key} = {url!r}",
            hint=f"If you want that, set models.allow_remote = true in your own config {str(user_config())!r}.",
        )


def _check_inside(key: str, folder: str) -> None:
    """By its look alone; where links lead is seen when the folder is used."""
    path = PureWindowsPath(folder)  # Knows both kinds of slashes, and drives.
    if path.drive or path.root or folder.startswith("~") or ".." in path.parts:
        raise InvalidInput(
            f"this library's config names a folder outside of the library: {key} = {folder!r}",
            hint=f"Name one in the library's folder, or set {key} in your own config {str(user_config())!r}.",
        )


def _value(settings: Settings, key: str) -> Any:  # noqa: ANN401
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    # Its text is a row of stars: no listing gives a key away.
    return str(value) if isinstance(value, SecretStr) else value


def _validated(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    nested: dict[str, Any] = {}
    for key, value in values.items():
        section, _, name = key.rpartition(".")
        (nested.setdefault(section, {}) if section else nested)[name] = value
    try:
        return Settings.model_validate(nested)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(step) for step in first["loc"])
        raise InvalidInput(
            f"setting {key} = {first['input']!r} from {origins.get(key, 'config')}: {first['msg'].lower()}",
            hint=f"{key}: {descriptions().get(key, '')}",
        ) from error
