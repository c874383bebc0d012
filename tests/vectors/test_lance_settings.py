"""Where Lance keeps a library's vectors, and who may say so."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from carrel import registry, settings
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.types import EVERYTHING
from carrel.vectors.lance import LanceVectors
from tests.builders import make_chunk

ROW = np.eye(4, dtype=np.float32)[:1]


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CARREL_VECTORS", raising=False)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The library's own, which may come from somebody else."""
    return tmp_path / "config.toml"


def personal(text: str) -> None:
    path = settings.user_config()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    "name",
    [
        "lance",
        "lance:/data/vectors",
        "lance:C:\\vectors",
        "lance:s3://bucket",
        "lance:gs://b/a/b",
        "lance:az://c/folder",
    ],
)
def test_a_folder_or_an_object_store_is_named_in_ones_own_config(config: Path, name: str) -> None:
    personal(f"vectors = '{name}'")
    assert settings.load(config)[0].vectors == name


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("lance:vectors", "needs a whole path"),
        ("lance:../vectors", "needs a whole path"),
        ("lance:file:///data", "not an object store"),
        ("lance:http://host/data", "not an object store"),
        ("lance:s3:///folder", "not an object store"),
        ("lance:s3://key:secret@bucket/folder", "keys stand in the environment"),
        ("lance:s3://bucket/folder?region=x", "more in it than bucket and folder"),
    ],
)
def test_what_is_neither_is_refused(config: Path, name: str, reason: str) -> None:
    personal(f'vectors = "{name}"')
    with pytest.raises(InvalidInput, match=reason):
        settings.load(config)


@pytest.mark.parametrize("folder", ["/etc", "C:\\vectors"])
def test_a_librarys_config_names_no_folder_elsewhere(config: Path, folder: str) -> None:
    config.write_text(f"vectors = 'lance:{folder}'\n")
    with pytest.raises(InvalidInput, match="names a place outside of the library: vectors = "):
        settings.load(config)
    with pytest.raises(InvalidInput, match="names a place outside of the library: vectors = "):
        settings.assign(config.with_name("new.toml"), "vectors", f"lance:{folder}")


def test_a_librarys_config_may_choose_lance_in_its_own_folder(config: Path) -> None:
    config.write_text('vectors = "lance"\n')
    assert settings.load(config)[0].vectors == "lance"


@pytest.mark.parametrize("bucket", ["s3://papers/all", "s3://localhost/all", "s3://127.0.0.1/all"])
def test_a_librarys_config_names_a_bucket_only_with_the_users_consent(config: Path, bucket: str) -> None:
    config.write_text(f'vectors = "lance:{bucket}"\n')
    with pytest.raises(InvalidInput, match="would send its texts to another machine: vectors = "):
        settings.load(config)
    personal("[models]\nallow_remote = true\n")
    assert settings.load(config)[0].vectors == f"lance:{bucket}"


def test_each_library_has_its_own_tables_in_a_folder_that_several_share(tmp_path: Path) -> None:
    def made(namespace: str) -> LanceVectors:
        offered = {"directory": tmp_path / "unused", "model": "m", "dim": 4, "half": False, "password": ""}
        name = f"lance:{tmp_path / 'shared'}"
        found: LanceVectors = registry.make("vectors", name, namespace=namespace, database=None, **offered)
        return found

    made("one").put([make_chunk("a")], ROW)
    made("two").put([make_chunk("b")], ROW)
    assert made("one").addresses() == {make_chunk("a").address}
    assert made("two").addresses() == {make_chunk("b").address}
    assert not (tmp_path / "unused").exists()


def test_an_object_store_that_is_not_there_is_named_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"ACCESS_KEY_ID": "none", "SECRET_ACCESS_KEY": "none", "REGION": "us-east-1", "ALLOW_HTTP": "true"}
    for name, value in (known | {"ENDPOINT": "http://127.0.0.1:1"}).items():
        monkeypatch.setenv(f"AWS_{name}", value)
    begun = time.monotonic()
    store = LanceVectors(tmp_path, model="m", dim=4, argument="s3://bucket/folder", namespace="mine")
    with pytest.raises(StoreUnavailable, match="'s3://bucket/folder/mine': Connection refused") as caught:
        store.search(ROW[0], limit=1, where=EVERYTHING)
    assert "AWS_ACCESS_KEY_ID" in caught.value.hint
    assert time.monotonic() - begun < 20
