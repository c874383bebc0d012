"""Fetch what the page is made with from the npm registry, pinned: `python tools/vendor_web.py`.

The files lie in src/carrel/web/{vendor,fonts} with their licences, so that neither users nor builds need npm.
"""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
import tempfile
from pathlib import Path

WEB = Path(__file__).parent.parent / "src" / "carrel" / "web"
# Package, its version, and its files: where they lie there and here.
PACKAGES = (
    (
        "preact",
        "11.2.0",
        {
            "dist/preact.mjs": "vendor/preact.js",
            "hooks/dist/hooks.mjs": "vendor/hooks.js",
            "LICENSE": "vendor/preact.LICENSE",
        },
    ),
    ("htm", "3.1.1", {"dist/htm.mjs": "vendor/htm.js", "LICENSE": "vendor/htm.LICENSE"}),
    (
        "@fontsource-variable/source-serif-4",
        "5.3.1",
        {
            "files/source-serif-4-latin-wght-normal.woff2": "fonts/source-serif-4.woff2",
            "files/source-serif-4-latin-wght-italic.woff2": "fonts/source-serif-4-italic.woff2",
            "LICENSE": "fonts/source-serif-4.LICENSE",
        },
    ),
    (
        "@fontsource-variable/inter",
        "5.3.0",
        {"files/inter-latin-wght-normal.woff2": "fonts/inter.woff2", "LICENSE": "fonts/inter.LICENSE"},
    ),
)


def main() -> None:
    sums = []
    for package, version, files in PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            archive = _packed(f"{package}@{version}", Path(folder))
            for name, target in files.items():
                content = _adapted(_member(archive, name))
                (WEB / target).write_bytes(content)
                sums.append(f"{hashlib.sha256(content).hexdigest()}  {target}  {package} {version}")
    (WEB / "vendor" / "SHA256SUMS").write_text("\n".join(sums) + "\n", encoding="utf-8")


def _packed(package: str, folder: Path) -> Path:
    command = ["npm", "pack", "--silent", package]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return folder / done.stdout.split()[-1]


def _member(archive: Path, name: str) -> bytes:
    with tarfile.open(archive) as opened:
        member = opened.extractfile(f"package/{name}")
        if member is None:
            raise FileNotFoundError(f"{archive.name} has no {name}")
        return member.read()


def _adapted(content: bytes) -> bytes:
    """Browsers find modules by path; and there are no source maps here to be asked for."""
    lines = content.replace(b'from"preact"', b'from"./preact.js"').splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b"//# sourceMappingURL"))


if __name__ == "__main__":
    main()
