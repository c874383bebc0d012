"""Records of papers for others to see."""

from __future__ import annotations

from dataclasses import replace

from carrel.types import Origin, Reference


def public(reference: Reference) -> Reference:
    """What a bibliography says of a paper; not what its reader does, nor where its files are."""
    return replace(
        reference, abstract="", note="", tags=(), pdf_path="", supplement_paths=(), source=Origin(), supersedes=""
    )
