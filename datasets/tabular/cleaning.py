"""Repairs of what file formats did to a table, before its schema is inferred."""

from __future__ import annotations

import numpy as np
import pandas as pd
from pandas.api import types as dtypes


def repaired(frame: pd.DataFrame) -> pd.DataFrame:
    """Whole numbers stored as floats become integers, nullable where values are missing.

    Float64 values that were single precision once (2.0399999618530273) become what was typed (2.04).
    """
    return pd.DataFrame({name: _repaired(frame[name]) for name in frame.columns})


def _repaired(column: pd.Series) -> pd.Series:
    if not dtypes.is_float_dtype(column.dtype):
        return column
    values = column.to_numpy(dtype=np.float64)
    present = values[~np.isnan(values)]
    if not len(present) or not np.isfinite(present).all():
        return column
    if (present == np.floor(present)).all() and np.abs(present).max() < 2**53:
        return column.astype("Int64") if len(present) < len(values) else column.astype(np.int64)
    if (present.astype(np.float32) == present).all():
        distinct, codes = np.unique(values, return_inverse=True)
        typed = np.array([float(str(value)) for value in distinct.astype(np.float32)])
        return pd.Series(typed[codes], index=column.index)
    return column.astype(np.float64)
