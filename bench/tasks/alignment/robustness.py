"""Task `alignment.robustness`: does a model fail where people fail, and on the same images?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.alignment import manipulations
from bench.datasets.alignment.human import Experiment
from bench.datasets.alignment.published import ACCURACY_CLASSES
from bench.metrics.alignment.consistency import error_consistency, mean_kappa
from bench.metrics.alignment.result import Score, mean_of, mean_score
from bench.metrics.alignment.robustness import above_chance, accuracy_difference, curve_area
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Measure, Task, TaskOutput, Unit
from bench.tasks.alignment import artifact as files
from bench.tasks.alignment.attacks import RADII, attacked_decisions
from bench.tasks.alignment.deciding import Shown, decide
from bench.tasks.alignment.readout import CATEGORIES16
from bench.tasks.alignment.scores import above, ceiled, known, labels, measure, replicates
from bench.tasks.alignment.stimuli import amount, human_accuracies, manipulated, stw_pictures
from bench.tasks.alignment.tables import accuracy_table

Labels = npt.NDArray[np.int64]
NOT_ASKED = "no people answered these images"


class Robustness(Task):
    """Artifact: `answers.npz` with `decisions` int (trainings, images), -1 without an answer, one condition after
    another; `left_out` int (trainings,), -1 or the number of the person who answers. Optional: `decisions_probe`, and
    `linf` and `l2`, decisions under attack about the first undistorted images.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Decisions about every image of every condition."""
        plan = _plan(unit, ctx)
        arrays, readout = decide(
            adapter, {"decisions": plan.shown}, task=unit.task, seed=unit.seed, device=ctx.device
        )
        if plan.attacked and readout == "native" and adapter.differentiable:
            arrays |= _attacked(adapter, plan, ctx)
        files.write(ctx.artifact_dir, arrays)
        return {"readout": readout, "images": len(plan.shown.labels), "conditions": len(plan.names)}

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`images.npz`: images of all conditions, and images with labels to learn from where there are any."""
        plan = _plan(unit, ctx)
        train = (
            {}
            if plan.shown.train is None
            else dict(zip(("train", "train_labels"), plan.shown.train, strict=True))
        )
        files.export_images(folder, images=plan.shown.images, condition=plan.condition, **train)
        n = len(plan.shown.labels)
        return {
            "n": n,
            "files": {
                "images.npz": "images (n, C, H, W): uint8, or float32 in [0, 1]; condition; train, train_labels"
            },
            "output": {files.FILE: f"decisions: int (trainings, {n}); left_out: int (trainings,), all -1"},
            "classes": list(plan.classes),
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Whole numbers in range, one for each image."""
        self._read(artifact, _plan(unit, ctx))

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Accuracies beside those of people, and error consistency where people answered these images."""
        plan = _plan(unit, ctx)
        found = self._read(artifact, plan)
        headline = [plan.difference(d) for d in found["decisions"]]
        metrics: dict[str, Measure | float] = {
            "human_gap": measure(headline),
            "accuracy": measure([mean_score(d == plan.shown.labels) for d in found["decisions"]]),
            "curve_area": plan.areas(found["decisions"]),
            **{f"pgd_{norm}": _under_attack(found, norm, plan) for norm in RADII},
            **plan.consistency(found["decisions"], found["left_out"]),
        }
        facets: dict[str, Mapping[str, Measure | float]] = plan.by_condition(found["decisions"])
        if "decisions_probe" in found:
            probe = [plan.difference(d) for d in found["decisions_probe"]]
            facets["readout=probe"] = {"human_gap": measure(probe)}
        kappa, ceiling = metrics["kappa"], metrics["ceiling"]
        assert isinstance(kappa, Measure)
        assert isinstance(ceiling, Measure)
        return TaskOutput(
            metrics=metrics,
            facets=facets,
            flags=("above-ceiling",) if above(kappa, ceiling.value) else (),
            exhibits=(*replicates(headline, ctx.exhibit_dir), self._table(plan, found["decisions"], ctx)),
            notes={
                "readout": str(artifact.notes.get("readout", "as handed in")),
                **labels(ctx.load_dataset(unit.dataset)),
            },
        )

    def _table(self, plan: _Plan, decisions: Labels, ctx: Context) -> Exhibit:
        right = (decisions == plan.shown.labels).mean(axis=0)
        accuracy = [float(right[plan.condition == c].mean()) for c in range(len(plan.names))]
        return accuracy_table(plan.names, accuracy, plan.human, ctx.exhibit_dir)

    def _read(self, artifact: Artifact, plan: _Plan) -> dict[str, npt.NDArray[Any]]:
        n, k = len(plan.shown.labels), len(plan.classes)
        optional: dict[str, tuple[int, ...]] = {"decisions_probe": (n,)}
        optional |= {str(norm): (plan.attacked,) for norm in RADII if plan.attacked}
        found = files.read(artifact, {"decisions": (n,), "left_out": ()}, optional)
        return {
            name: array.astype(np.int64) if name == "left_out" else files.decisions(found, name, k)
            for name, array in found.items()
        }


class _Plan:
    """The images of all conditions, and what people did with them."""

    names: tuple[tuple[str, str], ...]  # (manipulation, level)
    condition: Labels  # (n,)
    human: list[float]  # accuracy of people under each condition
    classes: tuple[str, ...]
    shown: Shown
    attacked: int = 0  # undistorted images that are attacked

    def difference(self, decisions: Labels) -> Score:
        """Squared difference of accuracies, mean over conditions."""
        return accuracy_difference(
            correct=decisions == self.shown.labels,
            condition=self.condition,
            human=self.human,
            classes=len(self.classes),
            human_classes=ACCURACY_CLASSES,
        )

    def areas(self, decisions: Labels) -> Measure:
        """Mean area between the curves of the model and of people, above chance, over manipulations."""
        right = (decisions == self.shown.labels).mean(axis=0)
        own = [
            above_chance(right[self.condition == c].mean(), len(self.classes)) for c in range(len(self.names))
        ]
        people = above_chance(self.human, ACCURACY_CLASSES)
        rows: dict[str, list[int]] = {}
        for index, (name, _) in enumerate(self.names):
            rows.setdefault(name, []).append(index)
        curves = [r for r in rows.values() if len(r) > 1]
        if not curves:
            return Measure(value=None, reason="no manipulation has more than one level")
        return known(
            [float(np.mean([curve_area(model=[own[i] for i in r], human=people[r]) for r in curves]))]
        )

    def by_condition(self, decisions: Labels) -> dict[str, Mapping[str, Measure | float]]:
        """Accuracy under each manipulation, all levels together."""
        right = decisions == self.shown.labels
        found: dict[str, Mapping[str, Measure | float]] = {}
        for name in dict.fromkeys(n for n, _ in self.names):
            rows = np.isin(self.condition, [i for i, (n, _) in enumerate(self.names) if n == name])
            found[f"manipulation={name}"] = {"accuracy": measure([mean_score(r[rows]) for r in right])}
        return found

    def consistency(self, decisions: Labels, left_out: Labels) -> dict[str, Measure | float]:
        """Kappa with people, and between people; means over observers, then over conditions."""
        responses = self.shown.responses
        if responses is None:
            nothing = Measure(value=None, reason=NOT_ASKED)
            return dict.fromkeys(("kappa", "observed_consistency", "ceiling", "ceiled"), nothing)
        right, people = decisions == self.shown.labels, responses == self.shown.labels
        parts = [self.condition == c for c in range(len(self.names))]
        kappa, seen = [], []
        for own, person in zip(right, left_out, strict=True):
            others = people[np.arange(len(people)) != person]
            kappa.append(mean_of([mean_kappa(model=own[rows], people=others[:, rows]) for rows in parts]))
            seen.append(float(np.mean([(own[rows] == others[:, rows]).mean() for rows in parts])))
        between = float(
            np.mean([error_consistency(correct=people[:, rows]).pairs().mean() for rows in parts])
        )
        values = measure(kappa)
        top, quotient = ceiled(values, between, NOT_ASKED)
        observed = known(seen, n=len(self.condition))
        return {"kappa": values, "observed_consistency": observed, "ceiling": top, "ceiled": quotient}


def _plan(unit: Unit, ctx: Context) -> _Plan:
    data = ctx.load_dataset(unit.dataset)
    return _experiment(data) if isinstance(data, Experiment) else _world(data, unit, ctx)


def _experiment(data: Experiment) -> _Plan:
    plan, parts = _Plan(), data.conditions
    plan.names = tuple((part.name, "0") for part in parts)
    plan.condition = np.repeat(np.arange(len(parts)), [len(part.labels) for part in parts])
    plan.human = [float((part.responses == part.labels).mean()) for part in parts]
    plan.classes = data.classes
    plan.shown = Shown(
        images=np.concatenate([part.images for part in parts]),
        labels=np.concatenate([part.labels for part in parts]),
        classes=len(data.classes),
        space=CATEGORIES16,
        train=None,
        responses=np.concatenate([part.responses for part in parts], axis=1),
    )
    return plan


def _world(world: Any, unit: Unit, ctx: Context) -> _Plan:
    plan = _Plan()
    pictures = stw_pictures(world, ctx, train=False, n=amount(unit, "images"))
    learned = stw_pictures(world, ctx, train=True, n=int(unit.setting("train")))
    n = len(pictures.shape)
    plan.names = tuple(manipulations.conditions())
    plan.condition = np.repeat(np.arange(len(plan.names)), n)
    plan.human = human_accuracies()
    plan.classes = world.classes
    plan.attacked = n
    plan.shown = Shown(
        images=manipulated(pictures, ctx),
        labels=np.tile(pictures.shape, len(plan.names)),
        classes=len(world.classes),
        space="stw10",
        train=(learned.images, learned.shape),
        responses=None,
    )
    return plan


def _attacked(adapter: Any, plan: _Plan, ctx: Context) -> dict[str, npt.NDArray[Any]]:
    images, labels = plan.shown.images[: plan.attacked], plan.shown.labels[: plan.attacked]

    def decisions() -> dict[str, npt.NDArray[Any]]:
        return {
            norm: attacked_decisions(adapter, images, labels, norm=norm, device=ctx.device, seed=0).astype(
                np.int16
            )
            for norm in RADII
        }

    return files.stacked(list(files.over_runs(adapter, decisions)))


def _under_attack(found: Mapping[str, npt.NDArray[Any]], norm: str, plan: _Plan) -> Measure:
    if norm not in found:
        return Measure(value=None, reason="not attacked: needs gradients of the model's own logits")
    labels = plan.shown.labels[: plan.attacked]
    return measure([mean_score(d == labels) for d in found[norm]])
