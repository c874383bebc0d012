"""What was found out about probabilities, as people and machines read it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrel.evaluate import plots, reports
from carrel.evaluate.calibrating import AS_SAID, auroc, bins, brier, calibration_error, coverage, said

if TYPE_CHECKING:
    from carrel.evaluate.calibrating import Calibration, Coverage

THRESHOLDS = (0.4, 0.6, 0.8)
_DIGITS = 6


@dataclass(frozen=True)
class CalibrationReport:
    collection: str
    calibration: Calibration
    present: float
    """The threshold that is set."""
    seed: int = 0

    @property
    def brier(self) -> float:
        return round(brier(*said(self.calibration.trials)), _DIGITS)

    @property
    def calibration_error(self) -> float:
        return round(calibration_error(*said(self.calibration.trials)), _DIGITS)

    @property
    def auroc(self) -> float:
        return round(auroc(self.calibration.trials), _DIGITS)

    @property
    def bins(self) -> list[plots.Bin]:
        return bins(*said(self.calibration.trials))

    @property
    def coverages(self) -> list[Coverage]:
        """At thresholds that say something to everybody, the present one and the fitted one."""
        wanted = sorted({*THRESHOLDS, self.present, self.calibration.threshold})
        return [coverage(self.calibration.trials, threshold) for threshold in wanted]

    @property
    def figures(self) -> str:
        """All in one line."""
        found = self.calibration
        return (
            f"{self.collection} ({len(found.trials)} questions, Brier {self.brier:.3f}, "
            f"ECE {self.calibration_error:.3f}, AUROC {self.auroc:.3f})"
        )

    @property
    def verdict(self) -> str:
        found = self.calibration
        if found.doubt:
            return f"No threshold can be recommended: {found.doubt}."
        if found.map == AS_SAID:
            return (
                f"The probabilities keep their word as far as {len(found.trials)} questions can tell: "
                f"an answer that is {found.certainty:g} sure needs a threshold of {found.threshold:g}."
            )
        return (
            f"An answer that is {found.certainty:g} sure needs answer.threshold = {found.threshold:g} "
            f"[{found.interval.low:g} {found.interval.high:g}] here: sigmoid({found.map.slope:.3f} · logit(p) "
            f"{found.map.shift:+.3f}) lowers the Brier score of questions that it was not fitted on by "
            f"{found.gain.mean:.4f} (p = {found.gain.p:.4f})."
        )

    def as_dict(self, *, with_scores: bool = False) -> dict[str, Any]:
        found = self.calibration
        told = {
            "collection": self.collection,
            "queries": len(found.trials),
            "brier": self.brier,
            "ece": self.calibration_error,
            "auroc": self.auroc,
            "reliability": [asdict(one) for one in self.bins],
            "risk_coverage": [one._asdict() for one in self.coverages],
            "map": asdict(found.map),
            "gain": found.gain._asdict(),
            "certainty": found.certainty,
            "threshold": found.threshold,
            "threshold_interval": list(found.interval),
            "present_threshold": self.present,
            "doubt": found.doubt,
            "verdict": self.verdict,
            "seed": self.seed,
        }
        return {**told, "trials": [trial._asdict() for trial in found.trials]} if with_scores else told

    def as_markdown(self) -> str:
        found = self.calibration
        risks = [["threshold", "answered, having the answer", "answered, without it", "wrong among answered"]]
        risks += [[self._named(one), *(f"{share:.3f}" for share in one[1:])] for one in self.coverages]
        reliable = [["said", "came true", "times"]]
        reliable += [[f"{one.predicted:.3f}", f"{one.observed:.3f}", str(one.count)] for one in self.bins]
        paragraphs = [
            f"# {self.collection}: calibration",
            f"{len(found.trials):,} questions, asked with and without the papers that answer them",
            f"Brier score {self.brier:.4f}, expected calibration error {self.calibration_error:.4f}, "
            f"AUROC {self.auroc:.4f}",
            reports.aligned(risks),
            reports.aligned(reliable),
            self.verdict,
            f"Seed {self.seed}",
        ]
        return "\n\n".join(paragraphs) + "\n"

    def as_svg(self) -> str:
        return plots.reliability(self.bins)

    def _named(self, one: Coverage) -> str:
        notes = {"present": self.present, "fitted": self.calibration.threshold}
        told = ", ".join(note for note, threshold in notes.items() if threshold == one.threshold)
        return f"{one.threshold:g} ({told})" if told else f"{one.threshold:g}"
