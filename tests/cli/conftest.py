from __future__ import annotations

import json
import shutil
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
    enter(tmp_path, monkeypatch, tmp_path / "user")

    def call(*arguments: str | Path) -> Outcome:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        return Outcome(code, *capfd.readouterr())

    return call


@pytest.fixture
def library(carrel: Carrel, filled: Path, tmp_path: Path) -> Carrel:
    """The same, in a folder whose library holds the demo's references."""
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    return carrel


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a library, made once."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        enter(folder, patch, tmp_path_factory.mktemp("user"))
        assert run(["init"]) == 0
        assert run(["add", str(DEMO / "refs.jsonl")]) == 0
    return folder


def enter(folder: Path, patch: pytest.MonkeyPatch, user: Path) -> None:
    patch.chdir(folder)
    patch.setenv("XDG_CONFIG_HOME", str(user))
    patch.setitem(registry.BUILT_IN["embedders"], "hashed-words", "carrel.testing:HashedWords")
    patch.setenv("CARREL_EMBEDDER", "hashed-words")
