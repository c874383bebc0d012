"""What goes over the wire: camelCase outside, Python names inside."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

_HALVES = re.compile(r"[\ud800-\udfff]")
FAULT = "carrel"
"""What says in a whole sentence of ours what is wrong with a request."""


class Shape(BaseModel):
    """An answer; more fields may come, none is renamed."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class Wish(Shape):
    """A request; a field that does not exist is an error."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, given: Any) -> Any:  # noqa: ANN401
        check_text(given)
        return given


class Problem(Shape):
    """What every error looks like."""

    error: str = Field(description="What kind of error it is.", examples=["VALIDATION_ERROR"])
    message: str = Field(description="What is wrong, in one sentence.", examples=["Query cannot be empty"])
    details: Any = Field(default=None, description="Field errors, or the next step as `hint`.")


def check_text(given: object) -> None:
    """Refuse, however deep it stands, what JSON can say and no text has: halves of characters."""
    left = [given]
    while left:
        match left.pop():
            case str() as text if _HALVES.search(text):
                raise fault("text must not have halves of characters")
            case dict() as pairs:
                left += [*pairs, *pairs.values()]
            case list() as items:
                left += items


def fault(sentence: str) -> PydanticCustomError:
    """For validators: the message of the error that the request is answered with."""
    return PydanticCustomError(FAULT, sentence)
