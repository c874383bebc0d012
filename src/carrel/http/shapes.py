"""What goes over the wire: camelCase outside, Python names inside."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Shape(BaseModel):
    """An answer; more fields may come, none is renamed."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class Wish(Shape):
    """A request; a field that does not exist is an error."""

    model_config = ConfigDict(extra="forbid")


class Problem(Shape):
    """What every error looks like."""

    error: str = Field(description="What kind of error it is.", examples=["VALIDATION_ERROR"])
    message: str = Field(description="What is wrong, in one sentence.", examples=["Query cannot be empty"])
    details: Any = Field(default=None, description="Field errors, or the next step as `hint`.")
