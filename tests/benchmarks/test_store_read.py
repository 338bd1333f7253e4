"""How long reading results takes: 36,000 metric rows, compacted and in many parts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.schema import METRICS
from bench.store import Store

N_MODELS, N_TASKS, N_REPEATS, N_METRICS = 40, 60, 5, 3


def _metrics() -> pa.Table:
    """40 models x 60 tasks x 5 repeats x 3 metrics."""
    n = N_MODELS * N_TASKS * N_REPEATS * N_METRICS
    number = np.arange(n)
    job, metric = np.divmod(number, N_METRICS)
    cell, repeat = np.divmod(job, N_REPEATS)
    model, task = np.divmod(cell, N_TASKS)
    values: dict[str, Any] = {
        "record_id": [f"{i:032x}" for i in number],
        "job_key": [f"{i:064x}" for i in job],
        "run_id": ["20250101T000000Z-abcdef"] * n,
        "attempt": np.ones(n, np.int16),
        "model": [f"model-{i}" for i in model],
        "task": [f"family.task-{i}" for i in task],
        "repeat": repeat,
        "metric": [f"metric_{i}" for i in metric],
        "value": np.random.default_rng(0).normal(size=n),
    }
    return pa.table(
        [_column(f, values.get(f.name), n) for f in METRICS],
        schema=METRICS,
    )


def _column(field: pa.Field, values: Any, n: int) -> pa.Array:
    if values is None:
        return pa.nulls(n, field.type)
    if pa.types.is_dictionary(field.type):
        return pa.array(values, pa.string()).dictionary_encode().cast(field.type)
    return pa.array(values, field.type)


@pytest.fixture(params=[1, 300], ids=["compacted", "300-parts"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    store = Store.open(tmp_path / "r", create=True)
    table = _metrics()
    rows = table.num_rows // request.param
    folder = store.path / ("compact" if request.param == 1 else "parts/metrics")
    folder.mkdir(parents=True)
    for part in range(request.param):
        name = f"metrics.{part:06d}.parquet"
        pq.write_table(table.slice(part * rows, rows), folder / name, compression="zstd")
    return store


@pytest.mark.benchmark(group="store", timer=time.process_time, warmup=True, min_rounds=3, max_time=0.5)
def test_read_36000_metric_rows(benchmark: Any, store: Store) -> None:
    table = benchmark(store.read, "metrics")
    assert table.num_rows == N_MODELS * N_TASKS * N_REPEATS * N_METRICS
    assert table.schema == METRICS
