"""S1 global and local utility and S2 structure skill: does each column depend on the others as it really does?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.metrics.tabular.bounds import constant_columns
from bench.metrics.tabular.cache import Array, RealSideCache
from bench.metrics.tabular.columnwise import PREDICTORS, ColumnPredictors, ColumnScore, Predictor
from bench.metrics.tabular.result import Cells, Result, mean_of_units, table_of, undefined
from bench.metrics.tabular.table import EncodedTable, check_same_layout

LARGEST_UTILITY = 2.0
SMALLEST_SKILL = 0.02
_ERROR_FLOOR = 1e-9


def structure_utility(
    *,
    real: EncodedTable,
    generated: EncodedTable,
    test: EncodedTable,
    predictors: Sequence[Predictor] = PREDICTORS,
    seed: int = 0,
    cache: RealSideCache | None = None,
) -> dict[str, Result]:
    """`global_utility`, `local_utility` and `structure_skill`, from models of each column given all others.

    Predictors are trained on the generated and on the real rows and tested on the same real test rows; their scores
    are averaged. Encoders come from the real table.

    global_utility (up, [0, 2], 1 is real): mean over columns of RMSE_R / RMSE_S or BA_S / BA_R (balanced accuracy),
    at most 2. local_utility: that of the target column.
    structure_skill (up, [0, 1]): mean over predictable columns of clip(skill_S / skill_R, 0, 1), with skill =
    1 - (RMSE / test deviation)^2 or (BA - 1/K) / (1 - 1/K); columns with skill_R <= 0.02 are listed as unpredictable.

    A column is excluded when it is constant in the real or the test rows; generated rows without any value of a
    column score 0 there. `cache` keeps the scores of the real rows for the next generator.

    Jiang, Simidjievski, Jamnik, "TabStruct: Measuring Structural Fidelity of Tabular Data", 2026 (utility).
    """
    check_same_layout(real=real, generated=generated, test=test)
    models = ColumnPredictors(real, test, predictors=predictors, seed=seed)
    columns, excluded = _defined(real, models)
    if len(real.columns) < 2 or not columns:
        nothing = undefined("no column can be predicted from another one", n_excluded=len(excluded))
        return dict.fromkeys(("global_utility", "local_utility", "structure_skill"), nothing)
    key = ("columns", real.fingerprint, test.fingerprint, tuple(predictors), seed)
    baseline = (cache or RealSideCache()).array(
        key, (len(columns), len(predictors)), lambda: _as_array(models.scores(real, columns), predictors)
    )
    found = models.scores(generated, columns)
    units = [
        _Unit.of(real, models, j, ColumnScore(dict(zip(predictors, row.tolist(), strict=True))), found[j])
        for j, row in zip(columns, baseline, strict=True)
    ]
    return {
        "global_utility": _utility(units, excluded),
        "local_utility": _local(real, units),
        "structure_skill": _skill(units, excluded),
    }


def _as_array(scores: Mapping[int, ColumnScore], predictors: Sequence[Predictor]) -> Array:
    """A row for each column, a score for each predictor."""
    return np.array([[score.by_predictor[name] for name in predictors] for score in scores.values()])


def _defined(real: EncodedTable, models: ColumnPredictors) -> tuple[list[int], list[str]]:
    constant = constant_columns(real)
    columns, excluded = [], []
    for j, column in enumerate(real.columns):
        truth = models.test_target(j)
        known = real.values(j)[~real.missing(j)]
        if constant[j] or not len(known) or (known == known[0]).all():
            excluded.append(f"{column.name}: constant in the real data")
        elif len(np.unique(truth)) < 2:
            excluded.append(f"{column.name}: constant in the test data")
        else:
            columns.append(j)
    return columns, excluded


@dataclass(frozen=True)
class _Unit:
    """One column: its scores by models of real and of generated rows, in comparable form."""

    column: int
    name: str
    utility: float
    real_skill: float
    generated_skill: float

    @classmethod
    def of(
        cls, real: EncodedTable, models: ColumnPredictors, column: int, base: ColumnScore, found: ColumnScore
    ) -> _Unit:
        truth, name = models.test_target(column), real.columns[column].name
        reference, value = base.value, found.value
        assert reference is not None
        if real.columns[column].is_numeric:
            deviation = float(truth.std())
            floor = _ERROR_FLOOR * deviation
            utility = 0.0 if value is None else max(reference, floor) / max(value, floor)
            skills = [-np.inf if v is None else 1 - (v / deviation) ** 2 for v in (reference, value)]
        else:
            chance = 1 / len(np.unique(truth))
            utility = 0.0 if value is None else value / max(reference, _ERROR_FLOOR)
            skills = [-np.inf if v is None else (v - chance) / (1 - chance) for v in (reference, value)]
        return cls(column, name, min(utility, LARGEST_UTILITY), float(skills[0]), float(skills[1]))


def _utility(units: list[_Unit], excluded: list[str]) -> Result:
    detail: dict[str, Cells] = {"column": [u.name for u in units], "value": [u.utility for u in units]}
    return mean_of_units([u.utility for u in units], excluded=excluded, detail=detail)


def _local(real: EncodedTable, units: list[_Unit]) -> Result:
    if real.target is None:
        return undefined("the data have no target column")
    for unit in units:
        if unit.column == real.target:
            return Result(unit.utility, 1, detail=table_of({"column": [unit.name], "value": [unit.utility]}))
    return undefined(f"{real.columns[real.target].name}, the target, is constant", n_excluded=1)


def _skill(units: list[_Unit], excluded: list[str]) -> Result:
    kept = [u for u in units if u.real_skill > SMALLEST_SKILL]
    dropped = [f"{u.name}: unpredictable, real skill {u.real_skill:.3f}" for u in units if u not in kept]
    values = [float(np.clip(u.generated_skill / u.real_skill, 0, 1)) for u in kept]
    detail: dict[str, Cells] = {
        "column": [u.name for u in kept],
        "value": values,
        "real_skill": [u.real_skill for u in kept],
        "generated_skill": [u.generated_skill for u in kept],
    }
    quartiles = np.quantile(values, (0.25, 0.5, 0.75)) if values else ()
    facets = {f"q{q}": float(v) for q, v in zip((25, 50, 75), quartiles, strict=False)}
    return mean_of_units(
        values,
        excluded=[*excluded, *dropped],
        detail=detail,
        facets=facets,
        nothing="no column is predictable from the others",
    )
