"""What can be set, and who set it: defaults < the user's config < the library's config < environment < flags."""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr, ValidationError

from carrel.errors import InvalidInput, UnknownSetting
from carrel.files import write_atomically, writing
from carrel.settings.keys import key_for
from carrel.settings.places import catalog_server, graph_server, keywords_server, vectors_folder, vectors_server
from carrel.settings.sections import (
    Answer,
    Ingest,
    Rerank,
    Search,
    Settings,
    generator_server,
    server_of,
)
from carrel.settings.service import Jobs, Serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "LIBRARY_VARIABLE",
    "Answer",
    "Ingest",
    "Jobs",
    "Rerank",
    "Search",
    "Serve",
    "Setting",
    "Settings",
    "assign",
    "catalog_server",
    "descriptions",
    "differing",
    "environment_without_secrets",
    "generator_server",
    "has_display",
    "is_loopback",
    "key_for",
    "library_from_environment",
    "listing",
    "load",
    "may_travel",
    "server_of",
    "user_config",
    "wants_colour",
]

_PREFIX = "CARREL_"
_NOT_SETTINGS = frozenset({"CARREL_LIBRARY"})
LIBRARY_VARIABLE = "CARREL_LIBRARY"
_PERSONAL = frozenset(
    {
        "models.api_key",
        "models.allow_remote",
        "rerank.api_key",
        "generation.api_key",
        "catalog_password",
        "graph_password",
        "vectors_password",
        "keywords_password",
        "pdf_reader",
        "ingest.isolate",
        "serve.host",
        "serve.allowed_hosts",
        "serve.allowed_origins",
        "jobs.roots",
        "jobs.allow_urls",
        "mcp.allow_add",
    }
)
"""Taken from the user's own config and the environment only: a library's config travels with the library."""
_CONFINED = frozenset({"pdf_root", "retractions", "ingest.papers_embed_cache", "ingest.papers_datalab_cache"})
"""Folders and files. A library's config may name only those inside the library's own folder."""
_OF_PAPERS = {
    "PAPERS_EMBED_CACHE_DIR": "ingest.papers_embed_cache",
    "PAPERS_DATALAB_CACHE_DIR": "ingest.papers_datalab_cache",
}
"""Variables of papers-rag, so that its caches are found where its user has put them."""
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL")


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
    for key, origin in origins.items():
        if origin == str(library_config):
            _check_travels(key, settings, allowed=settings.models.allow_remote)
    return settings, origins


def listing(settings: Settings, origins: Mapping[str, str]) -> list[Setting]:
    return [
        Setting(key, _value(settings, key), origins.get(key, "default"), description)
        for key, description in descriptions().items()
    ]


def differing(settings: Settings) -> dict[str, Any]:
    """What is not at its default, without secrets and what is the user's own."""
    defaults, private = Settings(), _PERSONAL | _CONFINED
    changed = {key: _value(settings, key) for key in descriptions() if key not in private}
    return {key: value for key, value in changed.items() if value != _value(defaults, key)}


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
    _check_travels(key, settings, allowed=load()[0].models.allow_remote)
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


def may_travel(key: str, text: str) -> bool:
    """Whether a store may be named by a library's own config, and not by its user's alone.

    The user's passwords are given to no server that only a library's config names.
    """
    chosen, _ = load()
    if "://" in text and getattr(chosen, f"{key}_password").get_secret_value():
        return False
    try:
        _check_travels(key, _validated({key: text}, {}), allowed=chosen.models.allow_remote)
    except InvalidInput:
        return False
    return True


def user_config() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_dir("carrel")) / "config.toml"


def library_from_environment() -> str | None:
    return os.environ.get(LIBRARY_VARIABLE)


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
    return {
        "models.base_url": settings.models.base_url,
        "reranker": server_of(settings.reranker),
        "generation.base_url": settings.generation.base_url,
        "generator": generator_server(settings.generator, settings.generation.base_url),
        "graph": graph_server(settings.graph),
        "catalog": catalog_server(settings.catalog),
        "vectors": vectors_server(settings.vectors),
        "keywords": keywords_server(settings.keywords),
    }


def _folders(settings: Settings) -> dict[str, str]:
    """The settings that name a folder or a file, and which."""
    named = {key: _value(settings, key) for key in sorted(_CONFINED)}
    return named | {"vectors": vectors_folder(settings.vectors)}


def _check_travels(key: str, settings: Settings, *, allowed: bool) -> None:
    """Refuse what a library's config, which may come from anybody, must not say."""
    if server := _servers(settings).get(key):
        _check_consent(key, server, allowed=allowed)
    if folder := _folders(settings).get(key):
        _check_inside(key, folder)


def _check_consent(key: str, url: str, *, allowed: bool) -> None:
    if not allowed and not is_loopback(url):
        raise InvalidInput(
            f"this library's config would send its texts to another machine: {key} = {url!r}",
            hint=f"If you want that, set {key}, or models.allow_remote = true, in your own config "
            f"{str(user_config())!r}.",
        )


def _check_inside(key: str, folder: str) -> None:
    """By its look alone; where links lead is seen when the folder is used."""
    path = PureWindowsPath(folder)  # Knows both kinds of slashes, and drives.
    if path.drive or path.root or folder.startswith("~") or ".." in path.parts:
        raise InvalidInput(
            f"this library's config names a place outside of the library: {key} = {folder!r}",
            hint=f"Name one in the library's folder, or set {key} in your own config {str(user_config())!r}.",
        )


def _value(settings: Settings, key: str) -> Any:  # noqa: ANN401
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    # Its text is a row of stars: no listing gives a key away.
    return str(value) if isinstance(value, SecretStr) else value


def _without_secrets(given: object) -> object:
    """An address without who goes there, and by which key."""
    return re.sub(r"(?<=//).*(?=@)|(?<=\?).*", "…", given) if isinstance(given, str) else given


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
        given = "…" if key in _PERSONAL else repr(_without_secrets(first["input"]))
        said = first["msg"].removeprefix("Value error, ")
        raise InvalidInput(
            f"setting {key} = {given} from {origins.get(key, 'config')}: {said[:1].lower()}{said[1:]}",
            hint=f"{key}: {descriptions().get(key, '')}",
        ) from error
