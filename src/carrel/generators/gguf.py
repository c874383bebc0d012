"""Any language model that lies in a file as GGUF, run here by llama.cpp: `gguf:models/qwen3-4b.gguf`.

llama.cpp ends the whole process when it dislikes certain files, so each is tried once in a process of its own.
"""

from __future__ import annotations

import atexit
import os
import secrets
import threading
import time
from functools import cached_property
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import xllamacpp

from carrel.encoders import place
from carrel.errors import CarrelError, ContextTooLong, ModelDamaged, ModelTooSlow
from carrel.generators.gguf_files import is_known, remember, trained_context, try_out
from carrel.generators.prompting import INSTRUCTIONS_TOKENS, messages
from carrel.generators.speech import Speech, aloud, room
from carrel.servers import printable, whole

if TYPE_CHECKING:
    from collections.abc import Generator

    from carrel.types import Prompt

DEFAULT_PROMPT = 1024
"""Tokens. A processor reads some 50 to 100 of them a second, and the reader waits for it."""
BATCH = 128
"""Tokens that are read before it is looked whether anybody still waits."""
_servers: dict[tuple[str, int, int], Any] = {}
_loading = threading.Lock()
_talks: set[_Talk] = set()


class Gguf:
    """A model in a file, loaded when first asked, once for all who ask for it in this process."""

    def __init__(
        self,
        argument: str,
        *,
        folder: Path | None = None,
        confined: bool = False,
        cache: Path | None = None,
        threads: int | None = None,
        seconds: float = 120.0,
        max_tokens: int = 512,
        temperature: float = 0.0,
        context_tokens: int = 0,
    ) -> None:
        self.path = place(argument, folder or Path(), confined=confined, setting="generator")
        self.name = f"gguf:{self.path.name.removesuffix('.gguf')}"
        self.threads = threads or max(1, (os.cpu_count() or 1) // 2)
        self.seconds = seconds
        self.max_tokens = max_tokens
        self.temperature = temperature
        self._wanted = context_tokens
        self._cache = cache

    @cached_property
    def context_tokens(self) -> int:
        return room(self._context, self.max_tokens, INSTRUCTIONS_TOKENS)

    def stream(self, prompt: Prompt) -> Speech:
        talk = _Talk(self, prompt)
        return Speech(talk.pieces(), talk.stop)

    def check(self) -> str:
        """Whether the file can be used, found out by using it."""
        self._try()
        return f"{self.name}, {trained_context(self.path):,} tokens of context, tried and well"

    def server(self) -> Any:  # noqa: ANN401
        """The model at work."""
        with _loading:
            key = (str(self.path), self._context, self.threads)
            if key not in _servers:
                self._try()
                _servers[key] = loaded(*key)
            return _servers[key]

    @cached_property
    def _context(self) -> int:
        """As much as is wanted: room for more would take memory that is never used."""
        wanted = self._wanted or DEFAULT_PROMPT + self.max_tokens + INSTRUCTIONS_TOKENS
        return min(wanted, trained_context(self.path))

    def _try(self) -> None:
        trained_context(self.path)
        memory = self._cache / f"{quote(self.name, safe='')}.json" if self._cache else None
        if not is_known(self.path, memory):
            try_out(self.path, self.threads)
            remember(self.path, memory)


class _Talk:
    """One answer: llama.cpp speaks in a thread of its own, and is told to stop when it next asks."""

    def __init__(self, generator: Gguf, prompt: Prompt) -> None:
        self._generator = generator
        self._prompt = prompt
        self._heard: SimpleQueue[str | Exception | None] = SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._speak, daemon=True, name="carrel-gguf")

    def stop(self) -> None:
        self._stopped.set()
        self._heard.put(None)

    def end(self) -> None:
        """So that no thread is left in llama.cpp when Python itself is taken down."""
        self.stop()
        self._thread.join(timeout=10)

    def pieces(self) -> Generator[str]:
        self._server = self._generator.server()
        if self._stopped.is_set():
            return
        _talks.add(self)
        self._thread.start()
        try:
            yield from filter(None, aloud(self._next()))
        finally:
            self._stopped.set()

    def _next(self) -> Generator[str]:
        deadline = time.monotonic() + self._generator.seconds
        while True:
            try:
                piece = self._heard.get(timeout=max(deadline - time.monotonic(), 0.001))
            except Empty:
                raise ModelTooSlow(
                    f"the generator {self._generator.name!r} was still at work after {self._generator.seconds:g} s",
                    hint="The setting generation.seconds can be raised, generation.context_tokens lowered.",
                ) from None
            if isinstance(piece, Exception):
                raise piece
            if piece is None:
                return
            yield piece

    def _speak(self) -> None:
        try:
            self._server.handle_chat_completions(self._request(), self._listen)
            self._heard.put(None)
        except RuntimeError as error:
            self._heard.put(CarrelError(f"llama.cpp failed: {printable(str(error))}"))
        finally:
            _talks.discard(self)

    def _request(self) -> dict[str, Any]:
        return {
            "messages": [{**one, "content": whole(one["content"])} for one in messages(self._prompt)],
            "max_tokens": self._generator.max_tokens,
            "temperature": self._generator.temperature,
            # Answers are short, and nobody waits for thoughts.
            "chat_template_kwargs": {"enable_thinking": False},
            "stream": True,
            "return_progress": True,
        }

    def _listen(self, event: dict[str, Any]) -> bool:
        """Hear what is new; says whether that is enough."""
        if "error" in event:
            self._heard.put(_failure(event["error"], self._generator.name))
            return True
        for choice in event.get("choices") or ():
            self._heard.put((choice.get("delta") or {}).get("content") or "")
        return self._stopped.is_set()


def loaded(path: str, context: int, threads: int) -> Any:  # noqa: ANN401
    """A model that is ready to speak."""
    options = xllamacpp.CommonParams()
    options.model.path = path
    options.n_ctx, options.n_parallel, options.n_batch, options.n_ubatch = context, 1, BATCH, BATCH
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = threads
    # No log, no memory of old prompts, nothing downloaded. It opens a port whether one wants it or not: nobody gets in.
    options.verbosity, options.cache_ram_mib, options.offline, options.warmup = -1, 0, True, False
    options.api_keys, options.ui, options.endpoint_slots = [secrets.token_hex(16)], False, False
    try:
        return xllamacpp.Server(options)
    except RuntimeError as error:
        raise ModelDamaged(f"llama.cpp cannot load {path!r}", hint="Is the file whole? Fetch it anew.") from error


def _failure(error: object, name: str) -> CarrelError:
    told = error if isinstance(error, dict) else {}
    words = printable(str(told.get("message") or error))
    if told.get("type") == "exceed_context_size_error":
        return ContextTooLong(f"{name!r}: {words}", hint="Ask for fewer passages, or raise generation.context_tokens.")
    return CarrelError(f"{name!r} failed: {words}")


@atexit.register
def _end_all() -> None:
    for talk in tuple(_talks):
        talk.end()
    _servers.clear()
