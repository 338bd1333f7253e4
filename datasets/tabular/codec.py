"""The canonical encoder: any table of a schema as one block of numbers and one of codes.

Every metric sees tables in this form only; None, NaN, NaT and `pd.NA` are the same missing value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from bench.datasets.tabular.columns import LEVELS, ColumnSpec
from bench.datasets.tabular.reading import MISSING, read_levels, read_numbers
from bench.datasets.tabular.schema import Issue, SchemaError, TableSchema


@dataclass(frozen=True, slots=True, eq=False)
class EncodedColumns:
    """n rows. `numbers` float64 (n, p): numeric, integer and datetime columns in the schema's order, NaN missing,
    less each column's offset, times in seconds. `codes` int32 (n, q): categorical, ordinal and boolean
    columns; 0..K-1 known, K unseen, -1 missing. `issues` is what `TableSchema.validate` says of the table.
    """

    numbers: npt.NDArray[np.float64]
    codes: npt.NDArray[np.int32]
    issues: tuple[Issue, ...]

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Where a value is missing, (n, p + q), numbers first."""
        return np.hstack([np.isnan(self.numbers), self.codes == MISSING])


class TableCodec:
    """Encodes tables of `schema`; columns of kind id are left out.

    `columns` are the encoded columns in the schema's order, `labels` their names as distinct texts.
    """

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        pairs = zip(schema.columns, schema.labels, strict=True)
        kept = [(column, label) for column, label in pairs if column.kind != "id"]
        self.columns: tuple[ColumnSpec, ...] = tuple(column for column, _ in kept)
        self.labels: tuple[str, ...] = tuple(label for _, label in kept)

    def encode(self, df: pd.DataFrame, *, rows: int | None = None) -> EncodedColumns:
        """`df` (columns in any order) as numbers and codes; `SchemaError` if `validate` finds it fatal."""
        issues = tuple(self.schema.validate(df, rows=rows))
        for issue in issues:
            if issue.fatal:
                raise SchemaError(issue.column, issue.reason)
        aligned = self.schema.align(df)
        numbers, codes = [], []
        for position, spec in enumerate(self.schema.columns):
            if spec.kind in LEVELS:
                codes.append(read_levels(aligned.iloc[:, position], spec).codes)
            elif spec.kind != "id":
                numbers.append(read_numbers(aligned.iloc[:, position], spec).values)
        return EncodedColumns(
            np.column_stack(numbers) if numbers else np.empty((len(df), 0)),
            np.column_stack(codes) if codes else np.empty((len(df), 0), np.int32),
            issues,
        )
