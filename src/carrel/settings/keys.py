"""Keys for the servers of model makers, where their users usually have them."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

SERVICE = "carrel"
"""What the key's entry in the system's keyring is called; its user is `openai` or `anthropic`."""
_USUAL = {"openai": ("OPENAI_API_KEY", "openai.com"), "anthropic": ("ANTHROPIC_API_KEY", "anthropic.com")}
"""The variable that holds the key, and who may see what is in it."""


def key_for(generator: str, server: str, given: str) -> str:
    """The key that was given; else the usual variable's, for its maker's own server alone; else the keyring's."""
    kind = generator.partition(":")[0]
    if given or kind not in _USUAL:
        return given
    variable, maker = _USUAL[kind]
    host = urlsplit(server).hostname or ""
    usual = os.environ.get(variable, "") if f".{host}".endswith(f".{maker}") else ""
    return usual or _kept(kind)


def _kept(user: str) -> str:
    try:
        import keyring

        return keyring.get_password(SERVICE, user) or ""
    # Whichever keyring a system has, locked, broken or none: then there is no key in it.
    except Exception:
        return ""
