"""`carrel sync` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Carrel


@pytest.fixture
def folder(tmp_path: Path, carrel: Carrel, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two notes in a library that knows their folder."""
    monkeypatch.setenv("CARREL_INGEST__ISOLATE", "false")
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.md").write_text(f"# The long title of {name}\n\nText of {name}.\n")
    assert carrel("init").code == carrel("add", folder, "--tag", "mine").code == 0
    return folder


def test_it_says_what_was_added_updated_and_retired(carrel: Carrel, folder: Path) -> None:
    (folder / "a.md").unlink()
    (folder / "c.md").write_text("# Three\n\nText of c.\n")
    planned = carrel("sync", "--dry-run")
    assert planned.out.splitlines() == [
        "Would add 1 new, 0 updated, 1 unchanged, 1 retired",
        "  add     c  Three  (new)",
        "  retire  a  The long title of a  (file gone)",
    ]
    done = carrel("sync")
    assert (done.code, done.out.splitlines()[0]) == (0, "Added 1 new, 0 updated, 1 unchanged, 1 retired")
    again = carrel("sync", "--json").json
    assert (again["new"], again["unchanged"], again["retired"]) == (0, 2, [])


def test_what_it_looks_at_is_listed_and_forgotten(carrel: Carrel, folder: Path) -> None:
    assert carrel("sync", "--list").out == "notes  tag mine\n"
    listed = carrel("sync", "--list", "--json").json
    assert listed == {"sources": [{"path": "notes", "folder": True, "tags": ["mine"], "attached": False}]}
    assert carrel("sync", "--forget", folder).out == "Looks no longer at notes\n"
    assert carrel("sync", "--list").out == "Nothing is looked at yet: 'carrel add PATH' adds and remembers.\n"
    refused = carrel("sync", "--forget", folder)
    assert (refused.code, "'carrel sync --list' shows what is." in refused.err) == (1, True)


def test_a_missing_folder_is_a_failure_and_pruned_when_asked(carrel: Carrel, folder: Path) -> None:
    folder.rename(folder.parent / ".away")
    missed = carrel("sync")
    assert (missed.code, missed.err) == (
        1,
        f"Failed: {folder}: no such file or folder; nothing is retired; 'carrel sync --prune' does\n",
    )
    pruned = carrel("sync", "--prune", "--json")
    assert (pruned.code, sorted(pruned.json["retired"])) == (0, ["a", "b"])
    assert carrel("sync", "--list", "--json").json == {"sources": []}


def test_watching_goes_with_neither_pruning_nor_a_dry_run(carrel: Carrel, folder: Path) -> None:
    for option in ("--prune", "--dry-run"):
        assert carrel("sync", "--watch", option).code == 1
