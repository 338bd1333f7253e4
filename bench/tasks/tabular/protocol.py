"""Which real rows a model, an attacker and a predictor see in a unit; the same for every model."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bench.datasets.tabular.dataset import TabularDataset
from bench.datasets.tabular.schema import TableSchema
from bench.errors import MissingRequirement, UsageError
from bench.spec import Unit, derived_seed

MIN_ROWS = 20
HEAVY = "heavy"  # tag of models whose training takes minutes
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableUnit:
    """A unit worked out: `train` of `n` rows, fresh `holdout` and `test` rows, ids left out.

    holdout: which only an oracle receives; non-members for attacks. test: where predictors are tested.
    """

    dataset: TabularDataset
    schema: TableSchema
    train: pd.DataFrame
    holdout: pd.DataFrame
    test: pd.DataFrame
    ids: tuple[str, ...]  # columns left out
    cap: str  # why n is less than the protocol asks for; "" if it is not
    seed: int

    @property
    def n(self) -> int:
        """Rows of `train`, and rows asked of the model."""
        return len(self.train)


@dataclass(frozen=True, slots=True)
class Split:
    """How rows are divided: `fresh` hold-out and `tested` rows for each training row."""

    fresh: Fraction
    tested: Fraction

    def most(self, rows: int) -> int:
        """Training rows that `rows` rows allow."""
        return int(rows / (1 + self.fresh + self.tested))

    def sizes(self, n: int) -> tuple[int, int, int]:
        """Rows of train, hold-out and test."""
        return n, max(1, int(n * self.fresh)), max(1, int(n * self.tested))


SPLITS = {
    "equal": Split(Fraction(1), Fraction(1, 2)),  # 40, 40 and 20 per cent
    "tabstruct": Split(Fraction(1, 9), Fraction(5, 18)),  # 72, 8 and 20 per cent
}
TABSTRUCT_SEED = 42


def table_unit(dataset: TabularDataset, unit: Unit) -> TableUnit:
    """Work out `unit`. Settings: `n`, rows of train at most; `split`, one of `SPLITS`, "equal" without it.

    The split "tabstruct" is that of TabStruct: repeat r is drawn with the seed 42 + r, whatever the unit's is.
    """
    name = str(unit.settings.get("split") or "equal")
    split = SPLITS[name]
    rows, wanted = len(dataset.frame), int(unit.setting("n"))
    caps = {f"{dataset.name} has {rows} rows": split.most(rows)}
    if unit.limit is not None:
        caps[f"--limit {unit.limit}"] = unit.limit
    cap, lowest = min(caps.items(), key=lambda item: item[1])
    n = min(wanted, lowest)
    if n < MIN_ROWS:
        raise UsageError(f"tabular tasks need at least {MIN_ROWS} training rows, this unit has {n} ({cap})")
    schema = dataset.schema.without_ids()
    places = [j for j, column in enumerate(dataset.schema.columns) if column.kind != "id"]
    frame = dataset.frame.iloc[:, places]
    seed = TABSTRUCT_SEED + unit.repeat if name == "tabstruct" else derived_seed(unit.seed, "split")
    order = split_order(frame, schema, seed=seed)
    ends = np.cumsum(split.sizes(n))
    parts = np.split(order[: ends[-1]], ends[:-1])
    train, holdout, test = (frame.iloc[np.sort(part)].reset_index(drop=True) for part in parts)
    labels = dataset.schema.labels
    return TableUnit(
        dataset=dataset,
        schema=schema,
        train=train,
        holdout=holdout,
        test=test,
        ids=tuple(label for j, label in enumerate(labels) if j not in places),
        cap=cap if n < wanted else "",
        seed=unit.seed,
    )


def split_order(frame: pd.DataFrame, schema: TableSchema, *, seed: int) -> Rows:
    """Row numbers in an order each stretch of which is a random sample, stratified by a target with classes."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(frame))
    if schema.task not in ("binary", "multiclass"):
        return shuffled
    target: pd.Series[Any] = frame.iloc[:, schema.names.index(schema.target)]
    strata = pd.factorize(target)[0][shuffled]  # a missing target is a stratum, too
    place = np.empty(len(frame))
    for stratum in np.unique(strata):
        inside = np.flatnonzero(strata == stratum)
        place[inside] = (np.arange(len(inside)) + rng.random()) / len(inside)
    return shuffled[np.argsort(place, kind="stable")]


def require_affordable(tags: tuple[str, ...], unit: Unit) -> None:
    """Raise `MissingRequirement` if this size has no time for a heavy model on this repeat.

    Setting: `heavy_repeats`, the number of repeats they run on; without it they run on all.
    """
    if HEAVY not in tags or "heavy_repeats" not in unit.settings:
        return
    repeats = int(unit.setting("heavy_repeats"))
    if unit.repeat >= repeats:
        raise MissingRequirement(
            f"models with the tag {HEAVY!r} train for minutes; at size {unit.size} they run on the first {repeats} "
            "of the repeats of this task only (size full runs them on all)"
        )
