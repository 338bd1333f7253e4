"""The results store: a folder of Parquet files, written by runs and read by everything else.

    with Store.open("results", create=True).start_run(argv=..., settings=..., plan=...) as run:
        run.add(planned_job, outcome, work_dir)
    current = Store.open("results").current()

The layout is described in `bench.store.layout`, the columns in `bench.schema`.
"""

from bench.store.checking import Problem
from bench.store.layout import Layout
from bench.store.store import Store
from bench.store.writing import RunWriter

__all__ = ["Layout", "Problem", "RunWriter", "Store"]
