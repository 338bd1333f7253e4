"""Task `alignment.uncertainty`: is a model unsure where people, or an observer who knows everything, are unsure?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.alignment.human import SoftLabels
from bench.metrics.alignment.calibration import fitted_temperature, softmax, split_half
from bench.metrics.alignment.uncertainty import SoftAgreement, distributions, soft_agreement
from bench.spec import Artifact, Context, JSONScalar, Measure, Task, TaskOutput, Unit
from bench.tasks.alignment import artifact as files
from bench.tasks.alignment.readout import readings
from bench.tasks.alignment.scores import above, ceiled, known, labels, measure, replicates
from bench.tasks.alignment.seeing import looks_like_probabilities, require_vision
from bench.tasks.alignment.stimuli import amount, noisy_digits

CLASSES = 10
_FIELDS = {
    "rho_ent": "rho_entropy",
    "ce": "cross_entropy",
    "kl": "kl",
    "js": "js",
    "tv": "tv",
    "second_choice": "second_choice",
    "accuracy": "accuracy",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shown:
    images: npt.NDArray[Any]
    train: tuple[npt.NDArray[Any], npt.NDArray[np.int64]]
    space: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Truth:
    p: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int64]
    ceiling: float | None  # of rho_ent
    why: str


class Uncertainty(Task):
    """Artifact: `answers.npz` with `logits` float (trainings, images, 10); `probe`, of the same shape, is optional and
    shown beside it.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Logits of the model's own head where it has one for these classes, and of a probe."""
        model = require_vision(adapter, unit.task)
        shown = self._shown(unit, ctx)
        headlines: list[str] = []

        def answers() -> dict[str, npt.NDArray[Any]]:
            read = readings(
                model, shown.images, space=shown.space, classes=CLASSES, train=shown.train, device=ctx.device
            )
            headlines.append(read.headline)
            others = {} if read.headline == "probe" else {"probe": read.by_readout["probe"]}
            return {"logits": read.logits, **others}

        files.write(ctx.artifact_dir, files.stacked(list(files.over_runs(model, answers))))
        return {"readout": headlines[0], "images": len(shown.images)}

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`images.npz`: images to learn from, with labels, and those to judge."""
        shown = self._shown(unit, ctx)
        files.export_images(folder, train=shown.train[0], train_labels=shown.train[1], test=shown.images)
        n = len(shown.images)
        return {
            "n": n,
            "files": {"images.npz": "train and test (n, C, H, W): uint8, or float32 in [0, 1]; train_labels"},
            "output": {files.FILE: f"logits: float (trainings, {n}, {CLASSES})"},
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Finite logits of the right shape."""
        self._read(artifact, amount(unit, "images"))

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Soft agreement, plain and with one fitted temperature."""
        truth = self._truth(unit, ctx)
        found = self._read(artifact, len(truth.p))
        scores = _agreements(found["logits"], truth)
        metrics: dict[str, Measure | float] = {**_measures(scores), **_calibrated(found["logits"], truth)}
        headline = metrics["rho_ent"]
        assert isinstance(headline, Measure)
        metrics["ceiling"], metrics["ceiled"] = ceiled(headline, truth.ceiling, truth.why)
        facets = {}
        if "probe" in found:
            facets["readout=probe"] = _measures(_agreements(found["probe"], truth))
        flags = ["above-ceiling"] if above(headline, truth.ceiling) else []
        if any(looks_like_probabilities(logits) for logits in found["logits"]):
            flags.append("looks-like-probabilities")
        return TaskOutput(
            metrics=metrics,
            facets=facets,
            flags=tuple(flags),
            exhibits=replicates([s.rho_entropy for s in scores], ctx.exhibit_dir),
            notes={
                "readout": str(artifact.notes.get("readout", "as handed in")),
                **labels(ctx.load_dataset(unit.dataset)),
            },
        )

    def _shown(self, unit: Unit, ctx: Context) -> _Shown:
        data, n = ctx.load_dataset(unit.dataset), amount(unit, "images")
        train = int(unit.setting("train"))
        if isinstance(data, SoftLabels):
            return _Shown(images=data.images(n), train=data.training(train), space="cifar10")
        return _Shown(
            images=noisy_digits(data, ctx, n=n, train=False)[0],
            train=(noisy_digits(data, ctx, n=train, train=True)[0], np.arange(train) % CLASSES),
            space="stw10",
        )

    def _truth(self, unit: Unit, ctx: Context) -> _Truth:
        data, n = ctx.load_dataset(unit.dataset), amount(unit, "images")
        if isinstance(data, SoftLabels):
            counts = data.counts[:n]
            half = split_half(counts=counts)
            why = "the halves of the people do not agree at all"
            return _Truth(p=distributions(counts), labels=data.labels[:n], ceiling=half.corrected, why=why)
        posterior = noisy_digits(data, ctx, n=n, train=False)[1]
        return _Truth(p=posterior, labels=np.arange(n) % CLASSES, ceiling=1.0, why="")

    def _read(self, artifact: Artifact, n: int) -> dict[str, npt.NDArray[Any]]:
        return files.read(artifact, {"logits": (n, CLASSES)}, {"probe": (n, CLASSES)})


def _agreements(logits: npt.NDArray[Any], truth: _Truth) -> list[SoftAgreement]:
    return [soft_agreement(p=truth.p, q=softmax(one), labels=truth.labels) for one in logits]


def _measures(scores: list[SoftAgreement]) -> dict[str, Measure | float]:
    found: dict[str, Measure | float] = {
        name: measure([getattr(s, field) for s in scores]) for name, field in _FIELDS.items()
    }
    why = next((s.confusion_rho.reason for s in scores if s.confusion_rho.value is None), "")
    found["conf_rho"] = known([s.confusion_rho.value for s in scores], why=why)
    found["ece"] = known([s.ece for s in scores])
    return found


def _calibrated(logits: npt.NDArray[Any], truth: _Truth) -> dict[str, Measure | float]:
    """One temperature, fitted on images of even number, evaluated on the others."""
    fitted = [fitted_temperature(p=truth.p[::2], logits=one[::2]) for one in logits]
    rest = [
        soft_agreement(p=truth.p[1::2], q=softmax(one[1::2], t), labels=truth.labels[1::2])
        for one, t in zip(logits, fitted, strict=True)
    ]
    return {
        "temperature": known(fitted),
        "ce_cal": measure([s.cross_entropy for s in rest]),
        "js_cal": measure([s.js for s in rest]),
    }
