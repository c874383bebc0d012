from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from carrel import registry
from carrel.cli import run

DEMO = Path(__file__).parent.parent.parent / "src" / "carrel" / "demo"


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Carrel = Callable[..., Outcome]


@pytest.fixture
def carrel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Carrel:
    """Run a command in an empty folder, with the instant embedder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setitem(registry.BUILT_IN["embedders"], "hashed-words", "carrel.testing:HashedWords")
    monkeypatch.setenv("CARREL_EMBEDDER", "hashed-words")

    def call(*arguments: str | Path) -> Outcome:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        return Outcome(code, *capfd.readouterr())

    return call


@pytest.fixture
def library(carrel: Carrel) -> Carrel:
    """The same, in a folder whose library holds the demo's references."""
    assert carrel("init").code == 0
    assert carrel("add", DEMO / "refs.jsonl").code == 0
    return carrel
