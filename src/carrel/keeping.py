"""The verbs of a library that is served: what is remembered of its use, and who may use it."""

from __future__ import annotations

from carrel.asking import Asking


class Keeping(Asking):
    """Statistics, feedback, and the tokens of the service."""
