"""Whose server a generator may speak to, and who gets the user's key."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from carrel import Library, doctor, settings
from carrel.errors import InvalidInput
from carrel.generators.http import ServedGenerator
from carrel.settings.keys import key_for
from carrel.testing import HashedWords
from tests.generators.chat import APIS, plain
from tests.generators.conftest import Serve

OWN, USUAL, KEPT = "sk-own", "sk-usual", "sk-kept"
OPENAI = "https://api.openai.com/v1"


@pytest.fixture(autouse=True)
def own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "own" / "config.toml"
    path.parent.mkdir()
    monkeypatch.setattr(settings, "user_config", lambda: path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "keyring", None)
    return path


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    Library.init(folder, embedder=HashedWords()).close()
    return folder


def made(folder: Path, **overrides: Any) -> ServedGenerator:
    with Library.open(folder, embedder=HashedWords(), overrides=overrides) as library:
        generator = library.generator
        assert isinstance(generator, ServedGenerator)
        return generator


def key_of(generator: ServedGenerator) -> str:
    return generator.client.headers.get("x-api-key", "") or generator.client.api_key


def keep(monkeypatch: pytest.MonkeyPatch, **kept: str) -> None:
    """A keyring with these keys in it."""
    ring = types.ModuleType("keyring")
    vars(ring)["get_password"] = lambda service, user: kept.get(user) if service == "carrel" else None
    monkeypatch.setitem(sys.modules, "keyring", ring)


def test_the_settings_reach_the_generator(library: Path) -> None:
    chosen = {"timeout": 7.0, "seconds": 9.0, "max_tokens": 99, "temperature": 0.5, "context_tokens": 4000}
    generator = made(
        library,
        generator="openai:m",
        **{f"generation.{key}": value for key, value in chosen.items()},
        **{"generation.base_url": "http://127.0.0.1:8000/v1"},
    )
    assert (generator.client.timeout, generator.max_tokens, generator.temperature) == (7.0, 99, 0.5)
    assert (generator.context, generator.client.base_url) == (4000, "http://127.0.0.1:8000/v1")
    with Library.open(library, embedder=HashedWords(), overrides={"generation.seconds": 9.0}) as opened:
        assert opened._means.seconds == 9.0


def test_keys_are_looked_for_in_order(library: Path, own_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def key() -> str:
        return key_of(made(library, generator="anthropic:claude"))

    assert key() == ""
    keep(monkeypatch, anthropic=KEPT)
    assert key() == KEPT
    monkeypatch.setenv("ANTHROPIC_API_KEY", USUAL)
    assert key() == USUAL
    own_config.write_text(f"[generation]\napi_key = '{OWN}'\n")
    assert key() == OWN
    monkeypatch.setenv("CARREL_GENERATION__API_KEY", "sk-first")
    assert key() == "sk-first"


def test_a_usual_key_is_for_its_makers_own_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", USUAL)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-other")
    assert key_for("openai:m", OPENAI, "") == USUAL
    assert key_for("openai:m", OPENAI, OWN) == OWN
    assert key_for("anthropic:m", "https://api.anthropic.com", "") == "sk-other"
    for server in ("https://evilopenai.com/v1", "https://api.openai.com.evil.example/v1", "http://127.0.0.1:1", ""):
        assert key_for("openai:m", server, "") == ""
        assert key_for("openai:m", server, OWN) == OWN
    assert key_for("ollama:m", OPENAI, "") == ""


def test_a_keyring_that_is_broken_is_no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = types.ModuleType("keyring")

    def broken(*_: str) -> str:
        raise RuntimeError("No recommended backend was available")

    vars(ring)["get_password"] = broken
    monkeypatch.setitem(sys.modules, "keyring", ring)
    assert key_for("openai:m", OPENAI, "") == ""


def config(library: Path, text: str) -> None:
    (library / ".carrel" / "config.toml").write_text(text)


REMOTE = "https://models.example/v1"


@pytest.mark.parametrize(
    "text",
    [
        "generator = 'anthropic:claude'",
        f"generator = 'openai:m'\n[generation]\nbase_url = '{REMOTE}'",
        f"[generation]\nbase_url = '{REMOTE}'",
    ],
)
def test_a_librarys_config_sends_nothing_to_another_machine_unless_its_user_allows_it(
    library: Path, own_config: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("CARREL_GENERATION__API_KEY", OWN)
    monkeypatch.setenv("ANTHROPIC_API_KEY", USUAL)
    config(library, text)
    with pytest.raises(InvalidInput, match="would send its texts to another machine"):
        made(library)
    own_config.write_text("[models]\nallow_remote = true\n")
    generator = made(library) if "generator" in text else made(library, generator="openai:m")
    assert key_of(generator) == ""


def test_a_library_may_choose_the_model_but_not_send_it_to_the_users_own_remote_server(
    library: Path, own_config: Path
) -> None:
    config(library, "generator = 'openai:m'\n")
    own_config.write_text(f"[generation]\nbase_url = '{REMOTE}'\napi_key = '{OWN}'\n")
    with pytest.raises(InvalidInput, match=r"generator = 'https://models\.example/v1'"):
        made(library)
    assert key_of(made(library, generator="openai:m")) == OWN
    own_config.write_text(f"[generation]\nbase_url = 'http://127.0.0.1:8000'\napi_key = '{OWN}'\n")
    assert key_of(made(library)) == OWN


def test_a_server_here_that_only_the_library_names_gets_no_key(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_GENERATION__API_KEY", OWN)
    keep(monkeypatch, openai=KEPT)
    config(library, "generator = 'openai:m'\n[generation]\nbase_url = 'http://127.0.0.1:8000'\n")
    assert key_of(made(library)) == ""
    assert key_of(made(library, **{"generation.base_url": "http://127.0.0.1:8000"})) == OWN


def test_a_librarys_config_holds_no_key(library: Path) -> None:
    config(library, "[generation]\napi_key = 'sk-shared'\n")
    with pytest.raises(InvalidInput, match=r"generation\.api_key may not be set in") as caught:
        Library.open(library)
    assert "CARREL_GENERATION__API_KEY" in caught.value.hint
    with pytest.raises(InvalidInput, match="may not be set in"):
        settings.assign(library / ".carrel" / "config.toml", "generation.api_key", "sk-shared")
    with pytest.raises(InvalidInput, match="would send its texts to another machine"):
        settings.assign(library / "new.toml", "generator", "anthropic:claude")


def test_no_listing_and_no_error_shows_a_key(library: Path, own_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_GENERATION__API_KEY", OWN)
    with Library.open(library, embedder=HashedWords()) as opened:
        shown = settings.listing(opened.settings, opened.origins)
        assert OWN not in json.dumps([[one.key, one.value] for one in shown]) + repr(opened.settings)
    monkeypatch.delenv("CARREL_GENERATION__API_KEY")
    own_config.write_text("[generation]\napi_key = 90210\n")
    with pytest.raises(InvalidInput, match=r"setting generation\.api_key = … from") as caught:
        Library.open(library)
    assert "90210" not in f"{caught.value.message}{caught.value.hint}"


def test_the_doctor_says_whether_the_generator_would_answer(
    library: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(generator: str, url: str = "") -> tuple[str, str]:
        checks = doctor.examine(str(library), {"generator": generator, "generation.base_url": url})
        (found,) = [check for check in checks if check.name == "generator"]
        return found.status, found.detail

    monkeypatch.setenv("CARREL_EMBEDDER", "granite")
    assert look("extractive") == ("ok", "extractive")
    server = serve(lambda *_: plain({"data": [{"id": "m"}], "models": [{"name": "m"}]}))
    for name in APIS:
        if name != "anthropic":
            status, detail = look(f"{name}:m", server.url)
            assert (status, "has it" in detail) == ("ok", True)
            assert look(f"{name}:other", server.url)[0] == "problem"
    assert look("ollama:m", "http://127.0.0.1:9") == (
        "problem",
        "Ollama is not running. Start it with 'ollama serve' or install from ollama.ai",
    )
    assert look("anthropic:claude") == ("problem", "the generator 'anthropic:claude' has no key")
    assert look("gguf:nowhere.gguf")[0] == "problem"
    assert {json.dumps(question) for _, question in server.asked} == {"null"}
