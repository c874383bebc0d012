"""Questions in a script that the embedder was not trained on: its similarities say next to nothing about them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from carrel.queries import language
from carrel.types import Mode, Step, StepKind

if TYPE_CHECKING:
    from carrel.search.finding import Pipeline


def suited(pipeline: Pipeline, text: str, mode: Mode) -> tuple[Pipeline, tuple[Step, ...]]:
    """Without the vector arm for such a question, and what to say of that; the pipeline as it is for any other."""
    embedder = pipeline.meaning.embedder if pipeline.meaning else None
    known: frozenset[str] | None = getattr(embedder, "languages", None)
    script = language.by_script(text)
    if embedder is None or known is None or not script or script in known or mode != Mode.HYBRID:
        return pipeline, ()
    step = Step(StepKind.LANGUAGE, script, f"by its words: {embedder.name} knows only {', '.join(sorted(known))}")
    arms = {name: arm for name, arm in pipeline.arms.items() if name != "vector"}
    return replace(pipeline, arms=arms, meaning=None), (step,)
