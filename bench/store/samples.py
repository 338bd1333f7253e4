"""Per-sample scores: from the npz a score leaves to a Parquet file of the store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.errors import InvalidOutput
from bench.store import atomic


def store_samples(source: Path, target: Path, metadata: Mapping[str, str]) -> None:
    """Write `source` (npz: `sample_ids` int64[n] or str[n], float32[n] per metric) to `target`.

    Raises `InvalidOutput` if the file is not that, `StoreError` if the store cannot be written.
    """
    table = _as_table(source).replace_schema_metadata(dict(metadata))
    atomic.write_file(target, lambda file: pq.write_table(table, file, compression="zstd"))


def _as_table(source: Path) -> pa.Table:
    try:
        with np.load(source, allow_pickle=False) as arrays:
            ids = arrays["sample_ids"]
            scores = {name: arrays[name] for name in arrays.files if name != "sample_ids"}
    except (OSError, ValueError, KeyError, EOFError, Exception) as error:
        raise InvalidOutput(f"sample scores {source.name!r} cannot be read: {error}") from error
    for name, values in {"sample_ids": ids, **scores}.items():
        if values.shape != (len(ids),):
            raise InvalidOutput(f"sample scores {name!r} have shape {values.shape}, expected ({len(ids)},)")
    kind = pa.int64() if ids.dtype.kind in "iu" else pa.string()
    columns = {"sample_id": pa.array(ids if kind == pa.int64() else [str(i) for i in ids], kind)}
    columns |= {name: pa.array(values.astype(np.float32)) for name, values in sorted(scores.items())}
    return pa.table(columns)
