"""A Milvus server, and how a filter is said in its language."""

from __future__ import annotations

import logging
import os
import re
import time
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import grpc
from pymilvus import DataType, FieldSchema, MilvusClient, MilvusException
from pymilvus.client.types import LoadState

from carrel.databases.sessions import text
from carrel.errors import InvalidInput, StoreUnavailable, password_hint
from carrel.types import ANY_YEAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from carrel.types import Chunk, Filter

# What they print of each error, one of them with its traceback, is said by our errors, too.
logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

LONGEST = 65_535
"""Bytes that the longest text may have there."""
MOST_TAGS = 4096
"""How many values a list may have there."""
PATIENCE = 8.0
"""Seconds that a server may take for an answer; the client would else try again for minutes."""
_WHETHER_BACK = 2.0
"""Seconds that one which was lost may take to say that it is there: who asks is not kept waiting each time."""
_PAUSE = 0.05
_GREATEST = 2**63 - 1
CHANNEL = {
    # A server that is back is found within a second, however long it was away.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1000,
    # What it may take to connect.
    "grpc.min_reconnect_backoff_ms": 4000,
    "grpc.use_local_subchannel_pool": 1,
    # A server may hang up on who asks again and again whether it is there, without asking for anything else.
    "grpc.keepalive_permit_without_calls": 0,
    "grpc.keepalive_time_ms": 60_000,
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_GONE = frozenset({100, 1600})
"""No such collection, no such alias."""
_NOT_LOADED = frozenset({101, 103, 106})
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_INFIX = re.compile(r"[^\w ]")
_FIRST_WITH_INFIX = (2, 4)


class Gone(StoreUnavailable):
    """A collection is not there, or not any more."""


class NotLoaded(StoreUnavailable):
    """A collection is not in the server's memory, or not yet again."""


class Late(StoreUnavailable):
    """The time was up before an answer came."""


class MilvusServer:
    """Connected when it is first needed, and again when the server was lost and is back."""

    def __init__(self, kind: str, argument: str, *, password: str, setting: str, instead: str) -> None:
        self.address = f"{kind}:{argument}"
        self._password = password
        self._setting = setting
        self._instead = instead
        self._opened: MilvusClient | None = None
        self._said_version = ""
        self._is_lost = False
        self._lock = Lock()

    def name(self, namespace: str) -> str:
        """Of the collection that the address names, or of one that is the library's own."""
        name = unquote(urlsplit(self.address).path).strip("/") or namespace
        if not _NAME.fullmatch(name):
            raise InvalidInput(
                f"{name!r} cannot be the name of a collection in {self.address!r}",
                hint="Use at most 200 letters, digits and underscores, with no digit first.",
            )
        return name

    def call(self, verb: str, *values: object, **options: object) -> Any:  # noqa: ANN401
        """What the client's method of that name says, within the time a server is given."""
        with self._reporting():
            if self._is_lost:
                self._client(_WHETHER_BACK).get_server_version(timeout=_WHETHER_BACK)
            told = getattr(self._client(PATIENCE), verb)(*values, **{"timeout": PATIENCE, **options})
            self._is_lost = False
            return told

    def load(self, collection: str, patience: float = PATIENCE) -> None:
        """Have it brought into the server's memory, which of a large one takes its time: who reads waits no longer."""
        self.call("load_collection", collection, _async=True)
        deadline = time.monotonic() + patience
        while not self.has_loaded(collection):
            if time.monotonic() > deadline:
                raise self._unavailable(NotLoaded, f"the collection {collection!r} is still being loaded")
            time.sleep(_PAUSE)

    def has_loaded(self, collection: str) -> bool:
        return bool(self.call("get_load_state", collection)["state"] == LoadState.Loaded)

    @property
    def has_infix(self) -> bool:
        """Whether it finds a text by any part of it; older ones know its beginning only."""
        return self.version >= _FIRST_WITH_INFIX

    @property
    def is_lite(self) -> bool:
        """Whether it is the small server for one process."""
        return "milvus_lite" in self._version

    @property
    def version(self) -> tuple[int, ...]:
        """Of the small one, which has its own, what it can do."""
        return (2, 6) if self.is_lite else tuple(map(int, re.findall(r"\d+", self._version)[:2]))

    @property
    def _version(self) -> str:
        # A server that was replaced by a newer one can do what it could before.
        self._said_version = self._said_version or str(self.call("get_server_version"))
        return self._said_version

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened:
            with suppress(MilvusException, grpc.RpcError):
                opened.close()

    def _client(self, patience: float) -> MilvusClient:
        opened = self._opened
        if opened is None:
            # Each by itself: where nobody answers, one would else wait for all who asked before.
            made = self._connected(patience)
            with self._lock:
                opened = self._opened = self._opened or made
            if opened is not made:
                made.close()
        return opened

    def _connected(self, patience: float) -> MilvusClient:
        parts = urlsplit(self.address)
        scheme = "https" if parts.scheme.endswith("+s") else "http"
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return MilvusClient(
            f"{scheme}://{host}:{parts.port or 19530}",
            token=self._token(unquote(parts.username or "")),
            timeout=patience,
            dedicated=True,
            grpc_options=CHANNEL,
        )

    def _token(self, user: str) -> str:
        """A user's password, or, without a user, a key for the server."""
        return f"{user}:{self._password}" if user else self._password

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except MilvusException as error:
            kind = Gone if error.code in _GONE else NotLoaded if error.code in _NOT_LOADED else StoreUnavailable
            # Where it could not connect, it does not itself say why.
            cause = error.__cause__
            raise self._unavailable(
                kind, _said(cause) if isinstance(cause, grpc.RpcError) else error.message
            ) from error
        except grpc.RpcError as error:
            kind = Late if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED else StoreUnavailable
            raise self._unavailable(kind, _said(error)) from error
        except (ValueError, OSError) as error:
            # A channel that another thread has closed.
            self.close()
            raise self._unavailable(StoreUnavailable, str(error)) from error

    def _unavailable(self, kind: type[StoreUnavailable], reason: str) -> StoreUnavailable:
        self._is_lost = self._is_lost or kind in {StoreUnavailable, Late}
        said = (reason.strip() or "no reason given").splitlines()[0][:300]
        if self._password:
            said = said.replace(self._password, "…")
        if "auth" in reason.lower():
            hint = password_hint(self._setting, "that user's password, or to a key for the server")
        elif kind is NotLoaded:
            hint = "Ask again in a moment: the server is there, and reads what it holds into its memory."
        else:
            hint = (
                f"See that the server runs and the setting {self._setting} names it; "
                f"or set {self._setting} = '{self._instead}'."
            )
        return kind(f"cannot use the {self._setting} on {self.address!r}: {said}", hint=hint)


def _said(error: grpc.RpcError) -> str:
    return f"{error.code().name}: {error.details()}"


def facts_of(chunk: Chunk) -> dict[str, object]:
    """What a filter may ask of a chunk."""
    if len(chunk.tags) > MOST_TAGS:
        raise InvalidInput(f"{chunk.paper_id!r} has {len(chunk.tags):,} tags; Milvus takes {MOST_TAGS:,}")
    return {
        "chunk_id": checked(chunk.address, "an address"),
        "paper_id": checked(chunk.paper_id, "a paper's id"),
        "kind": chunk.kind.value,
        "year": whole(chunk.year),
        "venue": checked(chunk.venue.casefold(), "a venue"),
        "topic_tag": checked(chunk.topic, "a topic"),
        "tags": [checked(tag, "a tag") for tag in chunk.tags],
        "chapter": whole(chunk.chapter),
        "section": whole(chunk.section),
    }


def fact_fields() -> list[FieldSchema]:
    """The columns of what `facts_of` says."""
    texts = [
        FieldSchema(name, DataType.VARCHAR, max_length=LONGEST) for name in ("paper_id", "kind", "venue", "topic_tag")
    ]
    numbers = [FieldSchema(name, DataType.INT64) for name in ("year", "chapter", "section")]
    tags = FieldSchema(
        "tags", DataType.ARRAY, element_type=DataType.VARCHAR, max_length=LONGEST, max_capacity=MOST_TAGS
    )
    return [FieldSchema("chunk_id", DataType.VARCHAR, max_length=LONGEST, is_primary=True), *texts, *numbers, tags]


def checked(value: str, what: str) -> str:
    """A text as the server can hold it."""
    held = text(value)
    if len(held.encode()) > LONGEST:
        raise InvalidInput(f"{what} is too long for Milvus: {len(held.encode()):,} bytes; it takes {LONGEST:,}")
    return held


def quoted(value: str) -> str:
    """A text as a filter names it. Nothing in it can end it: it is between quotes, and its own are escaped."""
    return f'"{text(value).translate(_ESCAPED)}"'


def whole(number: int) -> int:
    """The nearest number that the server can hold or compare."""
    return max(-_GREATEST, min(_GREATEST, number))


def one_of(field: str, values: Iterable[str]) -> str:
    return f"{field} in [{', '.join(map(quoted, sorted(values)))}]"


def condition(where: Filter, *, has_infix: bool) -> str:
    """What a filter asks, in one expression; what a venue has in it remains to be looked at, as it asks less of it."""
    said = [
        one_of("paper_id", where.paper_ids) if where.paper_ids else "",
        one_of("kind", (kind.value for kind in where.kinds)) if where.kinds else "",
        f"year >= {whole(where.year_min)}" if where.year_min is not None else "",
        f"year > {ANY_YEAR} and year <= {whole(where.year_max)}" if where.year_max is not None else "",
        _venue_like(where.venue.casefold()) if where.venue and has_infix else "",
        f"array_contains_any(tags, [{', '.join(map(quoted, sorted(where.tags)))}])" if where.tags else "",
        f"topic_tag == {quoted(where.topic)}" if where.topic else "",
        f"chapter == {whole(where.chapter)}" if where.chapter is not None else "",
        f"section == {whole(where.section)}" if where.section is not None else "",
    ]
    return " and ".join(f"({one})" for one in said if one)


def both(one: str, other: str) -> str:
    return f"({one}) and ({other})" if one and other else one or other


def _venue_like(venue: str) -> str:
    """Whatever might mean something in a pattern stands for anything there."""
    return f'venue like "%{_INFIX.sub("%", venue).replace("_", "%")}%"'
