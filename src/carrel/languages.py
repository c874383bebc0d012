"""Which language a text is in, as far as searching it needs to know."""

from __future__ import annotations

_ENOUGH = 400
_SAMPLES = 3
_TOO_SHORT = 40


def detect(text: str) -> str:
    """A two-letter code; English when there is too little to tell. A paper may begin with nothing but names."""
    starts = range(0, len(text), max(_ENOUGH, len(text) // _SAMPLES))
    sample = " ".join(text[start : start + _ENOUGH] for start in list(starts)[:_SAMPLES]).strip()
    if len(sample) < _TOO_SHORT and sample.isascii():
        return "en"
    return _classify(sample) if sample else "en"


def _classify(text: str) -> str:
    from py3langid import classify

    return str(classify(text)[0])
