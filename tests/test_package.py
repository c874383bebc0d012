"""What is installed: everything that runs, and nothing heavy before it is needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent


def test_the_wheel_carries_code_models_numbers_migrations_and_demo(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed: pip install -r requirements/build.txt")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    shipped = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*") if path.is_file()}
    assert {name for name in shipped if "__pycache__" not in name} <= names
    for name in ("embedders/granite.onnx", "rerankers/fused.json", "demo/refs.jsonl", "py.typed"):
        assert f"carrel/{name}" in names
    for database in ("sqlite", "postgresql"):
        assert any(name.startswith(f"carrel/catalogs/migrations/{database}/0001_") for name in names)


@pytest.mark.parametrize("source", ["Makefile", "deploy/Dockerfile"])
def test_what_is_pinned_is_installed_as_it_is_pinned(source: str) -> None:
    """A release that comes tomorrow changes nothing: pip looks for no package that is not in the files."""
    commands = re.findall(r"install .*--require-hashes.*", (ROOT / source).read_text(encoding="utf-8"))
    assert commands
    assert all("--no-deps" in command for command in commands)


@pytest.mark.parametrize("name", ["default.txt", "dev.txt"])
def test_all_that_carrel_needs_is_pinned(name: str) -> None:
    written = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    lines = re.findall(r"^[^\s#].*==.*?(?= \\$)", written, re.MULTILINE)
    pinned = {canonicalize_name(one.name): one for one in map(Requirement, lines)}
    needed, seen = list(_needed(Requirement("carrel"))), set()
    while needed:
        one = needed.pop()
        assert canonicalize_name(one.name) in pinned, f"{one} is needed and not in requirements/{name}"
        (version,) = (pin.version for pin in pinned[canonicalize_name(one.name)].specifier)
        assert one.specifier.contains(version, prereleases=True), f"{one}, and requirements/{name} has {version}"
        if str(one) not in seen:
            seen.add(str(one))
            needed += _needed(one)
    assert len(seen) > 50


def _needed(by: Requirement) -> list[Requirement]:
    """What a package asks for on this machine, with the extras that are asked of it."""
    asked = map(Requirement, distribution(by.name).requires or ())
    extras = by.extras or {""}
    return [one for one in asked if not one.marker or any(one.marker.evaluate({"extra": extra}) for extra in extras)]


@pytest.mark.parametrize("module", ["carrel", "carrel.cli", "carrel.types", "carrel.registry"])
def test_nothing_heavy_is_imported_before_it_is_needed(module: str) -> None:
    script = f"import {module}, sys; print(*sorted(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    loaded = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    heavy = {"numpy", "onnxruntime", "tokenizers", "tantivy", "pydantic", "sqlite3", "markdown_it", "yaml", "asyncio"}
    assert heavy.isdisjoint(loaded.stdout.split())


def test_help_loads_only_the_command_line() -> None:
    script = "import sys; from carrel.cli import run; run(['--help']); print(*sorted(sys.modules), file=sys.stderr)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert {"numpy", "onnxruntime", "pydantic", "carrel.library"}.isdisjoint(done.stderr.split())


def test_no_code_is_read_from_data() -> None:
    forbidden = re.compile(r"\b(pickle|marshal|shelve|dill|joblib)\b|\beval\(|\bexec\(|allow_pickle=True|yaml\.load\(")
    for path in (ROOT / "src").rglob("*.py"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            safe = "Loader=yaml.BaseLoader" in line
            assert safe or not forbidden.search(line), f"{path.name}:{number}: {line.strip()}"


def test_nothing_opens_a_connection(tmp_path: Path) -> None:
    """Adding, searching and answering with the bundled parts, in a process that cannot make a socket."""
    script = """
import socket, sys
def refuse(*arguments, **options): raise AssertionError("a socket was opened")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from carrel.cli import run
(folder,) = sys.argv[1:]
open(f"{folder}/note.md", "w").write("# Zebras\\n\\nA zebra is striped in black and white all over its body.\\n")
codes = [run(["init", folder]), run(["-C", folder, "add", f"{folder}/note.md"]), run(["-C", folder, "ask", "zebra?"])]
sys.exit(sum(codes))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "XDG_CONFIG_HOME": str(tmp_path / "user")}
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
