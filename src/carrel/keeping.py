"""The verbs of a library that is served: what is remembered of its use, and who may use it."""

from __future__ import annotations

import hmac
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import uuid4

from carrel import tokens
from carrel.asking import Asking
from carrel.audit import Audit
from carrel.errors import Exists, FeedbackExists, InvalidInput, NotFound, QueryNotFound, ReadOnlyLibrary
from carrel.types.service import LOCAL, Caller, Feedback, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types.service import Statistics, Token

_LONGEST_COMMENT = 2000


class Keeping(Asking):
    """Statistics, feedback, and the tokens of the service."""

    @cached_property
    def audit(self) -> Audit:
        """Who changed what through the service, and who was turned away."""
        return Audit(self.layout.audit)

    def rate(self, query_id: str, rating: int, comment: str = "") -> Feedback:
        """Keep what a reader thought of an answer, from 1 to 5; once."""
        if not 1 <= rating <= 5:
            raise InvalidInput(f"rating must be between 1 and 5, got {rating}")
        if len(comment) > _LONGEST_COMMENT:
            raise InvalidInput(f"comment must have at most {_LONGEST_COMMENT} characters, got {len(comment)}")
        self._check_query(query_id)
        # Not every database has a place for zeros.
        feedback = Feedback(str(uuid4()), query_id, rating, comment.replace("\0", "\ufffd"))
        if not self.stores.catalog.analytics.rate(feedback):
            raise FeedbackExists(f"query {query_id!r} was rated already", hint="A rating cannot be changed.")
        return feedback

    def feedback(self, query_id: str) -> Feedback:
        self._check_query(query_id)
        found = self.stores.catalog.analytics.feedback(query_id)
        if found is None:
            raise NotFound(f"nobody has rated query {query_id!r}", hint="Ratings come by POST /api/feedback.")
        return found

    def statistics(self, days: int = 0) -> Statistics:
        """How the library was used in these days, or in all that are kept."""
        if days < 0:
            raise InvalidInput(f"days must not be negative, got {days}", hint="0 means all that are kept.")
        with suppress(ReadOnlyLibrary):
            self.forget_old()
        return self.stores.catalog.analytics.statistics(days)

    def create_token(self, name: str, scope: Scope, *, days: int = 0) -> tuple[Token, str]:
        """A key to the service, good for so many days or for ever, and what it says: nobody can tell that again."""
        token, secret = tokens.make(name, scope, days=days)
        if not self.stores.catalog.credentials.put(token):
            raise Exists(f"there is a token {name!r} already", hint="Revoke it first, or choose another name.")
        self.audit.note("token created", caller=LOCAL.name, token=name, scope=scope.value)
        return token, secret

    def tokens(self) -> Sequence[Token]:
        """Every token that was made, in order, those that were revoked included."""
        return self.stores.catalog.credentials.all()

    def revoke_token(self, name: str) -> Token:
        """Let nobody in any more by the token of this name or id."""
        live = [token for token in self.tokens() if not token.revoked_at and name in {token.name, token.id}]
        if not live or not self.stores.catalog.credentials.revoke(live[0].id):
            raise NotFound(f"there is no token {name!r} in use", hint="'carrel token list' shows them.")
        self.audit.note("token revoked", caller=LOCAL.name, token=live[0].name, scope=live[0].scope.value)
        return live[0]

    def bearer(self, secret: str) -> Caller | None:
        """Who has this token; None if it is none, was revoked, or is too old."""
        digest = tokens.digest(secret)
        token = self.stores.catalog.credentials.by_digest(digest)
        if token is None or not hmac.compare_digest(token.digest, digest) or not tokens.is_live(token):
            return None
        self.stores.catalog.credentials.used(token.id)
        return Caller(token.name, token.scope)

    def _check_query(self, query_id: str) -> None:
        if not self.stores.catalog.analytics.has_query(query_id):
            raise QueryNotFound(
                f"query {query_id!r} is not known", hint="It may have been forgotten, or history.enabled is off."
            )
