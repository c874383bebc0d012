"""Which addresses of the internet documents may be fetched from: the public ones, and those in plain form only."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

from carrel.errors import InvalidSource, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST = 2048
_PORTS = {"http": 80, "https": 443}
_WRAPPED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "::/96",  # IPv4-compatible
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",
        "2001::/23",  # Teredo, and what else protocols use among themselves
        "2002::/16",  # 6to4
        "fec0::/10",  # site-local
        "192.0.0.0/24",
        "192.88.99.0/24",  # relays of 6to4
    )
)
"""Addresses that hide another one, or lead to whoever is nearest."""
_IN_A_PATH = "/%:@!$&'()*+,;=~"


def is_public(text: str) -> bool:
    """Whether an address is one of the open internet."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        # With a zone, for one: no public address has any.
        return False
    if any(address in network for network in _WRAPPED if network.version == address.version):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


@dataclass(frozen=True)
class Target:
    """Where a URL leads, checked."""

    url: str
    scheme: str
    host: str
    port: int
    path: str
    """With the query."""
    addresses: tuple[str, ...]

    @property
    def host_header(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _PORTS[self.scheme] else f"{name}:{self.port}"


@dataclass(frozen=True)
class Policy:
    """What may be asked for; only tests allow more than this."""

    allows: Callable[[str], bool] = is_public
    ports: frozenset[int] = frozenset(_PORTS.values())

    def target(self, url: str) -> Target:
        """Look a URL's host up, once: whoever fetches connects to these very addresses."""
        scheme, host, port, path = _parts(url)
        if port not in self.ports:
            raise InvalidSource(f"{_shown(url)!r} is at port {port}", hint="Only 80 and 443 are asked.")
        addresses = _looked_up(host, port)
        for address in addresses:
            if not self.allows(address):
                raise InvalidSource(
                    f"{host!r} is not on the open internet",
                    hint="Documents of this machine or network can be uploaded.",
                )
        return Target(url, scheme, host, port, path, addresses)

    def redirected(self, target: Target, location: str) -> Target:
        """Where an answer sends us, checked as if it had been asked for."""
        url = urljoin(target.url, location)
        if target.scheme == "https" and urlsplit(url).scheme.lower() != "https":
            raise InvalidSource(f"{_shown(target.url)!r} leads to a place that is not encrypted")
        return self.target(url)


def _parts(url: str) -> tuple[str, str, int, str]:
    if len(url) > _LONGEST or any(not letter.isprintable() or letter.isspace() for letter in url):
        raise InvalidSource(f"a URL has at most {_LONGEST:,} characters, none of them white or unprintable")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna").decode("ascii").rstrip("."), parts.port
    except (ValueError, UnicodeError) as error:
        raise InvalidSource(f"{_shown(url)!r} is not a URL") from error
    if parts.scheme.lower() not in _PORTS or not host:
        raise InvalidSource(f"{_shown(url)!r} is not an address of http or https")
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise InvalidSource("the URL has a user or password in it", hint="Fetch it yourself, and upload it.")
    path = quote(parts.path or "/", safe=_IN_A_PATH) + (
        f"?{quote(parts.query, safe=_IN_A_PATH + '?')}" if parts.query else ""
    )
    scheme = parts.scheme.lower()
    return scheme, host, _PORTS[scheme] if port is None else port, path


def _looked_up(host: str, port: int) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unavailable(f"the host {host!r} cannot be found", hint="Is the machine online?") from error
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def _shown(url: str) -> str:
    """Without what may be a secret."""
    return url.partition("?")[0].rpartition("@")[2][:200]
