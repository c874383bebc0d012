"""Keys to the service: made of chance, shown once, known afterwards by their digests alone."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from carrel.errors import InvalidInput
from carrel.types.service import LOCAL, Token

if TYPE_CHECKING:
    from carrel.types.service import Scope

PREFIX = "carrel_"
"""Tells what was found in a log or a repository, to people and to scanners."""
_BYTES = 32
_MOST_DAYS = 36_500
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


def make(name: str, scope: Scope, *, days: int = 0) -> tuple[Token, str]:
    """A token that is good for so many days, or for ever, and its secret."""
    if not _NAME.fullmatch(name) or name == LOCAL.name:
        raise InvalidInput(
            f"{name[:64]!r} cannot be a token's name",
            hint="Take up to 64 of A–Z, a–z, 0–9 and . _ @ -, the first a letter or a digit; 'local' is taken.",
        )
    if not 0 <= days <= _MOST_DAYS:
        raise InvalidInput(f"days must be between 0 and {_MOST_DAYS}, got {days}", hint="0 means for ever.")
    now = datetime.now(UTC)
    secret = f"{PREFIX}{secrets.token_urlsafe(_BYTES)}"
    expires = (now + timedelta(days=days)).isoformat(timespec="milliseconds") if days else ""
    return Token(str(uuid4()), name, scope, digest(secret), now.isoformat(timespec="milliseconds"), expires), secret


def digest(secret: str) -> str:
    """SHA-256: of 32 random bytes nobody finds by trying what a slower hash would protect."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def is_live(token: Token) -> bool:
    if token.revoked_at:
        return False
    return not token.expires_at or datetime.now(UTC) < datetime.fromisoformat(token.expires_at)
