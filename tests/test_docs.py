"""What can be used is documented, and what is documented works."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from carrel import errors, registry, settings
from carrel.cli import cli

ROOT = Path(__file__).parent.parent
DOCS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}


def commands() -> list[tuple[str, click.Command]]:
    context = click.Context(cli)
    found: list[tuple[str, click.Command]] = [("carrel", cli)]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        found.append((f"carrel {name}", command))
        if isinstance(command, click.Group):
            found += [(f"carrel {name} {sub}", child) for sub, child in command.commands.items()]
    return found


def test_every_command_and_option_is_in_the_docs() -> None:
    text = DOCS["commands.md"]
    for name, command in commands():
        assert f"`{name}" in text or isinstance(command, click.Group), name
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert re.search(rf"`{re.escape(option)}[ `,]|, `{re.escape(option)}", text), f"{name} {option}"


def test_every_setting_is_in_the_docs_with_its_default_and_meaning() -> None:
    for setting in settings.listing(settings.Settings(), {}):
        line = next(line for line in DOCS["settings.md"].splitlines() if line.startswith(f"| `{setting.key}` |"))
        assert setting.description in line
        shown = line.split("|")[2].strip().strip("`").strip('"')
        assert shown == (str(setting.value).lower() if isinstance(setting.value, bool) else str(setting.value))


def test_every_error_is_in_the_docs_with_its_code_exit_code_and_status() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.CarrelError)]
    for kind in kinds:
        row = f"| `{kind.__name__}` | `{kind.code}` | {kind.exit_code} | {kind.http_status} |"
        assert row in DOCS["errors.md"]


def test_every_exit_code_is_in_the_docs() -> None:
    codes = {kind.exit_code for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "exit_code")}
    for code in codes | {0, 130}:
        assert f"\n| {code} | " in DOCS["commands.md"]


def test_every_component_is_in_the_architecture() -> None:
    for components in registry.BUILT_IN.values():
        for name in components:
            assert f"`{name}`" in DOCS["architecture.md"]


def test_every_dependency_has_its_reason() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"\ndependencies = \[(.*?)\]", project, re.DOTALL)
    assert listed is not None
    for name in re.findall(r'"([\w.-]+?)[=>]', listed.group(1)):
        assert re.search(rf"^\| (?:[\w-]+, )?{name}\b", DOCS["dependencies.md"], re.MULTILINE), name


def test_links_in_the_docs_lead_somewhere() -> None:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name} → {target}"


def shell_examples() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def python_examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody who follows the README: with a refs.jsonl and some notes."""
    folder = tmp_path_factory.mktemp("reader")
    demo = ROOT / "src/carrel/demo"
    lines = (demo / "refs.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "refs.jsonl").write_text("\n".join(lines[:25]) + "\n", encoding="utf-8")
    dense = next(line for line in lines if '"karpukhin-etal-2020-dense"' in line)
    with (folder / "refs.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"{dense}\n")
    (folder / "notes").mkdir()
    (folder / "notes" / "reading.md").write_text("# Reading\n\nDense retrieval compares vectors of meaning.\n")
    return folder


def test_every_shell_example_of_the_readme_runs(reader: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "XDG_CONFIG_HOME": str(reader / "config")}
    here = reader
    assert len(shell_examples()) >= 9
    for line in shell_examples():
        program, *arguments = shlex.split(line)
        if program == "cd":
            here = here / arguments[0]
            continue
        assert program == "carrel"
        done = subprocess.run(
            [sys.executable, "-m", "carrel", *arguments],
            cwd=here,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert done.stdout


def test_the_python_example_of_the_readme_runs(reader: Path) -> None:
    (example,) = python_examples()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=reader, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "karpukhin-etal-2020-dense/abstract" in done.stdout


def test_make_is_all_a_newcomer_needs() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    planned = subprocess.run([make, "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for tool in ("ruff check", "ruff format --check", "mypy", "lint-imports", "pytest"):
        assert tool in planned


def test_requirement_files_are_pinned_hashed_and_name_no_index() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        pins = re.findall(r"^[a-z0-9][\w.-]*==\S+", text, re.MULTILINE)
        assert pins
        assert text.count("--hash=sha256:") >= len(pins)
        assert "://" not in text
        assert not re.search(r"^(--index-url|--extra-index-url|--find-links|-i |-f )", text, re.MULTILINE)
