"""Two data frames are enough: `evaluate(real, synthetic)` without any adapter, task or store.

from bench.tabular import evaluate

report = evaluate(real_train, synthetic, holdout=fresh_rows, test=more_fresh_rows)
report["shape_na"].value
report.table()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import get_args

import pandas as pd

from bench.datasets.tabular.dataset import Truth
from bench.datasets.tabular.schema import TableSchema
from bench.errors import UsageError
from bench.metrics.tabular.registry import METRICS, Dimension, MetricSpec
from bench.metrics.tabular.together import Inputs, measure
from bench.tasks.tabular.badges import badges
from bench.tasks.tabular.encoding import Encoder
from bench.tasks.tabular.report import Report, Score, distributions_of
from bench.tasks.tabular.task import level_names
from bench.tasks.tabular.truth import KnownTruth, applicable

__all__ = ["METRICS", "MetricSpec", "Report", "Score", "evaluate"]

ORACLE_ROWS = 200_000


def evaluate(
    real_train: pd.DataFrame,
    synthetic: pd.DataFrame,
    *,
    holdout: pd.DataFrame | None = None,
    test: pd.DataFrame | None = None,
    schema: TableSchema | None = None,
    metrics: str | Iterable[str] = "default",
    seed: int = 0,
    device: str = "auto",
    memory_gb: float = 1.0,
    n_jobs: int = 1,
    truth: Truth | None = None,
) -> Report:
    """Measure `synthetic` against the rows that its generator was trained on.

    Parameters
    ----------
    real_train, synthetic
        Frames with the same columns in any order. What is odd about `synthetic` is counted in `Report.remarks`.
    holdout
        As many fresh real rows: privacy metrics need them. test: fresh real rows on which models are tested:
        structure and efficacy need them. A metric whose needs are not met says "not run: needs ...".
    schema
        Kinds of the columns and the target; inferred from all real rows (without a target) if not given.
    metrics
        "default" (all), "light" (those linear in rows), a dimension, or names of metrics.
    memory_gb, n_jobs, device
        Of the nearest-neighbour searches; threads; "auto" is a GPU if there is one.
    truth
        The model behind generated data, as in `TabularDataset.truth`.

    Raises `SchemaError` if a table lacks a column, has an extra one or no rows; `UsageError` for an unknown metric.
    The same arguments give the same values.
    """
    names = _chosen(metrics)
    parts = [frame for frame in (real_train, holdout, test) if frame is not None]
    if schema is None:
        schema = TableSchema.infer(pd.concat(parts, ignore_index=True))
    encoder = Encoder(schema)
    real, synthetic_table = encoder.encode(real_train).table, encoder.encode(synthetic)
    held, tested = (None if f is None else encoder.encode(f).table for f in (holdout, test))
    known = None if truth is None else KnownTruth(truth, encoder, oracle_rows=ORACLE_ROWS, seed=seed)
    inputs = Inputs(
        real=real,
        generated=synthetic_table.table,
        holdout=held,
        test=tested,
        truth=None if known is None else known.about(synthetic_table.table, held),
        rules=encoder.rules(),
        seed=seed,
        device=_device(device),
        memory_bytes=int(memory_gb * 2**30),
    )
    with _threads(n_jobs):
        results = applicable(measure(inputs, names), known)
    sizes = {"real": real, "synthetic": synthetic_table.table, "holdout": held, "test": tested}
    remarks = [("" if i.column is None else str(i.column), i.reason, i.count) for i in synthetic_table.issues]
    remarks += [(label, "identifies rows; not measured", 0) for label in encoder.excluded]
    return Report(
        scores={name: Score.of(name, result) for name, result in results.items()},
        sizes={name: len(table) for name, table in sizes.items() if table is not None},
        badges=badges(real, synthetic_table.table, results.values(), synthetic_table.issues, {}),
        remarks=tuple(remarks),
        distributions=distributions_of(real, synthetic_table.table, level_names(schema, real)),
    )


def _chosen(metrics: str | Iterable[str]) -> tuple[str, ...]:
    if not isinstance(metrics, str):
        names = tuple(metrics)
    elif metrics in ("default", "all"):
        names = tuple(METRICS)
    elif metrics == "light":
        names = tuple(name for name, spec in METRICS.items() if spec.cost == "light")
    elif metrics in get_args(Dimension):
        names = tuple(name for name, spec in METRICS.items() if spec.dimension == metrics)
    else:
        names = (metrics,)
    for name in names:
        if name not in METRICS:
            raise UsageError(f"no tabular metric is called {name!r}; there are {', '.join(METRICS)}")
    return names


def _device(device: str) -> str:
    if device != "auto":
        return device
    import torch

    return "cuda:0" if torch.cuda.is_available() else "cpu"


@contextmanager
def _threads(n_jobs: int) -> Iterator[None]:
    """At most `n_jobs` threads for everything inside; -1 leaves the number as it is."""
    if n_jobs < 1:
        yield
        return
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = torch.get_num_threads()
    torch.set_num_threads(n_jobs)
    try:
        with threadpool_limits(limits=n_jobs):
            yield
    finally:
        torch.set_num_threads(before)
