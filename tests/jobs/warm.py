"""Loaded once by the process from which workers are forked, so that none of them has to."""

from __future__ import annotations

import dbos  # noqa: F401
import tantivy  # noqa: F401

from carrel import languages
from tests.jobs import working  # noqa: F401

languages.detect("Granite is a hard rock, and much is said of it.")
