"""Zotero's own server on this machine: the Web API, version 3, that Zotero 7 and newer answer at localhost.

Only this machine is asked, no redirect is followed and no proxy used. A library is taken as a whole or not at all: half
of it would have papers without their notes.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from carrel import servers
from carrel.errors import SourceError
from carrel.references import texts
from carrel.references.drafts import Collector, dicts_of, text_of, words_of
from carrel.references.zotero_items import data_of, draft, families

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from carrel.references import Found
    from carrel.references.texts import Tell

PORT = 23119
SECONDS = 60.0
"""For each answer."""
MOST_BYTES = 64_000_000
MOST_ITEMS = 500_000
PAGE = 500
_ATTEMPTS = 3
_ADDRESS = re.compile(r"(?:zotero:|https?://)", re.IGNORECASE)
_PLACE = re.compile(
    r"(?:(?P<library>(?:users|groups)/\d+)(?:/|$))?(?:collections/(?P<collection>[A-Za-z0-9]{8})(?:/|$))?(?:items(?:/top)?)?"
)
_SWITCH = "Settings, Advanced, 'Allow other applications on this computer to communicate with Zotero'"


def is_address(text: str) -> bool:
    """Whether it names a server rather than a file; not necessarily one that may be asked."""
    return _ADDRESS.match(text) is not None


def read(address: str, tell: Tell = texts.untold) -> Found:
    """Every item of a library or collection that is not in the bin, with its notes, attachments and collections."""
    place = Place.of(address)
    names = {
        text_of(data, "key"): text_of(data, "name") for data in map(data_of, place.all(f"{place.library}/collections"))
    }
    if place.collection and place.collection not in names:
        raise place.failed(f"Zotero has no collection {place.collection!r} in {place.library}")
    items = place.all(place.items, tell)
    collector = Collector(address, "zotero", folder=_data_directory(items))
    for item in families(map(data_of, items)):
        collections = (names.get(key, "") for key in words_of(item, "collections"))
        collector.take(draft(item, tuple(name for name in collections if name)), text_of(item, "key"))
    return collector.found()


@dataclass(frozen=True)
class Place:
    """What an address means: a server on this machine, and a library or collection there."""

    address: str
    host: str
    port: int
    library: str
    collection: str

    @classmethod
    def of(cls, address: str) -> Place:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "localhost", parts.port or PORT
        except ValueError as error:
            raise _not_understood(address) from error
        if not _is_here(host):
            raise SourceError(f"{host!r} is not this machine: of the network only Zotero at localhost is asked")
        path = parts.path.strip("/")
        if parts.scheme != "zotero":
            api, _, path = path.partition("/")
            if api != "api" or parts.scheme != "http":
                raise _not_understood(address)
        found = _PLACE.fullmatch(path)
        if found is None or parts.query or parts.fragment:
            raise _not_understood(address)
        return cls(address, host, port, found["library"] or "users/0", (found["collection"] or "").upper())

    @property
    def items(self) -> str:
        return f"{self.library}/collections/{self.collection}/items" if self.collection else f"{self.library}/items"

    def failed(self, what: str) -> SourceError:
        return SourceError(f"{what}; nothing was taken in from it")

    def all(self, path: str, tell: Tell = texts.untold) -> list[dict[str, Any]]:
        """Everything that the server lists there, page by page; once more if the library changed meanwhile."""
        for _attempt in range(_ATTEMPTS):
            found: dict[str, dict[str, Any]] = {}
            for items, total in self._pages(path):
                found |= {text_of(item, "key"): item for item in items}
                tell(len(found), total)
            if len(found) == total:
                return list(found.values())
        raise self.failed(
            f"Zotero at {self.host}:{self.port} lists other items each time; wait until it has synchronised"
        )

    def _pages(self, path: str) -> Iterator[tuple[list[dict[str, Any]], int]]:
        start = 0
        while True:
            items, total = self._page(path, start)
            start += len(items)
            yield items, total
            if len(items) < PAGE or start >= total:
                break

    def _page(self, path: str, start: int) -> tuple[list[dict[str, Any]], int]:
        """Some items, and how many there are in all."""
        # In the order of their adding: what is added meanwhile comes last, and no page shifts.
        query = f"?format=json&sort=dateAdded&direction=asc&limit={PAGE}&start={start}"
        content, headers = self._ask(f"/api/{path}{query}")
        try:
            items, total = json.loads(content), int(headers.get("Total-Results", ""))
        except (ValueError, RecursionError) as error:
            raise self._stranger() from error
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise self._stranger()
        if total > MOST_ITEMS:
            raise self.failed(f"Zotero lists {total:,} items, more than the {MOST_ITEMS:,} that can be read at once")
        return items, total

    def _ask(self, path: str) -> tuple[bytes, http.client.HTTPMessage]:
        deadline = time.monotonic() + SECONDS
        connection = http.client.HTTPConnection(self.host, self.port, timeout=SECONDS)
        try:
            with self._explaining():
                connection.request("GET", path, headers={"Zotero-API-Version": "3", "Connection": "close"})
                with connection.getresponse() as response:
                    content = servers.read(response, deadline, MOST_BYTES)
        finally:
            connection.close()
        if response.status != 200:
            raise self._refused(response.status, response.headers, content)
        return content, response.headers

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        server = f"{self.host}:{self.port}"
        try:
            yield
        except TimeoutError as error:
            raise self.failed(f"Zotero at {server} did not answer within {SECONDS:g} s") from error
        except ConnectionRefusedError as error:
            raise self.failed(f"Zotero does not run, or not at {server}: start it, or add its zotero.sqlite") from error
        except (ConnectionResetError, ConnectionAbortedError, BrokenPipeError) as error:
            raise self.failed(f"Zotero at {server} hung up before it had answered") from error
        except servers.TooLong as error:
            raise self.failed(f"Zotero at {server} sent more than {MOST_BYTES:,} bytes in one answer") from error
        except http.client.IncompleteRead as error:
            raise self.failed(f"Zotero at {server} hung up in the middle of its answer") from error
        except http.client.HTTPException as error:
            raise self._stranger() from error
        except OSError as error:
            raise self.failed(f"the connection to Zotero at {server} broke: {error.strerror or error}") from error

    def _refused(self, status: int, headers: http.client.HTTPMessage, content: bytes) -> SourceError:
        words = texts.line(content[:200].decode(errors="replace"))
        if 300 <= status < 400:
            return self.failed(f"what answers at {self.host}:{self.port} sends elsewhere, where Carrel does not follow")
        if "Zotero-API-Version" not in headers:
            return self._stranger()
        if status == 403:
            return self.failed(f"Zotero's local API is switched off: switch it on in Zotero's {_SWITCH}")
        if status == 404:
            return self.failed(f"Zotero has no library {self.library!r}")
        return self.failed(f"Zotero at {self.host}:{self.port} answered {status}: {words}")

    def _stranger(self) -> SourceError:
        return self.failed(f"what answers at {self.host}:{self.port} does not speak as Zotero 7 or newer does")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _not_understood(address: str) -> SourceError:
    return SourceError(
        f"{address!r} is no address of Zotero's: those are zotero:, zotero:groups/ID, zotero:collections/KEY, "
        f"zotero://localhost:PORT and http://localhost:{PORT}/api/users/0/items"
    )


def _data_directory(items: Iterable[Mapping[str, Any]]) -> Path | None:
    """Zotero's folder, told by where its stored files are."""
    for item in items:
        links = item.get("links")
        for link in dicts_of({"links": [links.get("enclosure")]}, "links") if isinstance(links, dict) else ():
            folder = _above_storage(text_of(link, "href"), text_of(item, "key"))
            if folder:
                return folder
    return None


def _above_storage(href: str, key: str) -> Path | None:
    from urllib.request import url2pathname

    parts = urlsplit(href)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = Path(url2pathname(parts.path))
    is_stored = path.is_absolute() and path.parts[-3:-1] == ("storage", key) and ".." not in path.parts
    return path.parents[2] if is_stored else None
