"""Task `sae.toy2`: the two-concept world, in which the optimum is known in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.sae.toy2 import Toy2
from bench.metrics.sae.inputs import unit_rows
from bench.metrics.sae.rate import binary_entropy
from bench.spec import Artifact, Context, JSONScalar, Measure, Task, TaskOutput, Unit, derived_seed
from bench.tasks.sae import artifact as files
from bench.tasks.sae import exporting
from bench.tasks.sae.coding import Work, collect
from bench.tasks.sae.points import Point
from bench.tasks.sae.scoring import NO_DECODER

# Two atoms, one at a time: the optimum mixes. Two atoms, both at a time: exact and monosemantic. Three, one at a time:
# exact with an atom for the conjunction.
POINTS = (
    Point(n_latents=2, target_l0=1.0),
    Point(n_latents=2, target_l0=2.0, facet="dictionary=concepts"),
    Point(n_latents=3, target_l0=1.0, facet="dictionary=conjunction"),
)
_KINDS = 4  # of rows: only the first, only the second, both, none
VISIBLE = 1e-3  # of the magnitude of a concept; descent leaves traces where the optimum has 0
EXACT = "exact: the expectation over the four kinds of rows"


class Toy(Task):
    """Fits two latents with one active at a time, and the two dictionaries that are exact.

    Artifact: `point-0.npz` to `point-2.npz` with the codes of the four kinds of rows.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Fit and encode the four kinds of rows."""
        return collect(adapter, _work(ctx.load_dataset(unit.dataset), unit), ctx)

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`train.npy` and `encode.npy`."""
        return exporting.export(_work(ctx.load_dataset(unit.dataset), unit), folder)

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """All three points must be readable."""
        for number in range(len(POINTS)):
            _read(artifact, number)

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Exact expectations, so that there is nothing to estimate."""
        toy: Toy2 = ctx.load_dataset(unit.dataset)
        best, mono, conj = (_read(artifact, number) for number in range(len(POINTS)))
        error, l0, bits = _expected(best, toy)
        turned = _turn(best)
        (mono_error, mono_l0, _), (conj_error, conj_l0, _) = _expected(mono, toy), _expected(conj, toy)
        are_exact = max(mono_error, conj_error) < 1e-3
        metrics = {
            "gap": _exactly(abs(error - toy.least_distortion)),
            "distortion": _exactly(error),
            "turn": _exactly(turned),
            "angle_error": _exactly(None if turned is None else abs(turned - toy.angle)),
            "l0": _exactly(l0),
            "support_bits": _exactly(bits),
            "rate_tax": _exactly(mono_l0 - conj_l0)
            if are_exact
            else Measure(
                value=None, reason="a dictionary that could be exact is not, so that rates do not compare"
            ),
        }
        others = ((POINTS[1].facet, mono), (POINTS[2].facet, conj))
        return TaskOutput(
            metrics=metrics,
            facets={facet: _facet(coded, toy) for facet, coded in others},
            notes={
                "least_distortion": round(toy.least_distortion, 9),
                "optimal_angle": round(toy.angle, 6),
                "rate_tax_exact": round(toy.exact_l0[0] - toy.exact_l0[1], 9),
            },
        )


def _work(toy: Toy2, unit: Unit) -> Work:
    rng = np.random.default_rng(derived_seed(unit.seed, "training rows"))
    kinds = toy.rows.astype(np.float32)
    return Work(
        dataset=unit.dataset,
        train=toy.sample(int(unit.setting("train")), rng),
        encode=kinds,
        decoded=_KINDS,
        scale=1.0,
        points=POINTS,
        train_rows=int(unit.setting("budget")),
        seed=unit.seed,
        dictionary=np.eye(2, dtype=np.float32),
        factors=lambda: kinds,
    )


def _read(artifact: Artifact, number: int) -> files.Coded:
    return files.read(
        artifact, number, rows=_KINDS, dim=2, most_latents=POINTS[number].n_latents, decoded=_KINDS
    )


def _expected(coded: files.Coded, toy: Toy2) -> tuple[float, float, float]:
    """Expected squared error, number of active latents, bits of the support."""
    errors = ((coded.rebuilt(slice(0, _KINDS)) - toy.rows) ** 2).sum(axis=1)
    active = np.asarray((abs(coded.codes) > VISIBLE).todense(), dtype=np.float64)
    shares: npt.NDArray[np.float64] = toy.weights @ active
    return float(toy.weights @ errors), float(shares.sum()), float(binary_entropy(shares).sum())


def _turn(coded: files.Coded) -> float | None:
    """The largest angle in degrees between an atom and the concept next to it; None without two atoms."""
    if coded.decoder is None or len(coded.decoder) < 2:
        return None
    cosines = np.abs(unit_rows(coded.decoder.astype(np.float64))).max(axis=1)
    return float(np.degrees(np.arccos(np.clip(cosines, 0.0, 1.0))).max())


def _exactly(value: float | None) -> Measure:
    return Measure(value=value, reason=NO_DECODER if value is None else EXACT)


def _facet(coded: files.Coded, toy: Toy2) -> dict[str, Measure]:
    error, l0, bits = _expected(coded, toy)
    return {"distortion": _exactly(error), "l0": _exactly(l0), "support_bits": _exactly(bits)}
