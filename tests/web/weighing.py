"""How much each answer weighs that a page gets, as the page reads it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page


class Weights:
    """Bytes by address, from now on."""

    def __init__(self, page: Page) -> None:
        self._addresses: dict[str, str] = {}
        self.bytes: dict[str, int] = {}
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.responseReceived", self._began)
        session.on("Network.dataReceived", self._came)

    def _began(self, event: dict[str, Any]) -> None:
        self._addresses[event["requestId"]] = event["response"]["url"]

    def _came(self, event: dict[str, Any]) -> None:
        address = self._addresses.get(event["requestId"], "?")
        self.bytes[address] = self.bytes.get(address, 0) + int(event["dataLength"])

    def asked(self, part: str) -> list[str]:
        return [address for address in self.bytes if part in address]

    @property
    def heaviest(self) -> int:
        return max(self.bytes.values())
