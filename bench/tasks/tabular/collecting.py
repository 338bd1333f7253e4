"""Running a generator: fit on the training rows, sample, check, write."""

from __future__ import annotations

from typing import Any

import pandas as pd

from bench.adapters.tabular import Budget
from bench.datasets.tabular.schema import SchemaError
from bench.errors import InvalidOutput, MissingRequirement
from bench.spec import Context, JSONScalar, derived_seed
from bench.tasks.tabular.artifact import PARQUET_FILE, write_table
from bench.tasks.tabular.protocol import TableUnit

MEMORY_GB = 4.0
_PROBE = 50  # rows drawn twice to see that equal seeds give equal rows


def collect_table(adapter: Any, plan: TableUnit, ctx: Context) -> dict[str, JSONScalar]:
    """Write `synthetic.parquet`. Times are not noted: the artifact must be the same again for the same seed."""
    for method in ("fit", "sample"):
        if not callable(getattr(adapter, method, None)):
            raise InvalidOutput(
                f"{type(adapter).__name__} has no method {method!r}; derive it from bench.adapters.tabular."
                "TabularGenerator"
            )
    fits_on = getattr(adapter, "fits_on", "train")
    if fits_on not in ("train", "holdout"):
        raise InvalidOutput(f"fits_on is {fits_on!r}; use 'train', or 'holdout' for an oracle")
    if fits_on == "holdout" and len(plan.holdout) < plan.n:
        raise MissingRequirement(
            f"an oracle needs {plan.n} held-out rows; this protocol keeps {len(plan.holdout)}"
        )
    ctx.progress(0, 2)
    _fit(adapter, plan.train if fits_on == "train" else plan.holdout, plan, ctx)
    ctx.progress(1, 2)
    seed = derived_seed(plan.seed, "sample")
    frame = _checked(adapter.sample(plan.n, seed=seed), plan, plan.n)
    write_table(frame, plan.schema, ctx.artifact_dir / PARQUET_FILE)
    repeatable = _is_repeatable(adapter, plan, seed)  # last, as an adapter may use its frame again
    ctx.progress(2, 2)
    parameters = getattr(adapter, "n_parameters", lambda: None)()
    return {
        "fits_on": fits_on,
        "n": plan.n,
        "repeatable": repeatable,
        "diverged": bool(getattr(adapter, "diverged", False)),
        "n_parameters": None if parameters is None else int(parameters),
    }


def _fit(adapter: Any, rows: pd.DataFrame, plan: TableUnit, ctx: Context) -> None:
    given = rows.copy(deep=True)
    budget = Budget(seconds=ctx.seconds_left, memory_gb=MEMORY_GB)
    seed = derived_seed(plan.seed, "fit")
    adapter.fit(given, plan.schema, seed=seed, device=ctx.device, budget=budget)
    if list(given.columns) != list(rows.columns) or not given.equals(rows):
        raise InvalidOutput("fit changed the training table that it was given; work on a copy of it")


def _checked(frame: Any, plan: TableUnit, n: int) -> pd.DataFrame:
    """The table if it can be scored; else `InvalidOutput` naming the column and the cause."""
    try:
        plan.schema.require(frame, rows=n)
    except SchemaError as error:
        raise InvalidOutput(f"sample(n={n}) returned an unusable table: {error}") from None
    return frame  # type: ignore[no-any-return]


def _is_repeatable(adapter: Any, plan: TableUnit, seed: int) -> bool:
    n = min(_PROBE, plan.n)
    first, second = (
        plan.schema.align(_checked(adapter.sample(n, seed=seed), plan, n).copy()) for _ in range(2)
    )
    return bool(first.equals(second))
