"""Files in the format GGUF: whether one is such a file, whether llama.cpp survives it, and that it did.

{cache}/{name}.json     the size and date of a file that was tried and is well
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from carrel.errors import CarrelError, ModelDamaged, ModelNotInstalled, ModelTooSlow, StoreUnavailable
from carrel.files import write_atomically, writing
from carrel.generators.speech import DEFAULT_CONTEXT
from carrel.servers import printable
from carrel.settings import environment_without_secrets

if TYPE_CHECKING:
    from pathlib import Path

TRIAL_SECONDS = 120.0
_HEADER = 1_000_000
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of each type of number in the header of a GGUF file."""
_STRING = 8
_HINT = "Name a file such as gguf:models/qwen3-4b-q4_k_m.gguf."
_TRIAL = """
import sys
path, threads, sys.path[:] = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
from carrel.generators import gguf
try:
    model = gguf.loaded(path, 256, threads)
    model.handle_chat_completions({"messages": [{"role": "user", "content": "a"}], "max_tokens": 1})
except Exception:
    sys.exit("it cannot be loaded")
"""


def trained_context(path: Path) -> int:
    """How many tokens the model was made for, as the header of its file says; checks that it is such a file."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError as error:
        raise ModelNotInstalled(f"there is no model file {str(path)!r}: {error.strerror}", hint=_HINT) from error
    if not header.startswith(b"GGUF") or len(header) < 24:
        raise ModelDamaged(f"{str(path)!r} is no GGUF file", hint=_HINT)
    return _context_length(header) or DEFAULT_CONTEXT


def _context_length(header: bytes) -> int:
    """The number behind `{architecture}.context_length`, which stands before the long lists; 0 where it does not."""
    place, (count,) = 24, struct.unpack_from("<Q", header, 16)
    try:
        for _ in range(count):
            (length,) = struct.unpack_from("<Q", header, place)
            key, place = header[place + 8 : place + 8 + length], place + 8 + length
            (kind,) = struct.unpack_from("<I", header, place)
            place += 4
            if key.endswith(b".context_length") and kind in {4, 5}:
                return max(0, int.from_bytes(header[place : place + 4], "little", signed=True))
            place += 8 + struct.unpack_from("<Q", header, place)[0] if kind == _STRING else _SIZES[kind]
    except (struct.error, KeyError, OverflowError):
        pass
    return 0


def try_out(path: Path, threads: int) -> None:
    """Let a process of its own load the file and say a word; raises `ModelDamaged` if it does not survive that."""
    try:
        tried = subprocess.run(  # noqa: S603
            [sys.executable, "-P", "-B", "-c", _TRIAL, str(path), str(threads), *sys.path],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            # Without the second, it would wait for a debugger to tell its story.
            env=environment_without_secrets() | {"GGML_NO_BACKTRACE": "1"},
            timeout=TRIAL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelTooSlow(
            f"llama.cpp had not loaded {str(path)!r} after {TRIAL_SECONDS:g} s", hint="Use a smaller model."
        ) from error
    except OSError as error:
        raise CarrelError(f"no process can be started to try {str(path)!r} in: {error}") from error
    if tried.returncode:
        lines = [line for line in tried.stderr.decode(errors="replace").splitlines() if line.strip()]
        raise ModelDamaged(
            f"llama.cpp cannot use {str(path)!r}: {printable(lines[-1] if lines else 'it crashed')}",
            hint="Is the file whole, and made for this version of llama.cpp? Fetch it anew.",
        )


def _mark(path: Path) -> dict[str, Any]:
    found = path.stat()
    return {"path": str(path), "size": found.st_size, "time": found.st_mtime_ns, "llama": version("xllamacpp")}


def is_known(path: Path, memory: Path | None) -> bool:
    """Whether this very file was tried before, by this version of llama.cpp."""
    try:
        return memory is not None and json.loads(memory.read_bytes()) == _mark(path)
    except (OSError, ValueError):
        return False


def remember(path: Path, memory: Path | None) -> None:
    """Note that a file was tried and is well."""
    if memory is None:
        return
    try:
        with writing(memory):
            memory.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(memory, json.dumps(_mark(path)).encode(), durable=False)
    except StoreUnavailable:
        # Then the next process tries it, too.
        return
