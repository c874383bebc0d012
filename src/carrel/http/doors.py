"""By which names the server may be addressed, and from which web pages.

A page of somebody else's that a browser shows on this machine can send requests here, and by a name of its own that
suddenly leads here it could read the answers, too. So the name in `Host` must be one of the server's own, and a page
that `Origin` names must be the server's or one that its user trusts. Programs send no `Origin`.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from carrel.errors import Forbidden

if TYPE_CHECKING:
    from carrel.http.heads import Head

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?", re.ASCII)
_USUAL = {"http": "80", "https": "443"}
_METHODS = "GET, POST, DELETE, HEAD"
_HEADERS = "authorization, content-type, x-request-id, last-event-id, mcp-session-id, mcp-protocol-version"
_EXPOSED = "x-request-id, x-response-time, x-throttle-active, x-throttle-queued, mcp-session-id"


def is_own(host: str) -> bool:
    """Whether this is a name that leads to the machine itself, whatever any name server says."""
    return host == "localhost" or ((address := _address(host)) is not None and address.is_loopback)


@dataclass(frozen=True)
class Doors:
    hosts: frozenset[str]
    origins: frozenset[str]
    is_public: bool
    """Whether other machines can reach the server: addresses as such are then names of it."""

    @classmethod
    def of(cls, host: str, hosts: str, origins: str) -> Doors:
        """As the settings have them, separated by commas."""
        names = {host.lower(), *_listed(hosts)} - {""}
        return cls(frozenset(names), frozenset(one.rstrip("/") for one in _listed(origins)), not is_own(host))

    def check(self, head: Head) -> str:
        """The name that the server was addressed by."""
        host, name = self._checked_host(head)
        if head.all("origin"):
            self._check_origin(head, host)
        elif head.one("sec-fetch-site") in {"cross-site", "same-site"} and not _is_visit(head):
            raise Forbidden("a page of another site may not ask this server", hint=_TRUST)
        return name

    def trusted(self, head: Head) -> str:
        """The origin of a page of another site that may read the answers; else empty."""
        origin = head.one("origin")
        return origin if origin in self.origins else ""

    def _checked_host(self, head: Head) -> tuple[str, str]:
        named = head.one("host").lower()
        found = _HOST.fullmatch(named)
        name = found[1].rstrip(".") if found else ""
        if not (is_own(name) or name in self.hosts or (self.is_public and _address(name) is not None)):
            raise Forbidden(
                f"this server is not called {named[:100]!r}",
                hint="Add the name to serve.allowed_hosts if it should be.",
            )
        return named, name

    def _check_origin(self, head: Head, host: str) -> None:
        origin = head.one("origin")
        parts = urlsplit(origin) if _is_web(origin) else None
        usual = _USUAL.get(parts.scheme, "") if parts else ""
        own = parts is not None and parts.netloc.removesuffix(f":{usual}") == host.removesuffix(f":{usual}")
        if not own and origin not in self.origins:
            raise Forbidden(f"pages of {origin[:100]!r} may not ask this server", hint=_TRUST)


_TRUST = "Add its origin to serve.allowed_origins if it should."


def is_preflight(head: Head) -> bool:
    return head.method == "OPTIONS" and bool(head.one("origin") and head.one("access-control-request-method"))


def permissions(origin: str, *, asked_before: bool = False) -> list[tuple[bytes, bytes]]:
    """Headers by which a browser learns that a trusted page may ask, or may read the answer."""
    told = {"access-control-allow-origin": origin, "vary": "Origin"}
    if asked_before:
        told |= {"access-control-allow-methods": _METHODS, "access-control-allow-headers": _HEADERS}
        told["access-control-max-age"] = "600"
    else:
        told["access-control-expose-headers"] = _EXPOSED
    return [(name.encode(), value.encode("latin-1")) for name, value in told.items()]


def _is_visit(head: Head) -> bool:
    """Whether somebody followed a link here: the answer is shown to them and to nobody else."""
    return (
        head.method == "GET" and head.one("sec-fetch-mode") == "navigate" and head.one("sec-fetch-dest") == "document"
    )


def _is_web(origin: str) -> bool:
    return re.fullmatch(r"https?://[^\s/?#@]+", origin) is not None


def _listed(text: str) -> list[str]:
    return [one.strip().lower() for one in text.split(",") if one.strip()]


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
