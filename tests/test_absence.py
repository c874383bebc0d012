"""A server that was waited for in vain is not waited for by everybody, one after the other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from carrel.databases import absence
from carrel.databases.absence import WHETHER_BACK, Absence
from carrel.errors import StoreUnavailable

PATIENCE = 10


class Server:
    """Is looked for at a time, and answers or not after a while."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.patience: list[int] = []
        self._absence = Absence()
        monkeypatch.setattr(absence, "time", SimpleNamespace(monotonic=lambda: self.now))

    def looked_for(self, *, answers_after: float, is_there: bool = False) -> str:
        try:
            with self._absence.looked_for(PATIENCE) as patience:
                self.patience.append(patience)
                self.now += min(answers_after, patience)
                if not is_there or answers_after > patience:
                    raise StoreUnavailable("nobody answers")
        except StoreUnavailable as error:
            return error.message
        return "there"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    return Server(monkeypatch)


def test_who_asks_next_is_told_at_once_and_who_asks_later_waits_less(server: Server) -> None:
    silent = float("inf")
    assert server.looked_for(answers_after=silent) == "nobody answers"
    assert server.looked_for(answers_after=silent) == "nobody answers"
    assert server.patience == [PATIENCE]
    server.now += 5
    assert server.looked_for(answers_after=silent) == "nobody answers"
    assert server.patience == [PATIENCE, WHETHER_BACK]


def test_one_that_refuses_at_once_is_asked_every_time(server: Server) -> None:
    for _ in range(3):
        assert server.looked_for(answers_after=0.0) == "nobody answers"
    assert server.patience == [PATIENCE] * 3


def test_one_that_is_back_is_waited_for_as_before(server: Server) -> None:
    assert server.looked_for(answers_after=PATIENCE) == "nobody answers"
    server.now += 5
    assert server.looked_for(answers_after=1, is_there=True) == "there"
    assert server.looked_for(answers_after=5, is_there=True) == "there"
    assert server.patience == [PATIENCE, WHETHER_BACK, PATIENCE]


def test_one_that_needs_its_time_is_found_again(server: Server) -> None:
    assert server.looked_for(answers_after=float("inf")) == "nobody answers"
    for _ in range(9):
        server.now += 5
        if server.looked_for(answers_after=PATIENCE - 1, is_there=True) == "there":
            break
    assert server.patience[:2] == [PATIENCE, WHETHER_BACK]
    assert server.patience[-1] == PATIENCE
    assert server.now < 100 + 90
