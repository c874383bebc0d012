"""How the whole suite runs."""

from __future__ import annotations

from hypothesis import settings

# No deadline: on shared cores the time of one example says nothing.
settings.register_profile("carrel", deadline=None, max_examples=60, database=None)
settings.load_profile("carrel")
