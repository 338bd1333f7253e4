"""The schema of a table: inferred once from real data, stored as JSON, the yardstick for synthetic tables.

schema = TableSchema.infer(real, target="income")
schema.require(synthetic, rows=len(real))
text = schema.to_json()
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import pandas as pd

from bench.datasets.tabular.columns import (
    KINDS,
    LEVELS,
    ColumnSpec,
    Kind,
    UnusableColumn,
    infer_column,
)
from bench.datasets.tabular.values import value_from_json, value_to_json
from bench.errors import UsageError

__all__ = ["ColumnSpec", "Constraint", "Issue", "Kind", "SchemaError", "TableSchema"]

ConstraintKind = Literal["fd", "inequality", "missing_together", "range", "in_set"]
TaskKind = Literal["binary", "multiclass", "regression"]
_FORMAT = 1


class SchemaError(UsageError, ValueError):
    """A table does not fit its schema, or no schema can be made of it."""

    def __init__(self, column: Hashable | None, reason: str) -> None:
        self.column = column  # None: the table as a whole
        self.reason = reason
        super().__init__(reason if column is None else f"column {column!r}: {reason}")


@dataclass(frozen=True, slots=True)
class Issue:
    """Something found in a table: `fatal` if it can't be scored, else counted in rows (0: not in rows)."""

    column: Hashable | None  # None: the table as a whole
    reason: str
    fatal: bool = False
    count: int = 0


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule of the table; `params` are JSON values.

    fd: the first columns determine the last. inequality: first <= second. missing_together: missing in the
    same rows. range: params "low", "high". in_set: params "values".
    """

    kind: ConstraintKind
    columns: tuple[Hashable, ...]
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in get_args(ConstraintKind):
            raise SchemaError(None, f"constraint kind {self.kind!r}; use one of {get_args(ConstraintKind)}")


@dataclass(frozen=True, slots=True)
class TableSchema:
    """Columns in order, the target if there is one, the task it poses, and declared rules.

    Names are whatever the frame has: text of any length, numbers, tuples, even twice the same; the k-th
    column of a name in one table is the k-th of that name in another.
    """

    columns: tuple[ColumnSpec, ...]
    target: Hashable | None = None
    task: TaskKind | None = None
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        names = self.names
        if self.target is not None and names.count(self.target) != 1:
            found = "no column" if self.target not in names else f"{names.count(self.target)} columns"
            raise SchemaError(self.target, f"cannot be the target: {found} of that name")
        for constraint in self.constraints:
            for name in constraint.columns:
                if name not in names:
                    raise SchemaError(name, f"named by a constraint ({constraint.kind}), but there is none")
        for column in self.columns:
            if column.kind not in KINDS or (column.categories is None) == (column.kind in LEVELS):
                raise SchemaError(column.name, f"kind {column.kind!r} with categories {column.categories!r}")

    @classmethod
    def infer(
        cls,
        df: pd.DataFrame,
        target: Hashable | None = None,
        *,
        max_int_categories: int = 20,
        id_unique_share: float = 0.95,
        kinds: Mapping[Hashable, Kind] | None = None,
        constraints: Iterable[Constraint] = (),
    ) -> TableSchema:
        """The schema of real data; see `infer_column` for the rules. `kinds` fixes the kind of some columns.

        The target is never an id. Raises `SchemaError` for a column that holds lists, complex numbers or
        the like, and for a target or a key of `kinds` that is not there.
        """
        fixed = dict(kinds or {})
        for name in fixed:
            if name not in list(df.columns):
                raise SchemaError(name, "has a fixed kind, but there is no column of that name")
        columns = []
        for position, name in enumerate(df.columns):
            share = 1.0 if target is not None and name == target else id_unique_share
            try:
                column = infer_column(
                    df.iloc[:, position],
                    name,
                    kind=fixed.get(name),
                    max_int_categories=max_int_categories,
                    id_unique_share=share,
                )
            except UnusableColumn as error:
                raise SchemaError(name, str(error)) from error
            columns.append(column)
        schema = cls(tuple(columns), target, None, tuple(constraints))
        return replace(schema, task=schema._task())

    def _task(self) -> TaskKind | None:
        if self.target is None:
            return None
        spec = self.column(self.target)
        if spec.categories is None:
            return "regression"
        return "binary" if len(spec.categories) <= 2 else "multiclass"

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    @property
    def labels(self) -> tuple[str, ...]:
        """Column names as distinct texts, for metrics, files and pages: ("a", "a.2", "7")."""
        found: dict[str, None] = {}
        for name in self.names:
            label, times = str(name), 1
            while label in found:
                times += 1
                label = f"{name}.{times}"
            found[label] = None
        return tuple(found)

    def column(self, name: Hashable) -> ColumnSpec:
        """The (first) column called `name`; `SchemaError` if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(name, "is not in the schema")

    def without_ids(self) -> TableSchema:
        """The schema of the columns that are modelled and measured: all but those of kind id."""
        kept = tuple(column for column in self.columns if column.kind != "id")
        names = {column.name for column in kept}
        return replace(
            self,
            columns=kept,
            constraints=tuple(c for c in self.constraints if names.issuperset(c.columns)),
        )

    def validate(self, df: Any, *, rows: int | None = None) -> list[Issue]:
        """All that is wrong or odd about `df`, fatal issues first; never raises.

        `rows` is the number of rows there should be (None: any but zero).
        """
        from bench.datasets.tabular.checks import find_issues

        return find_issues(self, df, rows=rows)

    def require(self, df: Any, *, rows: int | None = None) -> None:
        """Raise `SchemaError` for the first fatal issue, if there is one."""
        for issue in self.validate(df, rows=rows):
            if issue.fatal:
                raise SchemaError(issue.column, issue.reason)

    def align(self, df: pd.DataFrame) -> pd.DataFrame:
        """The schema's columns of `df` in the schema's order, rows numbered from 0; a new frame.

        Raises `SchemaError` if a column is missing or there is one too many.
        """
        from bench.datasets.tabular.checks import fatal_issues, positions

        for issue in fatal_issues(self, df, rows=None):
            if issue.column is not None:
                raise SchemaError(issue.column, issue.reason)
        return df.iloc[:, positions(self, df)].reset_index(drop=True)

    def to_json(self) -> str:
        """JSON text from which `from_json` makes an equal schema, types of categories included."""
        return json.dumps(
            {
                "format": _FORMAT,
                "columns": [_column_to_json(column) for column in self.columns],
                "target": None if self.target is None else value_to_json(self.target),
                "task": self.task,
                "constraints": [
                    {
                        "kind": constraint.kind,
                        "columns": [value_to_json(name) for name in constraint.columns],
                        "params": dict(constraint.params),
                    }
                    for constraint in self.constraints
                ],
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> TableSchema:
        """Inverse of `to_json`; `SchemaError` if the text is no schema."""
        try:
            data = json.loads(text)
            if data["format"] != _FORMAT:
                raise SchemaError(None, f"schema format {data['format']!r}; this version reads {_FORMAT}")
            return cls(
                tuple(_column_from_json(column) for column in data["columns"]),
                None if data["target"] is None else value_from_json(data["target"]),
                data["task"],
                tuple(
                    Constraint(c["kind"], tuple(value_from_json(n) for n in c["columns"]), c["params"])
                    for c in data["constraints"]
                ),
            )
        except (KeyError, TypeError, StopIteration, json.JSONDecodeError) as error:
            raise SchemaError(None, f"not the JSON of a schema ({type(error).__name__}: {error})") from error


def _column_to_json(column: ColumnSpec) -> dict[str, Any]:
    levels = column.categories
    return {
        "name": value_to_json(column.name),
        "kind": column.kind,
        "categories": None if levels is None else [value_to_json(level) for level in levels],
        "nullable": column.nullable,
        "decimals": column.decimals,
        "offset": column.offset,
    }


def _column_from_json(data: Mapping[str, Any]) -> ColumnSpec:
    levels = data["categories"]
    return ColumnSpec(
        value_from_json(data["name"]),
        data["kind"],
        None if levels is None else tuple(value_from_json(level) for level in levels),
        data["nullable"],
        data["decimals"],
        data["offset"],
    )
