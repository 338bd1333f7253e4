"""From a long table of results to one number per model and task, with failures treated as stated.

Dropping failed cells and averaging the rest is not offered: it rewards failing on what is hard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bench.stats._check import FloatArray, as_floats

Policy = Literal["baseline", "worst", "exclude"]

POLICIES: Mapping[Policy, str] = {
    "baseline": "a failed or missing repeat counts as the task's trivial baseline on that repeat",
    "worst": "a model with a failed or missing repeat shares the last rank of that task",
    "exclude": "only tasks that every shown model completed are ranked",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One result. `utility` is the value, or minus the value where lower is better; None if the job failed."""

    model: str
    task: str
    repeat: int
    utility: float | None


@dataclass(frozen=True, slots=True)
class Scores:
    """Utility of each model on each task, averaged over repeats; the input of everything in `ranking`.

    `utility` is float[models, tasks], higher is better, -inf for the shared last rank of policy "worst".
    `failed` counts the repeats of each cell that failed or are missing, `n_repeats` those of each task, and
    `excluded` names the tasks left out by policy "exclude".
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    utility: FloatArray
    failed: npt.NDArray[np.int64]
    n_repeats: npt.NDArray[np.int64]
    policy: Policy
    excluded: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """The policy in words, to be printed next to the table."""
        return POLICIES[self.policy]


def scores_from_rows(
    rows: Iterable[Row],
    *,
    policy: Policy = "baseline",
    baseline: str | Mapping[str, str] | None = None,
    models: Sequence[str] | None = None,
) -> Scores:
    """Average repeats within each task after giving failed and missing cells the value of the policy.

    A cell is expected for every model on every (task, repeat) that occurs for any model.

    Parameters
    ----------
    rows : iterable of Row
    policy : "baseline", "worst" or "exclude"
    baseline : str or mapping task -> str
        Name of the trivial baseline model; needed by policy "baseline" if anything failed.
    models : sequence of str, optional
        Models to show, in this order; all, sorted, if not given. A baseline need not be shown.

    Raises
    ------
    ValueError
        For no rows, a repeated cell, NaN or infinity, an unknown model, a baseline that is missing where it
        is needed, or no task left by policy "exclude".

    Examples
    --------
    >>> rows = [Row("a", "t", 0, .9), Row("a", "t", 1, None), Row("b", "t", 0, .2), Row("b", "t", 1, .1)]
    >>> scores_from_rows(rows, baseline="b").utility.tolist()
    [[0.5], [0.15000000000000002]]
    >>> scores_from_rows(rows, policy="worst").utility.tolist()
    [[-inf], [0.15000000000000002]]
    """
    if policy not in POLICIES:
        raise ValueError(f"policy must be one of {', '.join(POLICIES)}, got {policy!r}")
    cells = _cells(rows)
    known = sorted({model for model, _, _ in cells})
    shown = tuple(known if models is None else models)
    unknown = sorted(set(shown) - set(known))
    if unknown or not shown or len(set(shown)) != len(shown):
        raise ValueError(f"models to show must be distinct and have rows; without rows: {unknown}")
    repeats: dict[str, list[int]] = {}
    for task, repeat in sorted({(task, repeat) for _, task, repeat in cells}):
        repeats.setdefault(task, []).append(repeat)
    raw = {
        task: np.array([[cells.get((model, task, r), np.nan) for r in of_task] for model in shown])
        for task, of_task in repeats.items()
    }
    failed = {task: np.isnan(block).sum(axis=1) for task, block in raw.items()}
    tasks = tuple(task for task in repeats if policy != "exclude" or not failed[task].any())
    if not tasks:
        raise ValueError("policy 'exclude' leaves no task: each has a failed or missing cell")
    utility = np.empty((len(shown), len(tasks)))
    for j, task in enumerate(tasks):
        block = raw[task]
        if policy == "baseline" and failed[task].any():
            block = _filled(block, cells, task, repeats[task], baseline)
        utility[:, j] = np.where(np.isnan(block).any(axis=1), -np.inf, block.mean(axis=1))
    return Scores(
        models=shown,
        tasks=tasks,
        utility=utility,
        failed=np.stack([failed[task] for task in tasks], axis=1),
        n_repeats=np.array([len(repeats[task]) for task in tasks]),
        policy=policy,
        excluded=tuple(task for task in repeats if task not in tasks),
    )


def scores_from_table(
    utility: Sequence[Sequence[float]] | FloatArray, models: Sequence[str], tasks: Sequence[str] | None = None
) -> Scores:
    """`Scores` from a complete table float[models, tasks], one repeat per cell.

    Examples
    --------
    >>> scores_from_table([[.9, .8], [.1, .2]], ["a", "b"]).tasks
    ('0', '1')
    """
    table = as_floats(utility, "utility", ndim=2)
    if table.shape[0] != len(models):
        raise ValueError(f"need one line per model, got {table.shape[0]} for {len(models)} models")
    names = [str(j) for j in range(table.shape[1])] if tasks is None else list(tasks)
    if len(names) != table.shape[1]:
        raise ValueError(f"got {len(names)} task names for {table.shape[1]} tasks")
    if len(set(models)) != len(models) or len(set(names)) != len(names):
        raise ValueError("model and task names must be distinct")
    return Scores(
        models=tuple(models),
        tasks=tuple(names),
        utility=table,
        failed=np.zeros(table.shape, dtype=np.int64),
        n_repeats=np.ones(len(names), dtype=np.int64),
        policy="exclude",
    )


def _cells(rows: Iterable[Row]) -> dict[tuple[str, str, int], float]:
    """Utility by (model, task, repeat); NaN marks a failure from here on, and is refused as an input."""
    cells: dict[tuple[str, str, int], float] = {}
    for row in rows:
        key = (row.model, row.task, row.repeat)
        if key in cells:
            raise ValueError(f"two results for model {row.model}, task {row.task}, repeat {row.repeat}")
        if row.utility is not None and not np.isfinite(row.utility):
            raise ValueError(f"utility of {key} is {row.utility}; a failure is None, never NaN or infinite")
        cells[key] = np.nan if row.utility is None else float(row.utility)
    if not cells:
        raise ValueError("no results to rank")
    return cells


def _filled(
    block: FloatArray,
    cells: Mapping[tuple[str, str, int], float],
    task: str,
    repeats: Sequence[int],
    baseline: str | Mapping[str, str] | None,
) -> FloatArray:
    name = baseline if isinstance(baseline, str) or baseline is None else baseline.get(task)
    if name is None:
        raise ValueError(f"task {task} has failed cells and no baseline; name one or use another policy")
    values = np.array([cells.get((name, task, repeat), np.nan) for repeat in repeats])
    filled = np.where(np.isnan(block), values, block)
    if np.isnan(filled).any():
        raise ValueError(f"baseline {name} itself failed or is missing on task {task}; use another policy")
    return filled
