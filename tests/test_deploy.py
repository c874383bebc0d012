"""What is in deploy/ names settings, commands and files that exist, and opens nothing to strangers."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from carrel import settings
from carrel.cli import cli
from carrel.http import scopes

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return read


def test_every_variable_is_a_setting() -> None:
    known = {f"CARREL_{key.upper().replace('.', '__')}" for key in settings.descriptions()} | {"CARREL_LIBRARY"}
    own = {"CARREL_HOSTS", "CARREL_PORT"}  # compose's, for its user
    for path in DEPLOY.iterdir():
        used = set(re.findall(r"\bCARREL_[A-Z_]+", path.read_text(encoding="utf-8")))
        assert used <= known | own, path.name


def test_every_command_is_one_of_carrel_s(compose: dict[str, Any]) -> None:
    commands = set(cli.list_commands(click.Context(cli)))
    served = [compose["services"][name]["command"][0] for name in ("carrel", "worker")]
    started = [re.search(r"^ExecStart=/opt/carrel/bin/carrel (\w+)", unit.read_text(), re.MULTILINE) for unit in UNITS]
    assert {*served, *(found[1] for found in started if found), "serve"} == {"serve", "worker"}
    assert {"serve", "worker"} <= commands
    assert 'CMD ["serve"]' in DOCKERFILE


def test_the_service_is_published_to_this_machine_alone_and_runs_without_rights(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
        assert "privileged" not in service
    for name in ("carrel", "worker"):
        service = compose["services"][name]
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert service["volumes"] == ["library:/library"]


def test_every_volume_and_dependency_of_the_compose_file_is_in_it(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert {volume.partition(":")[0] for volume in service.get("volumes", ())} <= set(compose["volumes"])
        assert set(service.get("depends_on", ())) <= set(compose["services"])


def test_no_password_has_a_default(compose: dict[str, Any]) -> None:
    assert compose["services"]["postgres"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")


def test_the_image_copies_what_is_there_and_runs_as_nobody_in_particular() -> None:
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        assert all((ROOT / source).exists() for source in line.split()[:-1]), line
    assert re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE) == ["carrel"]
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    copied = {
        source.partition("/")[0]
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    }
    assert copied == {line.removeprefix("!") for line in ignored if line.startswith("!")}


def test_the_health_check_asks_what_needs_no_token() -> None:
    [path] = re.findall(r"http://127\.0\.0\.1:8080(/[\w/]+)", DOCKERFILE)
    assert scopes.needed("GET", path) is None


def test_the_units_are_alike_but_for_what_they_start() -> None:
    server, worker = ((DEPLOY / name).read_text().splitlines() for name in ("carrel.service", "carrel-worker@.service"))
    differing = [one for one, other in zip(server, worker, strict=True) if one != other and not one.startswith("#")]
    assert [line.partition("=")[0] for line in differing] == ["Description", "ExecStart"]


def test_a_unit_waits_longer_than_the_server_takes_to_finish_its_answers() -> None:
    for unit in UNITS:
        waits = re.search(r"^TimeoutStopSec=(\d+)$", unit.read_text(encoding="utf-8"), re.MULTILINE)
        assert waits
        assert int(waits[1]) > settings.Settings().serve.shutdown_seconds


def test_systemd_understands_the_units(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not here")
    for unit in UNITS:
        text = unit.read_text(encoding="utf-8").replace("/opt/carrel/bin/carrel", "/bin/true")
        (tmp_path / unit.name.replace("@", "@1")).write_text(text, encoding="utf-8")
    found = subprocess.run(
        ["systemd-analyze", "verify", *map(str, tmp_path.iterdir())], check=False, capture_output=True, text=True
    )
    assert (found.returncode, found.stderr) == (0, "")


def test_the_docs_speak_of_every_file() -> None:
    text = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    for path in DEPLOY.iterdir():
        assert path.name.removesuffix(".dockerignore") in text
