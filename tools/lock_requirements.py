"""Pin and hash what Carrel and its developers install: `make lock`.

Reads pyproject.toml and writes requirements/*.txt. The files name versions and hashes and no index: each machine
installs from the one it is configured for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGETS = {
    "default.txt": ("pyproject.toml",),
    "build.txt": ("--group", "build"),
    "dev.txt": ("pyproject.toml", "--group", "dev"),
    "weights.txt": ("--group", "weights", "--no-deps"),
}
OPTIONS = (
    "--universal",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--no-annotate",
    "--custom-compile-command=make lock",
    "--quiet",
)


def main() -> None:
    for name, sources in TARGETS.items():
        target = ROOT / "requirements" / name
        # The file that is there is read first, so that only what must change does.
        arguments = ["uv", "pip", "compile", *OPTIONS, *sys.argv[1:], *sources, "--output-file", str(target)]
        subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, check=True)
        print(f"requirements/{name}: {target.read_text(encoding='utf-8').count('==')} pinned")


if __name__ == "__main__":
    main()
