"""Files, layout, registry and log: what everything else stands on."""

from __future__ import annotations

import errno
import json
import logging
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from carrel import errors, files, layout, registry, telemetry
from carrel.errors import InvalidInput, LibraryNotFound, MissingExtra, ReadOnlyLibrary, StorageFull, UnknownComponent
from tests.vectors import iris_double


def test_an_interrupted_write_leaves_the_old_content_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    files.write_atomically(path, b"old")

    def fail(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "flush", fail)
    with pytest.raises(StorageFull, match="no space left to write"):
        files.write_atomically(path, b"new")
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("f", b"old")]


def test_a_rewritten_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(0o640)
    files.write_atomically(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)


def test_a_new_directory_replaces_the_old_one_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "d"
    with files.new_directory(target) as temporary:
        (temporary / "a").write_text("1")
    with pytest.raises(ZeroDivisionError), files.new_directory(target) as temporary:
        (temporary / "b").write_text("2")
        raise ZeroDivisionError
    assert [path.name for path in target.iterdir()] == ["a"]
    with files.new_directory(target) as temporary:
        (temporary / "c").write_text("3")
    assert [path.name for path in target.iterdir()] == ["c"]
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


@pytest.mark.parametrize(("code", "kind"), [(errno.ENOSPC, StorageFull), (errno.EROFS, ReadOnlyLibrary)])
def test_the_systems_refusals_are_told_in_our_words(tmp_path: Path, code: int, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="there"), files.writing(tmp_path / "there"):
        raise OSError(code, "x")


def test_a_library_is_found_from_anywhere_inside_its_folder(tmp_path: Path) -> None:
    made = layout.create(tmp_path)
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert layout.find(deep) == layout.find(made.root) == made
    assert made.config.parent == made.root


def test_outside_of_any_library_the_next_step_is_named(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound) as caught:
        layout.find(tmp_path)
    assert caught.value.hint == "Make one with 'carrel init'."


def test_a_second_library_in_one_folder_is_refused(tmp_path: Path) -> None:
    layout.create(tmp_path)
    with pytest.raises(InvalidInput, match="already"):
        layout.create(tmp_path)


def test_a_bipartite_directory_is_used_and_nothing_in_it_disturbed(tmp_path: Path) -> None:
    bipartite = tmp_path / ".bipartite"
    bipartite.mkdir()
    (bipartite / "refs.jsonl").write_text('{"id": "a", "title": "A"}\n')
    (bipartite / "config.yml").write_text("pdf_root: x\n")
    made = layout.create(tmp_path)
    assert made.refs.read_text() == '{"id": "a", "title": "A"}\n'
    assert sorted(path.name for path in bipartite.iterdir()) == ["carrel", "config.yml", "refs.jsonl"]
    assert made.database == bipartite / "carrel" / "carrel.db"


def test_paths_inside_the_folder_are_remembered_from_the_folder_on(tmp_path: Path) -> None:
    made = layout.create(tmp_path / "lib")
    assert made.relative(tmp_path / "lib" / "notes" / "a.md") == "notes/a.md"
    assert made.relative(tmp_path / "a.md") == str((tmp_path / "a.md").resolve())


def test_an_unknown_component_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownComponent, match="no embedder is called 'gpt'") as caught:
        registry.find("embedders", "gpt")
    assert "granite" in caught.value.hint


def test_a_missing_module_is_answered_with_the_extra_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "needs_extra.py").write_text("import no_such_module_anywhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.BUILT_IN["vectors"], "milvus", "needs_extra:Milvus")
    with pytest.raises(MissingExtra, match=r"'milvus' needs an extra: pip install 'carrel\[milvus\]'"):
        registry.find("vectors", "milvus")


def test_third_parties_add_components_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(name="mine", value="collections:OrderedDict", group="carrel.vectors")
    monkeypatch.setattr(registry, "entry_points", lambda **wanted: EntryPoints([point]).select(**wanted))
    assert registry.find("vectors", "mine").__name__ == "OrderedDict"
    assert registry.names("vectors") == sorted([*registry.BUILT_IN["vectors"], "mine"])


def test_every_built_in_component_can_be_imported_and_is_called_by_its_seam() -> None:
    # The driver of IRIS is nobody's dependency: a stand-in takes its place.
    assert iris_double.IrisVectors is registry.find("vectors", "iris")
    for seam, components in registry.BUILT_IN.items():
        for name in components:
            assert isinstance(registry.find(seam, name), type)


def test_the_log_is_one_json_object_a_line_and_values_cannot_forge_another(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry.configure("info")
    telemetry.log("test", logging.INFO, "hello", value='x\n{"level": "error"}')
    telemetry.log("test", logging.DEBUG, "not shown")
    telemetry.configure("off")
    telemetry.log("test", logging.ERROR, "not shown either")
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["value"] == 'x\n{"level": "error"}'
    assert json.loads(line)["event"] == "hello"


def test_the_error_tree_in_the_docstring_is_the_one_in_the_code() -> None:
    assert errors.__doc__ is not None
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.CarrelError)]
    for kind in kinds:
        line = next(line for line in errors.__doc__.splitlines() if f" {kind.__name__} " in f" {line} ")
        assert line.split()[-3:] == [str(kind.exit_code), str(kind.http_status), kind.code]
