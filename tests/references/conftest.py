"""Files to read, and the real libraries when they are there."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared" / "data" / "refs" / "better_bibtex" / "refs.tar.xz"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 103 libraries of real users that came with bug reports to Better BibTeX."""
    if not SHARED.exists():
        pytest.skip(
            "the users' libraries are not here: shared/data/refs/better_bibtex/refs.tar.xz beside the repository"
        )
    folder = tmp_path_factory.mktemp("libraries")
    with tarfile.open(SHARED) as archive:
        archive.extractall(folder, filter="data")
    return folder
