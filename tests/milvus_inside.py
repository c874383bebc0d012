"""Runs a Milvus server in a network namespace of its own, as it listens on every interface; what comes to a loopback
port outside is relayed to it.

Arguments: the descriptor of a socket that listens outside, the folder of the data, the folder of the program, and any
further settings as `name=value`.
Everything ends with the standard input.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

from milvus import MilvusServer, MilvusServerConfig

_PORT = 19530
_SET_FLAGS, _UP = 0x8914, 0x1
_SET_DEATH_SIGNAL = 1
_PIECE = 1 << 18
_QUICK = {
    "proxy.timeTickInterval": 20,
    "queryCoord.checkInterval": 50,
    "queryCoord.distPullInterval": 50,
    # Seconds: a server that was killed is waited for as long, before what it held is given to the next.
    "common.session.ttl": 3,
}
"""Milliseconds: what a hundred tests would else wait for a timer of the server."""
_QUICK_TOO = {
    "QUERYCOORD_CHECKCHANNELINTERVAL": "50",
    "QUERYCOORD_CHECKSEGMENTINTERVAL": "50",
    # Seconds: an index that is made is used no sooner.
    "QUERYCOORD_UPDATENEXTTARGETINTERVAL": "1",
}
"""Those that are not in the file of its settings."""


def main(listening: socket.socket, folder: Path, programs: Path, *settings: str) -> None:
    _raise_loopback()
    server = _start(folder, programs, dict(setting.split("=", 1) for setting in settings))
    Thread(target=_relay, args=(listening,), daemon=True).start()
    Thread(target=_end_with, args=(server,), daemon=True).start()
    sys.stdin.buffer.read()
    server.kill()
    server.wait()


def _raise_loopback() -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))


def _start(folder: Path, programs: Path, settings: dict[str, str]) -> subprocess.Popen[bytes]:
    made = MilvusServer(MilvusServerConfig(), wait_for_started=False)
    made.set_base_dir(str(folder))
    made.config.set("proxy_port", _PORT)
    made.config.extra_configs.update({**_QUICK, **settings})
    made.config.resolve()
    environment = {**os.environ, **_QUICK_TOO, "DEPLOY_MODE": "STANDALONE", "LD_LIBRARY_PATH": str(programs)}
    return subprocess.Popen(
        [str(programs / "milvus"), "run", "standalone"],
        cwd=folder,
        env={**environment, "METRICS_PORT": "9091", "MILVUS_RUN_DIR": str(folder / "run")},
        preexec_fn=_die_with_parent,  # noqa: PLW1509
    )


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def _end_with(server: subprocess.Popen[bytes]) -> None:
    os._exit(server.wait() or 0)


def _relay(listening: socket.socket) -> None:
    while True:
        outside, _ = listening.accept()
        try:
            inside = socket.create_connection(("127.0.0.1", _PORT))
        except OSError:
            outside.close()
            continue
        for source, target in ((outside, inside), (inside, outside)):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Thread(target=_pass_on, args=(source, target), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(_PIECE):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
