"""Where agents keep their lists of servers, and how an entry looks there. What else is in those files stays."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
import tomlkit
from tomlkit.exceptions import TOMLKitError

from carrel.errors import Exists, InvalidInput
from carrel.files import write_atomically, writing

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    Table = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class Command:
    """How an agent starts the server."""

    program: str
    arguments: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        return {"command": self.program, "args": list(self.arguments)}


@dataclass(frozen=True)
class Client:
    """An agent, and its configuration."""

    name: str
    title: str
    place: Callable[[], Path]
    section: str = "mcpServers"
    entry: Callable[[Command], dict[str, Any]] = field(default=Command.plain)

    @property
    def path(self) -> Path:
        return self.place()

    def snippet(self, name: str, command: Command) -> str:
        """What its configuration needs, as it is written there."""
        return self._spelt({self.section: {name: self.entry(command)}})

    def write(self, name: str, command: Command, *, force: bool = False) -> Path | None:
        """Put the server into its configuration; returns where what was there before is kept, if something was.

        An entry of this name that starts something else is replaced only by `force`.
        """
        path = self.path.resolve()
        before = path.read_bytes() if path.exists() else b""
        config = self._read(path, before)
        servers = config.setdefault(self.section, {})
        if not isinstance(servers, dict):
            raise self._unreadable(path)
        entry = self.entry(command)
        if servers.get(name, entry) != entry and not force:
            raise Exists(
                f"{self.title} has another server {name!r} in {str(path)!r}",
                hint="Choose another name with --name, or replace it with --force.",
            )
        servers[name] = entry
        return _replaced(path, before, self._spelt(config).encode())

    def _read(self, path: Path, content: bytes) -> Table:
        try:
            text = content.decode("utf-8-sig")
            if self._is_toml:
                return tomlkit.parse(text)
            read = json.loads(text) if text.strip() else {}
        except (ValueError, TOMLKitError, RecursionError) as error:
            raise self._unreadable(path) from error
        if not isinstance(read, dict):
            raise self._unreadable(path)
        return read

    def _spelt(self, config: Table) -> str:
        if self._is_toml:
            return tomlkit.dumps(config)
        return f"{json.dumps(config, ensure_ascii=False, indent=2)}\n"

    @property
    def _is_toml(self) -> bool:
        return self.path.suffix == ".toml"

    def _unreadable(self, path: Path) -> InvalidInput:
        return InvalidInput(
            f"{str(path)!r} has comments, or is not what {self.title} writes; it stays as it is",
            hint=f"'carrel mcp install {self.name}' prints what to put into it by hand.",
        )


def _replaced(path: Path, before: bytes, content: bytes) -> Path | None:
    """Write a file whose former content, if it had another, is kept beside it."""
    if before == content:
        return None
    kept = path.with_name(f"{path.name}.before-carrel") if before else None
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    if kept:
        write_atomically(kept, before)
    write_atomically(path, content)
    return kept


def _home(*steps: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*steps)


def _config(folder: str, *steps: str) -> Callable[[], Path]:
    """Where programs of this system keep what is the user's."""
    return lambda: Path(platformdirs.user_config_dir(folder, appauthor=False, roaming=True)).joinpath(*steps)


def _zed() -> Path:
    if sys.platform == "darwin":
        return Path.home() / ".config" / "zed" / "settings.json"
    return _config("Zed" if sys.platform == "win32" else "zed", "settings.json")()


def _typed(command: Command) -> dict[str, Any]:
    return {"type": "stdio", **command.plain()}


def _in_one(command: Command) -> dict[str, Any]:
    return {"type": "local", "command": [command.program, *command.arguments], "enabled": True}


CLIENTS = {
    client.name: client
    for client in (
        Client("claude-desktop", "Claude Desktop", _config("Claude", "claude_desktop_config.json")),
        Client("claude-code", "Claude Code, in this folder", lambda: Path.cwd() / ".mcp.json", entry=_typed),
        Client("cursor", "Cursor", _home(".cursor", "mcp.json")),
        Client("vscode", "VS Code", _config("Code", "User", "mcp.json"), section="servers", entry=_typed),
        Client("codex", "Codex CLI", _home(".codex", "config.toml"), section="mcp_servers"),
        Client("gemini", "Gemini CLI", _home(".gemini", "settings.json")),
        Client("zed", "Zed", _zed, section="context_servers"),
        Client("windsurf", "Windsurf", _home(".codeium", "windsurf", "mcp_config.json")),
        Client("lmstudio", "LM Studio", _home(".lmstudio", "mcp.json")),
        Client("opencode", "opencode", _home(".config", "opencode", "opencode.json"), section="mcp", entry=_in_one),
    )
}
