"""`carrel mcp install`: what agents need in their configurations, and what else is there stays there."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from carrel.cli import mcp as cli_mcp
from carrel.mcp.clients import CLIENTS, Command
from tests.cli.conftest import Carrel, carrel  # noqa: F401

COMMAND = Command("/usr/bin/carrel", ("-C", "/papers", "mcp"))
PLAIN = {"command": "/usr/bin/carrel", "args": ["-C", "/papers", "mcp"]}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("client", "path", "section", "entry"),
    [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers", PLAIN),
        ("claude-code", ".mcp.json", "mcpServers", {"type": "stdio", **PLAIN}),
        ("cursor", ".cursor/mcp.json", "mcpServers", PLAIN),
        ("vscode", ".config/Code/User/mcp.json", "servers", {"type": "stdio", **PLAIN}),
        ("codex", ".codex/config.toml", "mcp_servers", PLAIN),
        ("gemini", ".gemini/settings.json", "mcpServers", PLAIN),
        ("zed", ".config/zed/settings.json", "context_servers", PLAIN),
        ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers", PLAIN),
        ("lmstudio", ".lmstudio/mcp.json", "mcpServers", PLAIN),
        (
            "opencode",
            ".config/opencode/opencode.json",
            "mcp",
            {"type": "local", "command": ["/usr/bin/carrel", "-C", "/papers", "mcp"], "enabled": True},
        ),
    ],
)
def test_each_agent_gets_the_entry_it_understands_where_it_looks_for_it(
    home: Path, client: str, path: str, section: str, entry: object
) -> None:
    assert CLIENTS[client].write("carrel", COMMAND) is None
    text = (home / path).read_text(encoding="utf-8")
    assert (tomllib.loads(text) if path.endswith(".toml") else json.loads(text)) == {section: {"carrel": entry}}
    assert CLIENTS[client].snippet("carrel", COMMAND) == text


def test_every_agent_can_be_named_on_the_command_line() -> None:
    assert tuple(CLIENTS) == cli_mcp._CLIENTS


def test_what_else_is_configured_stays_and_is_kept_as_it_was(home: Path) -> None:
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    before = '\ufeff{"theme": "dark", "mcpServers": {"other": {"command": "x"}}, "ümlaut": [1, 2.50]}'
    path.write_text(before, encoding="utf-8")
    path.chmod(0o600)
    kept = CLIENTS["gemini"].write("carrel", COMMAND)
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "theme": "dark",
        "mcpServers": {"other": {"command": "x"}, "carrel": PLAIN},
        "ümlaut": [1, 2.5],
    }
    assert kept is not None
    assert kept.read_text(encoding="utf-8") == before
    assert path.stat().st_mode & 0o777 == 0o600


def test_comments_and_order_of_a_toml_file_stay(home: Path) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('# mine\nmodel = "o9"  # the best\n\n[mcp_servers.other]\ncommand = "x"\n', encoding="utf-8")
    CLIENTS["codex"].write("carrel", COMMAND)
    text = path.read_text(encoding="utf-8")
    assert text.startswith('# mine\nmodel = "o9"  # the best\n\n[mcp_servers.other]\ncommand = "x"\n')
    assert tomllib.loads(text)["mcp_servers"] == {"other": {"command": "x"}, "carrel": PLAIN}


@pytest.mark.parametrize("content", ['{"a": 1} // mine', '{"mcpServers": [', "[]", '{"mcpServers": []}', "\x00\xff"])
def test_a_file_that_cannot_be_read_is_left_alone(home: Path, content: str) -> None:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(content, encoding="latin-1")
    with pytest.raises(Exception, match="it stays as it is"):
        CLIENTS["cursor"].write("carrel", COMMAND)
    assert path.read_text(encoding="latin-1") == content
    assert list(path.parent.iterdir()) == [path]


def test_another_server_of_that_name_is_replaced_only_by_force_and_the_same_changes_nothing(home: Path) -> None:
    client = CLIENTS["cursor"]
    client.write("carrel", Command("other", ()))
    with pytest.raises(Exception, match="Cursor has another server 'carrel'"):
        client.write("carrel", COMMAND)
    assert client.write("carrel", COMMAND, force=True) is not None
    before = client.path.stat().st_mtime_ns
    assert client.write("carrel", COMMAND) is None
    assert client.path.stat().st_mtime_ns == before


def test_a_link_stays_a_link(home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "mcp.json").write_text("{}", encoding="utf-8")
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to(home / "dotfiles" / "mcp.json")
    CLIENTS["cursor"].write("carrel", COMMAND)
    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert "carrel" in (home / "dotfiles" / "mcp.json").read_text(encoding="utf-8")


def test_the_command_prints_writes_and_lists(carrel: Carrel, home: Path) -> None:  # noqa: F811
    assert carrel("init", "papers").code == 0
    printed = carrel("-C", "papers", "mcp", "install", "cursor")
    entry = json.loads(printed.out)["mcpServers"]["carrel"]
    assert entry["args"][-3:] == ["-C", str(home / "papers"), "mcp"]
    assert not (home / ".cursor").exists()
    written = carrel("-C", "papers", "mcp", "--allow-add", "install", "cursor", "--write", "--name", "rocks", "--json")
    assert written.json["written"] is True
    assert json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["rocks"]["args"][-1] == "--allow-add"
    listed = carrel("-C", "papers", "mcp", "install", "--json").json["clients"]
    assert [one["client"] for one in listed] == list(CLIENTS)
    assert carrel("-C", "papers", "mcp", "install").out.count("(not here)") == 8
    assert carrel("-C", "papers", "mcp", "install", "--write").code == 1
    chosen = carrel(
        "-C", "papers", "--set", "search.limit=3", "--log-level", "info", "mcp", "install", "codex", "--json"
    )
    assert chosen.json["entry"]["args"][-5:] == ["--set", "search.limit=3", "--log-level", "info", "mcp"]
    shutil.rmtree(home / "papers")
    assert carrel("-C", "papers", "mcp", "install", "cursor").code == 2


def test_options_that_do_not_go_together_are_told(carrel: Carrel) -> None:  # noqa: F811
    assert carrel("init").code == 0
    assert "need --http" in carrel("mcp", "--port", "0").err
    assert "mcp.allow_add" in carrel("mcp", "--http", "--allow-add").err
