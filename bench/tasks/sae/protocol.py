"""What is fixed about a unit of a synthetic world before any coder is seen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.sae.world import Recipe, World
from bench.errors import UsageError
from bench.spec import Unit, derived_seed
from bench.tasks.caching import cached_array
from bench.tasks.sae.coding import Array, Work, scale_of
from bench.tasks.sae.points import Point, sweep

MIN_ROWS = 50


@dataclass(frozen=True, kw_only=True)
class WorldUnit:
    """A world, the settings to fit at, and the rows that are coded; equal for collect and score.

    Rows to encode: `n_eval` evaluation rows, then for each factor in turn `bases` rows with it on and as many off.
    """

    world: World
    points: tuple[Point, ...]
    n_train: int
    n_eval: int
    bases: int
    train_rows: int
    seed: int

    @cached_property
    def factors(self) -> Array:
        """True factor values of the evaluation rows, (n_eval, N)."""
        return self.world.factors(self.n_eval, "evaluation rows")

    @cached_property
    def rows(self) -> Array:
        """Evaluation rows, unscaled, (n_eval, d)."""
        return self.world.mix(self.factors)

    @cached_property
    def train(self) -> Array:
        """Training rows, unscaled."""
        return self.world.mix(self.world.factors(self.n_train, "training rows"))

    def interventions(self) -> Array:
        """Rows with a factor on, then off: (2 N bases, d), all "on" first."""
        pairs = [self.world.interventions(i, self.bases) for i in range(self.world.recipe.n_factors)]
        return np.concatenate([on for on, _ in pairs] + [off for _, off in pairs])

    @property
    def on(self) -> slice:
        """Place of the "on" rows among what is encoded."""
        return slice(self.n_eval, self.n_eval + self.world.recipe.n_factors * self.bases)

    @property
    def off(self) -> slice:
        """Place of the "off" rows."""
        return slice(self.on.stop, self.on.stop + self.world.recipe.n_factors * self.bases)

    def work(self, dataset: str) -> Work:
        """The same as a coder gets it."""
        train = self.train
        return Work(
            dataset=dataset,
            train=train,
            encode=np.concatenate([self.rows, self.interventions()]),
            decoded=self.n_eval,
            scale=scale_of(train),
            points=self.points,
            train_rows=self.train_rows,
            seed=self.seed,
            dictionary=self.world.dictionary,
            factors=self._all_factors,
        )

    def _all_factors(self) -> Array:
        n, mean = self.world.recipe.n_factors, self.world.recipe.mean
        base = [self.world.factors(self.bases, f"intervention-{i}") for i in range(n)]
        on, off = [z.copy() for z in base], [z.copy() for z in base]
        for i in range(n):
            on[i][:, i], off[i][:, i] = mean, 0.0
        return np.concatenate([self.factors, *on, *off])


def world_unit(recipe: Recipe, unit: Unit, cache: Path) -> WorldUnit:
    """Work out `unit`. Settings: `train` rows to draw from, `budget` rows seen, `eval`, `bases`, and the sweep.

    `sparsities` and `widths` list factors with commas between; they apply to the first `sweep_repeats` repeats.
    """
    n_eval = int(unit.setting("eval"))
    if unit.limit is not None:
        n_eval = min(n_eval, unit.limit)
    if n_eval < MIN_ROWS:
        raise UsageError(f"synthetic worlds need at least {MIN_ROWS} evaluation rows, this unit has {n_eval}")
    seed = derived_seed(unit.seed, "world")

    def keep(name: str, compute: Any) -> npt.NDArray[np.float32]:
        key = hashlib.sha256(f"{recipe.sha256()}|{name}".encode()).hexdigest()[:32]
        shape = (recipe.n_factors, recipe.dim)
        return cached_array(
            cache / "sae" / f"{key}.npy", compute, fits=lambda a: a.shape == shape and a.dtype == np.float32
        )

    world = recipe.make(seed, keep)
    swept = unit.repeat < int(unit.settings.get("sweep_repeats") or 0)
    points = sweep(
        n_latents=recipe.n_factors,
        l0=max(1.0, round(world.expected_l0)),
        sparsities=str(unit.settings.get("sparsities") or "") if swept else "",
        widths=str(unit.settings.get("widths") or "") if swept else "",
    )
    return WorldUnit(
        world=world,
        points=points,
        n_train=int(unit.setting("train")),
        n_eval=n_eval,
        bases=int(unit.setting("bases")),
        train_rows=int(unit.setting("budget")),
        seed=unit.seed,
    )
