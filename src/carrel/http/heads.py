"""A request before its body."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Scope

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


@dataclass(frozen=True)
class Head:
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    client: str
    """The address that it came from."""

    @classmethod
    def of(cls, scope: Scope) -> Head:
        pairs = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])
        return cls(scope["method"], scope["path"], pairs, (scope.get("client") or ("",))[0])

    def all(self, name: str) -> list[str]:
        return [value.strip() for key, value in self.headers if key == name]

    def one(self, name: str) -> str:
        """The header's value; of several none is believed."""
        found = self.all(name)
        return found[0] if len(found) == 1 else ""

    @property
    def bearer(self) -> str:
        """The token that it brings; empty without any."""
        scheme, _, secret = self.one("authorization").partition(" ")
        return secret.strip() if scheme.lower() == "bearer" else ""

    @property
    def is_forwarded(self) -> bool:
        """Whether a proxy passed it on, so that where it came from says nothing of who sent it."""
        return any(self.all(name) for name in _FORWARDED)

    @property
    def length(self) -> int:
        """Of its body, as far as it says."""
        told = self.one("content-length")
        return int(told) if told.isascii() and told.isdigit() else 0

    @property
    def has_body(self) -> bool:
        return self.length > 0 or bool(self.all("transfer-encoding"))

    @property
    def household(self) -> str:
        """Who it comes from, as far as addresses tell: with IPv6 every subscriber has 2^64 of them."""
        try:
            address = ipaddress.ip_address(self.client)
        except ValueError:
            return self.client
        return str(ipaddress.ip_network((int(address), 64), strict=False)) if address.version == 6 else self.client
