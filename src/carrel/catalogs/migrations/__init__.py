"""The steps by which each database came to this version of the catalog: file n makes version n."""

from __future__ import annotations

from importlib import resources


def steps(database: str) -> list[str]:
    directory = resources.files(__name__) / database
    files = sorted((file for file in directory.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [file.read_text(encoding="utf-8") for file in files]
