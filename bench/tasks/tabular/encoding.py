"""Frames as the encoded tables that the metrics take, and back; declared constraints as their rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bench.datasets.tabular.codec import TableCodec
from bench.datasets.tabular.columns import NUMBERS
from bench.datasets.tabular.schema import Constraint, Issue, SchemaError, TableSchema
from bench.metrics.tabular.constraints import Rule
from bench.metrics.tabular.table import Column, EncodedTable


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A table and what its schema found odd about it."""

    table: EncodedTable
    issues: tuple[Issue, ...]


class Encoder:
    """Encodes frames of one schema; columns of kind id are left out."""

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        self._codec = TableCodec(schema)
        specs = self._codec.columns
        if not specs:
            raise SchemaError(None, "every column is an id; there is nothing to measure")
        self.columns = tuple(
            Column(
                label,
                spec.kind,  # type: ignore[arg-type]
                levels=len(spec.categories or ()),
                decimals=0 if spec.kind == "integer" else spec.decimals,
            )
            for spec, label in zip(specs, self._codec.labels, strict=True)
        )
        names = [spec.name for spec in specs]
        self.target = None if schema.target is None else names.index(schema.target)

    @property
    def excluded(self) -> tuple[str, ...]:
        """Labels of the columns that are left out because they identify rows."""
        pairs = zip(self.schema.columns, self.schema.labels, strict=True)
        return tuple(label for column, label in pairs if column.kind == "id")

    def encode(self, frame: pd.DataFrame, *, rows: int | None = None) -> Encoded:
        """`frame` (columns in any order) as a table; `SchemaError` if it can't be scored."""
        found = self._codec.encode(frame, rows=rows)
        table = EncodedTable(self.columns, found.numbers, found.codes, self.target)
        return Encoded(table, found.issues)

    def decode(self, table: EncodedTable) -> pd.DataFrame:
        """The encoded columns as floats and categories, by label; unseen levels are missing."""
        parts: dict[str, Any] = {}
        for j, spec in enumerate(self._codec.columns):
            values = table.values(j)
            if spec.kind in NUMBERS:
                parts[self.columns[j].name] = values + spec.offset
                continue
            levels = list(spec.categories or ())
            known = np.where(values < len(levels), values, -1)
            parts[self.columns[j].name] = pd.Categorical.from_codes(known, categories=pd.Index(levels))
        return pd.DataFrame(parts)

    def rules(self) -> list[Rule] | None:
        """The declared constraints; None if there are none, so that rules are mined."""
        kept = {spec.name for spec in self._codec.columns}
        declared = [c for c in self.schema.constraints if kept.issuperset(c.columns)]
        return [self._rule(c) for c in declared] or None

    def _rule(self, constraint: Constraint) -> Rule:
        specs = {spec.name: (j, spec) for j, spec in enumerate(self._codec.columns)}
        places = tuple(specs[name][0] for name in constraint.columns)
        spec = specs[constraint.columns[0]][1]
        if constraint.kind == "range":
            ends = (constraint.params["low"] - spec.offset, constraint.params["high"] - spec.offset)
            return Rule("range", places[:1], tuple(map(float, ends)))
        if constraint.kind == "in_set":
            levels = list(spec.categories or ())
            values = constraint.params["values"]
            known = [levels.index(v) for v in values if v in levels] if levels else values
            return Rule("in_set", places[:1], tuple(float(v) for v in known))
        if constraint.kind == "inequality" and spec.offset != specs[constraint.columns[1]][1].offset:
            raise SchemaError(spec.name, "is beyond 2^53; it can't be compared with another column")
        kinds: dict[str, Any] = {"fd": "determines", "inequality": "at_most"}
        return Rule(kinds.get(constraint.kind, constraint.kind), places)
