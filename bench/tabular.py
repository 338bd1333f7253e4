"""Synthetic tables, measured: `from bench.tabular import evaluate`.

Names are loaded when they are asked for, so that importing the bench stays cheap: `evaluate`, `Report`, `Score`,
`METRICS`, `TableSchema`, `ColumnSpec`, `Constraint`, `SchemaError`.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "evaluate": "bench.tasks.tabular.evaluate",
    "Report": "bench.tasks.tabular.evaluate",
    "Score": "bench.tasks.tabular.evaluate",
    "METRICS": "bench.tasks.tabular.evaluate",
    "TableSchema": "bench.datasets.tabular.schema",
    "ColumnSpec": "bench.datasets.tabular.schema",
    "Constraint": "bench.datasets.tabular.schema",
    "SchemaError": "bench.datasets.tabular.schema",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
