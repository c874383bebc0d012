"""Who may use the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from carrel.types.service import Token


@runtime_checkable
class Credentials(Protocol):
    """Each method is one transaction. No secret is kept, only digests."""

    def put(self, token: Token) -> bool:
        """Keep a token; False if one that is not revoked has its name."""
        ...

    def all(self) -> list[Token]:
        """In the order in which they were made, revoked ones included."""
        ...

    def by_digest(self, digest: str) -> Token | None: ...

    def used(self, token_id: str) -> None:
        """Note that it was used; at most once a minute is this written."""
        ...

    def revoke(self, token_id: str) -> bool:
        """False if there is none such, or it was revoked before."""
        ...
