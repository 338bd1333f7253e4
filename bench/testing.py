"""Help for tests of engines: work orders for the models of the family `selftest`."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.plan import Selection, make_plan
from bench.registry import builtin
from bench.spec import Resources
from bench.work import WorkOrder


def build_order(
    name: str, root: Path, /, *, repeat: int = 0, limits: Resources | None = None, **fields: Any
) -> WorkOrder:
    """An order for the model `selftest-<name>`, working in a new folder below `root`.

    `fields` replace fields of the order.
    """
    selection = Selection(
        suites=("selftest",), models=(f"selftest-{name}",), size="tiny", repeats=repeat + 1, gpus=1
    )
    planned = next(p for p in make_plan(builtin(), selection, past=()).jobs if p.job.repeat == repeat)
    if limits is not None:
        planned = replace(planned, job=replace(planned.job, resources=limits))
    work_dir = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=root))
    order = planned.order(
        device="cpu",
        work_dir=work_dir,
        cache_dir=root / "cache",
        log_path=root / "logs" / f"{work_dir.name}.log",
    )
    return replace(order, **fields)
