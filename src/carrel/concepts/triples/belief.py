"""How likely a candidate is stated indeed, by what is found of it: a logistic model of a hundred weights.

`python -m benchmarks.fit_triples` fits them on abstracts in which people marked relations.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

WEIGHTS = Path(__file__).with_name("weights.json")
_LEARNED = json.loads(WEIGHTS.read_text(encoding="utf-8"))
_WEIGHT: dict[str, float] = _LEARNED["weights"]
_BIAS: float = _LEARNED["bias"]
FLOOR: float = _LEARNED["floor"]
"""What is less likely is not stated."""


def chance(signs: Iterable[str]) -> float:
    """From 0 to 1; what was never met in fitting counts nothing."""
    return 1 / (1 + math.exp(-_BIAS - sum(_WEIGHT.get(sign, 0.0) for sign in signs)))
