"""Bundles on disk: JSON as it is, Markdown and HTML with the same JSON inside, so that all three can be checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from carrel import release
from carrel.bundles import FORMAT, VERSION, Bundle, markdown, page, seal
from carrel.errors import InvalidInput, NotFound
from carrel.files import write_atomically, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pydantic import TypeAdapter

_LARGEST = 5_000_000
"""Bytes. More than any answer has, as are the next two: whoever sends such a file wants to keep us busy."""
_MOST = 1000
"""Statements, and citations."""
_LONGEST = 50_000
"""Characters of one."""
_SHOWN: Mapping[str, Callable[[Bundle, str], str]] = {".md": markdown.text, ".html": page.html}
"""By suffix: how a bundle is shown, with its JSON inside."""
_SUFFIXES = (".json", *_SHOWN)
_INSIDE = {
    ".md": (f"<!-- {FORMAT}\n", "\n-->"),
    ".html": (f'<script type="application/json" id="{FORMAT}">\n', "\n</script>"),
}
"""What stands before and after the JSON."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What a file holds, and whether it is as it was saved."""

    bundle: Bundle
    is_sealed: bool
    """Whether its content is what it was when it was written."""
    is_shown: bool | None
    """Whether what a reader of the file sees is what its data say; None where another version has written it."""


def check_target(path: Path, *, force: bool = False) -> None:
    """Refuse what cannot become a bundle, before there is an answer that would be lost."""
    if path.suffix.lower() not in _SUFFIXES or "\0" in str(path):
        raise InvalidInput(
            f"an answer is saved as .json, .md or .html, not as {path.name!r}", hint="The name's end decides."
        )
    with writing(path):
        if not path.parent.is_dir():
            raise InvalidInput(f"there is no folder {str(path.parent)!r}", hint="Make it, or name another file.")
        if path.is_dir() or (path.exists() and not force):
            hint = "Name a file." if path.is_dir() else "Name another file, or replace it with --force."
            raise InvalidInput(f"{str(path)!r} is there already", hint=hint)


def write(path: Path, bundle: Bundle) -> None:
    """Put it there in one step."""
    write_atomically(path, content(path, bundle))


def content(path: Path, bundle: Bundle) -> bytes:
    """What a file of this name has. What is shown is what will be read from it again."""
    record = bundle.as_dict()
    return _rendered(path.suffix.lower(), _bundle(path, record), record).encode()


def read(path: Path) -> Opened:
    """The bundle in a file from anywhere: whatever is wrong with it is said in one sentence."""
    suffix = path.suffix.lower()
    # Whoever keeps it in git may get it back with other line ends.
    found = _read(path).decode("utf-8", "replace").replace("\r\n", "\n")
    record = _record(path, _data(path, found))
    bundle = _bundle(path, record)
    is_shown = suffix not in _SHOWN or found == _rendered(suffix, bundle, record)
    comparable = is_shown or bundle.made.carrel == release.VERSION
    return Opened(bundle, record.get("sha256") == seal(record), is_shown if comparable else None)


def _rendered(suffix: str, bundle: Bundle, record: Mapping[str, Any]) -> str:
    if suffix not in _SHOWN:
        return json.dumps(record, ensure_ascii=False, indent=2) + "\n"
    data = json.dumps(record, ensure_ascii=True)
    # JSON has these only inside of strings, where it has another way to write them.
    for character in "<>&":
        data = data.replace(character, f"\\u{ord(character):04x}")
    return _SHOWN[suffix](bundle, data)


def _read(path: Path) -> bytes:
    try:
        if path.suffix.lower() not in _SUFFIXES:
            raise _refused(path, "a saved answer ends in .json, .md or .html")
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except (FileNotFoundError, ValueError):
        raise NotFound(f"there is no file {str(path)!r}", hint="Name a file that 'carrel ask --save' wrote.") from None
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from error
    if len(content) > _LARGEST:
        raise _refused(path, f"it has more than {_LARGEST:,} bytes")
    return content


def _data(path: Path, content: str) -> str:
    if path.suffix.lower() not in _INSIDE:
        return content
    before, after = _INSIDE[path.suffix.lower()]
    inside = content.split(before)[1:]
    if len(inside) != 1:
        raise _refused(path, f"it holds {len(inside) or 'no'} saved answer{'s' if inside else ''}")
    return inside[0].partition(after)[0]


def _record(path: Path, text: str) -> dict[str, Any]:
    try:
        record = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise _refused(path, f"it is not valid JSON: {reason}") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise _refused(path, f"its format is not {FORMAT!r}")
    if record.get("version") != VERSION:
        raise _refused(path, f"it is of version {str(record.get('version'))[:20]!r}, this Carrel knows {VERSION}")
    return record


def _bundle(path: Path, record: Mapping[str, Any]) -> Bundle:
    from pydantic import ValidationError

    try:
        bundle = _adapter().validate_json(json.dumps(record), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise _refused(path, f"{place[:100]!r}: {first['msg'].lower()}") from error
    texts = [*(one.text for one in bundle.statements), *(one.quote for one in bundle.citations)]
    if max(len(bundle.statements), len(bundle.citations)) > _MOST or any(len(text) > _LONGEST for text in texts):
        raise _refused(path, f"no answer has more than {_MOST:,} statements, or one of {_LONGEST:,} characters")
    return bundle


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _refused(path: Path, reason: str) -> InvalidInput:
    return InvalidInput(
        f"{str(path)!r} is no answer that can be checked: {reason}", hint="Name a file that 'carrel ask --save' wrote."
    )


@cache
def _adapter() -> TypeAdapter[Bundle]:
    from pydantic import TypeAdapter

    return TypeAdapter(Bundle)
