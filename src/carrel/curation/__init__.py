"""The curated graph beside refs.jsonl, as bip keeps it: edges.jsonl, concepts.jsonl and projects.jsonl.

An edge goes from a source to a target and has a type. A bare id is a paper's; the others begin with `concept:`,
`project:` or `repo:`. There are edges between two papers, a paper and a concept, a concept and a project, and, which
bip does not have, two concepts.
"""

from __future__ import annotations

from carrel.curation.checks import check
from carrel.curation.notebook import Curated, read
from carrel.curation.sheets import lines
from carrel.curation.taking_in import is_current, is_empty, take_in

__all__ = ["Curated", "check", "is_current", "is_empty", "lines", "read", "take_in"]
