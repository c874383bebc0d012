"""Times as the catalog writes them: UTC, as ISO 8601 has it, so that their order is that of their letters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def earlier(moment: str, *, days: float = 0, seconds: float = 0) -> str:
    try:
        then = datetime.fromisoformat(moment) - timedelta(days=days, seconds=seconds)
    except OverflowError:
        then = datetime.min.replace(tzinfo=UTC)
    return then.isoformat(timespec="microseconds")
