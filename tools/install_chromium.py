"""Have a Chromium for the tests of the page: Debian's without a screen, the quickest, where it can be installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

COMMANDS = (
    ("apt-get", "update"),
    ("apt-get", "install", "--yes", "--no-install-recommends", "chromium-headless-shell"),
)
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def main() -> None:
    if any(map(shutil.which, NAMES)):
        return
    reason = _obstacle() or _failure()
    if reason:
        print(f"No Chromium: {reason}. The tests of the page will be skipped.", file=sys.stderr)


def _obstacle() -> str:
    if not shutil.which("apt-get"):
        return "this is not a Debian, so it has to be installed by hand"
    return "installing it needs root" if os.geteuid() != 0 else ""


def _failure() -> str:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in COMMANDS:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
            return f"'{' '.join(command)}' failed: {last[0]}"
    return ""


if __name__ == "__main__":
    main()
