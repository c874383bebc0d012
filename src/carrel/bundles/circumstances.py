"""When, where and by what an answer was made, told without what is nobody else's business."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Any

from carrel import settings
from carrel.bundles import Made
from carrel.release import VERSION

if TYPE_CHECKING:
    from carrel.embedders import Embedder
    from carrel.layout import Layout
    from carrel.rerankers import Reranker
    from carrel.settings import Settings

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")
_QUERY = re.compile(r"[?#]\S*")


def made(place: Layout, chosen: Settings, embedder: Embedder, reranker: Reranker | None, generator: str = "") -> Made:
    return Made(
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        library=place.root.resolve().parent.name,
        carrel=VERSION,
        embedder=public(embedder.name),
        reranker=public(reranker.name) if reranker else "none",
        generator=public(generator),
        settings={key: _shown(value) for key, value in settings.differing(chosen).items()},
    )


def _shown(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, list | tuple | set | frozenset):
        return [_shown(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float) else public(str(value))


def public(text: str) -> str:
    """A model's or server's name without passwords, and without the folders of this machine."""
    if "://" in text:
        return _QUERY.sub("", _CREDENTIALS.sub("", text))
    kind, colon, argument = text.partition(":")
    path = PureWindowsPath(argument if colon else text)  # Knows both kinds of slashes, and drives.
    if not (path.root or path.drive or path.parts[:1] == ("~",)):
        return text
    return f"{kind}{colon}{path.name}" if colon else path.name
