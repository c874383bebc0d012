"""The verbs of a library that take a document in step by step, each safe to be done again."""

from __future__ import annotations

from carrel.keeping import Keeping


class Taking(Keeping):
    """From a submission to a paper that every index has."""
