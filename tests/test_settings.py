from __future__ import annotations

from pathlib import Path

import pytest

from carrel import settings
from carrel.errors import InvalidInput, UnknownSetting


@pytest.fixture(autouse=True)
def _own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))


def test_later_layers_win_and_say_who_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tmp_path / "user" / "carrel" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text("threads = 1\n[search]\nlimit = 1\nrrf_k = 1\ncandidates = 1\n")
    library = tmp_path / "config.toml"
    library.write_text("[search]\nlimit = 2\nrrf_k = 2\ncandidates = 2\n")
    monkeypatch.setenv("CARREL_SEARCH__RRF_K", "3")
    monkeypatch.setenv("CARREL_SEARCH__CANDIDATES", "3")
    chosen, origins = settings.load(library, {"search.candidates": "4"})
    assert (chosen.threads, chosen.search.limit, chosen.search.rrf_k, chosen.search.candidates) == (1, 2, 3, 4)
    assert origins == {
        "threads": str(user),
        "search.limit": str(library),
        "search.rrf_k": "environment",
        "search.candidates": "flag",
    }


def test_defaults_hold_when_nobody_says_otherwise() -> None:
    chosen, origins = settings.load()
    assert (chosen.embedder, chosen.search.rrf_k, chosen.answer.threshold, origins) == ("granite", 60, 0.4, {})


@pytest.mark.parametrize("where", ["file", "environment", "flag"])
def test_an_unknown_setting_is_refused_wherever_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[search]\nlimt = 5\n" if where == "file" else "")
    if where == "environment":
        monkeypatch.setenv("CARREL_SEARCH__LIMT", "5")
    with pytest.raises(UnknownSetting, match=r"unknown setting 'search\.limt'") as caught:
        settings.load(path, {"search.limt": "5"} if where == "flag" else {})
    assert "Did you mean 'search.limit'?" in caught.value.hint


def test_a_bad_value_is_named_with_its_key_and_origin(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[answer]\nthreshold = 1.5\n")
    with pytest.raises(
        InvalidInput, match=r"setting answer\.threshold = 1\.5 from .*config\.toml: .* less than or equal"
    ):
        settings.load(path)


def test_a_config_that_is_not_toml_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("= what")
    with pytest.raises(InvalidInput, match=r"config\.toml' is not valid TOML"):
        settings.load(path)


def test_assigning_keeps_comments_and_other_keys(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('# mine\nembedder = "granite"  # the best\n\n[search]\nlimit = 5\n')
    assert settings.assign(path, "search.limit", "7") == 7
    assert settings.assign(path, "history.keep_text", "true") is True
    text = path.read_text()
    assert "# mine" in text
    assert "# the best" in text
    assert settings.load(path)[0].search.limit == 7
    assert settings.load(path)[0].history.keep_text is True


def test_assigning_nonsense_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[search]\nlimit = 5\n")
    for key, value in (("search.limit", "many"), ("no.such", "1")):
        with pytest.raises(InvalidInput):
            settings.assign(path, key, value)
    assert path.read_text() == "[search]\nlimit = 5\n"


def test_every_setting_has_a_description() -> None:
    assert all(settings.descriptions().values())


def test_the_variables_of_papers_rag_name_its_caches_and_carrels_own_names_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "config.toml"
    library.write_text('[ingest]\npapers_embed_cache = "inside"\npapers_datalab_cache = "inside"\n')
    monkeypatch.setenv("PAPERS_EMBED_CACHE_DIR", "/papers/embed")
    monkeypatch.setenv("PAPERS_DATALAB_CACHE_DIR", "/papers/datalab")
    monkeypatch.setenv("CARREL_INGEST__PAPERS_DATALAB_CACHE", "/mine")
    chosen, origins = settings.load(library)
    assert chosen.ingest.papers_embed_cache == "/papers/embed"
    assert chosen.ingest.papers_datalab_cache == "/mine"
    assert set(origins.values()) == {"environment"}
    monkeypatch.setenv("PAPERS_EMBED_CACHE_DIR", "")
    assert settings.load(library)[0].ingest.papers_embed_cache == "inside"


@pytest.mark.parametrize("key", ["pdf_root", "ingest.papers_embed_cache", "ingest.papers_datalab_cache"])
@pytest.mark.parametrize("folder", ["/etc", "../other", "~/papers", "C:\\papers"])
def test_a_librarys_config_names_no_folder_outside_of_it(tmp_path: Path, key: str, folder: str) -> None:
    path = tmp_path / "config.toml"
    section, _, name = key.rpartition(".")
    path.write_text(f"[{section}]\n{name} = {folder!r}\n" if section else f"{name} = {folder!r}\n")
    with pytest.raises(InvalidInput, match=rf"names a place outside of the library: {key} = "):
        settings.load(path)
    with pytest.raises(InvalidInput, match=rf"names a place outside of the library: {key} = "):
        settings.assign(tmp_path / "new.toml", key, folder)
