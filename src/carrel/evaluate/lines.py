"""The lines of a file of a test collection, plain or packed by gzip."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

from carrel.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LONGEST = 20_000_000


def read(path: Path) -> Iterator[tuple[int, str]]:
    """Each line that is not empty, with its number, without its end."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            number = 0
            while raw := file.readline(_LONGEST + 1):
                number += 1
                if len(raw) > _LONGEST:
                    raise SourceError(f"line {number} of {str(path)!r} has more than {_LONGEST:,} bytes")
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text.strip():
                    yield number, text
    except UnicodeDecodeError as error:
        raise SourceError(f"{str(path)!r} is not UTF-8 text", hint="Convert it to UTF-8 first.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SourceError(f"{str(path)!r} is damaged: {error}", hint="Get the file anew.") from error
    except OSError as error:
        raise SourceError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
