"""The example of docs/architecture.md: an embedder in one file."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from carrel.embedders import Embedder

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "custom_embedder.py"


@pytest.fixture
def embedder() -> Embedder:
    spec = importlib.util.spec_from_file_location("custom_embedder", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Embedder = module.LetterEmbedder()
    return made


def test_the_example_runs_as_it_stands() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, str(EXAMPLE)], env=environment, capture_output=True, text=True, check=True)
    score, address = done.stdout.split()
    assert address == "zebras/ch1/s0/p0"
    assert 0 < float(score) < 1


def test_the_example_keeps_the_contract(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)
    texts = ["zebra", "", "Äé 123", "a" * 100_000]
    rows = embedder.embed_passages(texts)
    assert (rows.shape, rows.dtype) == ((4, embedder.dim), np.float32)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert all(np.allclose(embedder.embed_query(text), row) for text, row in zip(texts, rows, strict=True))
    assert embedder.embed_passages([]).shape == (0, embedder.dim)
    assert embedder.count_tokens(["a b", ""]) == [2, 0]


def test_an_installed_package_can_bring_it_under_a_name_of_its_own(tmp_path: Path) -> None:
    """By an entry point, as docs/architecture.md says, through the command line."""
    (tmp_path / "my_package.py").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    metadata = tmp_path / "my_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[carrel.embedders]\nletters = my_package:LetterEmbedder\n")
    (tmp_path / "note.md").write_text("A zebra gazes.\n")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(tmp_path)]),
        "XDG_CONFIG_HOME": str(tmp_path / "user"),
    }
    for arguments in (
        ["init"],
        ["config", "set", "embedder", "letters"],
        ["add", "note.md"],
        ["index", "build"],
        ["search", "zzz", "--mode", "vector"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "carrel", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert "note/ch0/s0/p0" in done.stdout
