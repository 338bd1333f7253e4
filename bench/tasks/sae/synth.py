"""Task `sae.synth`: rate, distortion and polysemanticity in worlds whose concepts are known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.metrics.sae.decoder import mixed_factors
from bench.metrics.sae.polysemanticity import Polysemanticity, effects, polysemanticity
from bench.metrics.sae.recovery import absorption, agreement, coverage, recovery
from bench.metrics.sae.tradeoff import hypervolume
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Task, TaskOutput, Unit
from bench.tasks.sae import artifact as files
from bench.tasks.sae import exporting
from bench.tasks.sae.coding import collect, scale_of
from bench.tasks.sae.protocol import WorldUnit, world_unit
from bench.tasks.sae.reference import random_reference
from bench.tasks.sae.scoring import NO_DECODER, Quality, Values, measure, quality, quality_measures

NOBODY = "no latent is alive"
_SHOWN = 64  # latents in the response matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """One point: its measures, and what they were made of."""

    measures: Values
    quality: Quality
    poly: Polysemanticity
    effect: npt.NDArray[np.float64]
    coded: files.Coded


class Synth(Task):
    """Fits a coder on rows of a synthetic world and switches every concept on and off.

    Artifact: `point-N.npz` for each setting of the sweep, see `bench.tasks.sae.artifact`. Rows that are encoded: the
    evaluation rows, then those with one concept on, then the same with it off.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Fit and encode at every setting."""
        plan = self._plan(unit, ctx)
        return collect(adapter, plan.work(unit.dataset), ctx)

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`train.npy` and `encode.npy`, scaled, and the settings to fit at."""
        return exporting.export(self._plan(unit, ctx).work(unit.dataset), folder)

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Every point must be readable."""
        plan = self._plan(unit, ctx)
        for number in range(len(plan.points)):
            _read(artifact, number, plan)

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """All metrics at the first setting, and at the others as facets."""
        plan = self._plan(unit, ctx)
        scale = scale_of(plan.train)
        signed = False
        scored = []
        for number in range(len(plan.points)):
            coded = _read(artifact, number, plan)
            signed = signed or bool((coded.codes.data < 0).any())
            scored.append(_score(coded, plan, scale, signed=signed))
        volume = _volume(scored, plan, scale) if len(scored) > 1 else None
        first = scored[0]
        measures = {
            **first.measures,
            "hv": measure(volume, None, "one setting only: this unit has no sweep, or no atoms"),
        }
        return TaskOutput(
            metrics=measures,
            facets={p.facet: s.measures for p, s in zip(plan.points, scored, strict=True) if p.facet},
            flags=_flags(first),
            exhibits=_exhibits(first, ctx.exhibit_dir),
            notes={
                "n_train": plan.n_train,
                "n_eval": plan.n_eval,
                "bases": plan.bases,
                "expected_l0": round(plan.world.expected_l0, 4),
                "factors": plan.world.recipe.n_factors,
            },
        )

    def _plan(self, unit: Unit, ctx: Context) -> WorldUnit:
        return world_unit(ctx.load_dataset(unit.dataset), unit, ctx.cache_dir)


def _read(artifact: Artifact, number: int, plan: WorldUnit) -> files.Coded:
    return files.read(
        artifact,
        number,
        rows=plan.off.stop,
        dim=plan.world.recipe.dim,
        most_latents=plan.points[number].n_latents,
        decoded=plan.n_eval,
    )


def _score(coded: files.Coded, plan: WorldUnit, scale: float, *, signed: bool) -> _Scored:
    n, part = plan.n_eval, slice(0, plan.n_eval)
    found = quality(coded, plan.rows, scale)
    codes = coded.codes[part]
    effect = effects(
        on=coded.codes[plan.on], off=coded.codes[plan.off], n_factors=plan.world.recipe.n_factors
    )
    shares = np.diff(codes.tocsc().indptr) / n
    poly = polysemanticity(effect=effect, prevalence=plan.world.prevalence, density=shares, signed=signed)
    f1 = agreement(codes=codes, factors=plan.factors)[2]
    clean = coverage(effect=np.abs(effect), purity=poly.purity, f1=f1)
    parents = plan.world.structure.parents
    absorbed = (
        absorption(codes=codes, factors=plan.factors, parents=parents, f1=f1) if parents.max() >= 0 else None
    )
    measures = {
        "poly": measure(poly.poly, n, NOBODY),
        "poly_mean": measure(poly.poly_mean, n, NOBODY),
        "purity": measure(poly.purity_mean, n, NOBODY),
        "poly_frac": measure(poly.poly_frac, n, NOBODY),
        "dead_frac": measure(poly.dead_frac, n),
        **quality_measures(found, rows=n, width=codes.shape[1], scale=scale),
        "coverage": measure(clean.coverage, n),
        "splits": measure(clean.splits, n, "no factor is covered"),
        "absorption": measure(
            absorbed, n, "no parent can be judged" if parents.max() >= 0 else "no hierarchy here"
        ),
        **_recovered(coded, plan, codes),
    }
    return _Scored(measures=measures, quality=found, poly=poly, effect=effect, coded=coded)


def _recovered(coded: files.Coded, plan: WorldUnit, codes: Any) -> Values:
    names = ("mcc_factors", "mcc_min", "f1_matched", "f1_best", "dec_neff")
    if coded.decoder is None:
        return {name: measure(None, plan.n_eval, NO_DECODER) for name in names}
    found = recovery(
        dictionary=plan.world.dictionary, decoder=coded.decoder, codes=codes, factors=plan.factors
    )
    mixed = mixed_factors(decoder=coded.decoder, dictionary=plan.world.dictionary)
    mean = float(np.nanmean(mixed)) if np.isfinite(mixed).any() else None
    values = (found.mcc_factors, found.mcc_min, found.f1_matched, found.f1_best, mean)
    return {
        name: measure(value, plan.n_eval, "every atom is 0")
        for name, value in zip(names, values, strict=True)
    }


def _volume(scored: list[_Scored], plan: WorldUnit, scale: float) -> float | None:
    """Dominated share of the box between the ideal (0 bits, no error, one factor a latent) and random atoms."""
    reference = random_reference(plan, scale)
    points = [
        (
            s.quality.rate.bits / reference.bits,
            s.quality.fvu_quantised,
            (s.poly.poly - 1) / (reference.poly - 1),
        )
        for s in scored
        if s.quality.rate is not None and s.quality.fvu_quantised is not None and s.poly.poly is not None
    ]
    return hypervolume(points=points) if points else None


def _flags(first: _Scored) -> tuple[str, ...]:
    flags = []
    if first.quality.distortion.fvu is not None and first.quality.distortion.fvu > 1:
        flags.append("worse-than-mean")
    if first.poly.poly is None:
        flags.append("all-dead")
    return tuple(flags)


def _exhibits(first: _Scored, folder: Path) -> tuple[Exhibit, ...]:
    """The responses of the purest latents, and how polysemanticity is spread."""
    alive = np.flatnonzero(first.poly.alive)
    if not len(alive):
        return ()
    order = alive[np.argsort(first.poly.neff[alive], kind="stable")]
    kept = order[np.linspace(0, len(order) - 1, min(_SHOWN, len(order))).astype(int)]
    response = first.effect[:, kept]
    peak = np.maximum(np.abs(response).max(axis=0), 1e-12)
    near = response.argmax(axis=0)
    rows = np.argsort(near, kind="stable")
    content = {
        "latents": [int(j) for j in kept[rows]],
        "neff": [round(float(first.poly.neff[j]), 4) for j in kept[rows]],
        "response": [[round(float(v), 3) for v in response[:, i] / peak[i]] for i in rows],
    }
    spread = {
        "neff": [round(float(v), 4) for v in np.sort(first.poly.neff[alive])],
        "density": [round(float(v), 6) for v in np.asarray((first.coded.codes != 0).mean(axis=0)).ravel()],
    }
    return (
        _series(
            folder,
            "responses",
            content,
            "Mean change of latents when a factor is switched on, of 64 latents.",
        ),
        _series(folder, "spread", spread, "Effective number of factors and density of each latent."),
    )


def _series(folder: Path, name: str, content: Any, caption: str) -> Exhibit:
    (folder / f"{name}.json").write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
    return Exhibit(name=name, kind="series", file=f"{name}.json", caption=caption)
