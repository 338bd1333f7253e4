"""Task `sae.lm`: sparse coders on the activations of a real language model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench.metrics.sae.activity import active_enough, top_entropy
from bench.metrics.sae.decoder import decoder_overlap
from bench.metrics.sae.monosemanticity import monosemanticity_scores
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Task, TaskOutput, Unit
from bench.tasks.sae import artifact as files
from bench.tasks.sae import exporting
from bench.tasks.sae.affordable import require_affordable
from bench.tasks.sae.coding import MOST_LATENTS, collect
from bench.tasks.sae.latents import latent_cards
from bench.tasks.sae.lm_unit import LmUnit, lm_unit
from bench.tasks.sae.probes import probe_measures
from bench.tasks.sae.scoring import NO_DECODER, Values, measure, quality, quality_measures
from bench.tasks.sae.splicing import reference_losses, splice_measures


class LanguageModel(Task):
    """Fits a coder on activations of a language model and sees what the model keeps.

    Artifact: `point-N.npz` as for `sae.synth`; rows that are encoded: the evaluation tokens, then those of the texts
    that are probed.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Fit and encode at every setting."""
        require_affordable(getattr(getattr(adapter, "info", None), "tags", ()), unit)
        return collect(adapter, self._plan(unit, ctx).work(unit.dataset), ctx)

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`train.npy` and `encode.npy`, scaled, and the settings to fit at."""
        return exporting.export(self._plan(unit, ctx).work(unit.dataset), folder)

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Every point must be readable."""
        plan = self._plan(unit, ctx)
        for number in range(len(plan.points)):
            _read(artifact, number, plan)

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Rate and distortion, what the model keeps, proxies and probes; at the other settings rate and distortion."""
        plan = self._plan(unit, ctx)
        coded = _read(artifact, 0, plan)
        part = slice(0, len(plan.rows))
        measures = _quality(coded, plan) | splice_measures(plan, coded.rebuilt(part) / plan.scale)
        probes, facets = probe_measures(plan, coded)
        for number, point in enumerate(plan.points[1:], start=1):
            other = _read(artifact, number, plan)
            kept = splice_measures(plan, other.rebuilt(part) / plan.scale)
            facets[point.facet] = _quality(other, plan) | kept
        base, mean, zero = reference_losses(plan)
        fvu = measures["fvu"].value
        return TaskOutput(
            metrics={**measures, **_proxies(coded, plan), **probes},
            facets=facets,
            flags=("worse-than-mean",) if fvu is not None and fvu > 1 else (),
            exhibits=_exhibits(coded, plan, ctx.exhibit_dir),
            notes={
                "tokens": len(plan.rows),
                "excluded": round(1 - float(plan.counts.mean()), 5),
                "loss_base": round(base, 5),
                "loss_mean": round(mean, 5),
                "loss_zero": round(zero, 5),
                "spliced_rows": len(plan.spliced_rows),
                "probe_sets": len(plan.probes),
            },
        )

    def _plan(self, unit: Unit, ctx: Context) -> LmUnit:
        return lm_unit(ctx.load_dataset(unit.dataset), unit, ctx.cache_dir, ctx.progress)


def _read(artifact: Artifact, number: int, plan: LmUnit) -> files.Coded:
    return files.read(
        artifact,
        number,
        rows=len(plan.rows) + sum(len(p.hidden) for p in plan.probes),
        dim=plan.hook.dim,
        most_latents=MOST_LATENTS,
        decoded=len(plan.rows),
    )


def _quality(coded: files.Coded, plan: LmUnit) -> Values:
    n = len(plan.rows)
    found = quality(coded, plan.rows, plan.scale)
    measures = quality_measures(found, rows=n, width=coded.codes.shape[1], scale=plan.scale)
    alive = np.diff(coded.codes[:n].tocsc().indptr) > 0
    return {**measures, "dead_frac": measure(float(1 - alive.mean()), n)}


def _proxies(coded: files.Coded, plan: LmUnit) -> Values:
    """Means over latents with at least 20 activations."""
    n = len(plan.rows)
    codes = coded.codes[:n]
    enough = active_enough(codes=codes)
    few = "no latent has 20 activations"
    centred = plan.rows - plan.rows.mean(axis=0)
    tokens = plan.tokens[plan.evaluation][plan.counts]
    values = {
        "ms_self": monosemanticity_scores(codes=codes, embeddings=centred),
        "top_entropy": top_entropy(codes=codes, labels=tokens, groups=plan.row_of),
    }
    found = {name: measure(_mean(v, enough), int(enough.sum()), few) for name, v in values.items()}
    overlap = None if coded.decoder is None else decoder_overlap(decoder=coded.decoder).max_cosine
    shown = None if overlap is None else _mean(overlap, enough)
    found["max_dec_cos"] = measure(shown, int(enough.sum()), NO_DECODER if overlap is None else few)
    return found


def _mean(values: np.ndarray, enough: np.ndarray) -> float | None:
    known = values[enough & np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def _exhibits(coded: files.Coded, plan: LmUnit, folder: Path) -> tuple[Exhibit, ...]:
    cards = latent_cards(coded, plan)
    density = np.diff(coded.codes[: len(plan.rows)].tocsc().indptr) / len(plan.rows)
    spread = {"density": [round(float(v), 7) for v in np.sort(density)]}
    for name, content in (("latents", cards), ("density", spread)):
        (folder / f"{name}.json").write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
    return (
        Exhibit(
            name="latents",
            kind="series",
            file="latents.json",
            caption="Latents and what activates them most.",
        ),
        Exhibit(
            name="density", kind="series", file="density.json", caption="How often each latent is active."
        ),
    )
