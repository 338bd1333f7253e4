"""The synthetic table as a file: written by us, or by anyone, and always read as untrusted input."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bench.artifacts.files import open_plain
from bench.datasets.tabular.columns import LEVELS
from bench.datasets.tabular.schema import ColumnSpec, SchemaError, TableSchema
from bench.datasets.tabular.values import value_from_json, value_to_json
from bench.errors import InvalidOutput
from bench.spec import Artifact

PARQUET_FILE, CSV_FILE = "synthetic.parquet", "synthetic.csv"
MAX_BYTES = 2**30
_TYPED = {b"values": b"json"}  # marks a column of values of several types, each written as JSON
_BATCH = 2**14
_MISSING_WORDS = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>", "NaT"})
_NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


def write_table(frame: pd.DataFrame, schema: TableSchema, path: Path) -> None:
    """Write the schema's columns of `frame`, named by their labels; no value changes its type.

    Raises `InvalidOutput` for a value that stands for nothing (a list, an array, a complex number).
    """
    aligned = schema.align(frame)
    arrays, fields = [], []
    for position, label in enumerate(schema.labels):
        column = aligned.iloc[:, position]
        array, marks = _arrow(column, label)
        arrays.append(array)
        fields.append(pa.field(label, array.type, metadata=marks))
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), path)


def _arrow(column: pd.Series[Any], label: str) -> tuple[Any, dict[bytes, bytes] | None]:
    """The column as an Arrow array; as JSON texts where it mixes types or has one that Arrow lacks."""
    if isinstance(column.dtype, pd.SparseDtype):
        column = pd.Series(column.array.to_dense())
    try:
        array = pa.array(column, from_pandas=True)
        if not isinstance(array, pa.ChunkedArray) and _readable(array.type):
            return array, None
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    try:
        codes, distinct = pd.factorize(column.astype(object))
        texts = [json.dumps(value_to_json(value)) for value in distinct]
    except (TypeError, ValueError) as error:
        raise InvalidOutput(f"column {label!r} holds what no table may hold: {error}") from None
    return pa.array([None if code < 0 else texts[code] for code in codes], pa.string()), _TYPED


def read_table(artifact: Artifact, schema: TableSchema, *, rows: int | None = None) -> pd.DataFrame:
    """The synthetic table of `artifact` with the schema's columns, `rows` of them if that is given.

    Raises `InvalidOutput` naming the file, the column and the cause.
    """
    forms = [name for name in (PARQUET_FILE, CSV_FILE) if name in artifact.names()]
    if not forms:
        came = ", ".join(artifact.names()[:10]) or "no file"
        raise InvalidOutput(f"the artifact needs {PARQUET_FILE} or {CSV_FILE}; it has {came}")
    if len(forms) > 1:
        raise InvalidOutput(f"the artifact has both {PARQUET_FILE} and {CSV_FILE}; hand in one of them")
    read = read_parquet if forms[0] == PARQUET_FILE else read_csv
    try:
        frame = read(artifact.path(forms[0]), schema)
        schema.require(frame, rows=rows)
    except SchemaError as error:
        raise InvalidOutput(f"{forms[0]}: {error}") from None
    return frame


def read_parquet(path: Path, schema: TableSchema, *, max_bytes: int = MAX_BYTES) -> pd.DataFrame:
    """Columns named by the schema's labels; sizes are added up while reading, types are limited to plain ones."""
    with open_plain(path, max_bytes) as file:
        try:
            reader = pq.ParquetFile(file)
            _check_columns(reader.schema_arrow, path.name, schema)
            parts, size = [], 0
            for batch in reader.iter_batches(_BATCH, columns=list(schema.labels)):
                size += batch.nbytes
                if size > max_bytes:
                    raise InvalidOutput(f"{path.name} unpacks to more than {max_bytes} bytes")
                parts.append(batch)
            wanted = pa.schema([reader.schema_arrow.field(name) for name in schema.labels])
            table = pa.Table.from_batches(parts, wanted)
            columns = [
                _pandas(table.column(i), wanted.field(i), f"{path.name}[{wanted.field(i).name}]")
                for i in range(len(wanted))
            ]
        except (InvalidOutput, SchemaError, MemoryError):
            raise
        except Exception as error:  # ArrowInvalid, OSError, and whatever a forged file provokes
            raise InvalidOutput(
                f"{path.name} can't be read as Parquet: {type(error).__name__}: {error}"
            ) from error
    return _named(columns, schema, table.num_rows)


def _check_columns(found: pa.Schema, file: str, schema: TableSchema) -> None:
    names = list(found.names)
    for label in schema.labels:
        if names.count(label) != 1:
            raise SchemaError(label, f"is missing, or there twice; the table has {names[:20]}")
    extra = [name for name in names if name not in schema.labels]
    if extra:
        raise SchemaError(extra[0], "is not in the schema")
    for field in found:
        if not _readable(field.type):
            raise InvalidOutput(
                f"{file}[{field.name}] holds {field.type}; use numbers, texts, booleans or times"
            )


def _readable(kind: pa.DataType) -> bool:
    types = pa.types
    if types.is_dictionary(kind):
        return not types.is_dictionary(kind.value_type) and _readable(kind.value_type)
    tests = (
        types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string,
        types.is_timestamp, types.is_date, types.is_duration, types.is_null,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def _pandas(column: pa.ChunkedArray, field: pa.Field, label: str) -> pd.Series[Any]:
    if (field.metadata or {}).get(b"values") == b"json" and pa.types.is_string(field.type):
        return _typed(column, label)
    mapper = _NULLABLE.get if column.null_count else None
    series: pd.Series[Any] = column.to_pandas(types_mapper=mapper)
    return series


def _typed(column: pa.ChunkedArray, label: str) -> pd.Series[Any]:
    """Values of several types; each distinct text is read once."""
    codes, distinct = pd.factorize(pd.Series(column.to_pylist(), dtype=object))
    try:
        values = [value_from_json(json.loads(text)) for text in distinct]
    except Exception as error:  # a forged text may break any of the readers
        raise InvalidOutput(f"{label} holds a text that is no value: {type(error).__name__}") from None
    return pd.Series([None if code < 0 else values[code] for code in codes], dtype=object)


def read_csv(path: Path, schema: TableSchema, *, max_bytes: int = MAX_BYTES) -> pd.DataFrame:
    """A comma-separated UTF-8 file with a header. Texts become what the schema's columns hold, where they can."""
    with open_plain(path, max_bytes) as file:
        try:
            raw = pd.read_csv(
                file, header=None, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8"
            )
        except (InvalidOutput, MemoryError):
            raise
        except Exception as error:  # ParserError, UnicodeDecodeError, EmptyDataError
            raise InvalidOutput(
                f"{path.name} can't be read as CSV: {type(error).__name__}: {error}"
            ) from error
    header = [str(name) for name in raw.iloc[0]]
    _check_columns(pa.schema([pa.field(name, pa.string()) for name in header]), path.name, schema)
    body = raw.iloc[1:].reset_index(drop=True)
    columns = [
        from_text(body.iloc[:, header.index(label)], spec)
        for spec, label in zip(schema.columns, schema.labels, strict=True)
    ]
    return _named(columns, schema, len(body))


def from_text(column: pd.Series[Any], spec: ColumnSpec) -> pd.Series[Any]:
    """Texts as values of `spec`: numbers if all are, known levels by their text; whatever else stays a text."""
    column = column.astype(object)
    levels = {str(level): level for level in spec.categories or ()}
    gaps = column.isin(_MISSING_WORDS - levels.keys())
    if spec.kind in LEVELS:
        distinct = {text: _level(text, levels) for text in pd.unique(column[~gaps])}
        return column.map(distinct).where(~gaps, None)
    column = column.where(~gaps, None)
    if spec.kind in ("datetime", "id"):
        return column
    try:
        if spec.kind == "integer":
            return pd.Series(pd.array([None if v is None else int(v) for v in column], dtype="Int64"))
        return pd.Series(pd.to_numeric(column), dtype="float64")
    except (ValueError, TypeError, OverflowError):
        pass
    try:
        return pd.Series(pd.to_numeric(column), dtype="float64")  # whole numbers written as 3.0
    except (ValueError, TypeError, OverflowError):
        return column


def _level(text: str, levels: dict[str, Hashable]) -> Hashable:
    """The known level that `text` writes: exactly, as a boolean, or as an equal number; else the text."""
    if text in levels:
        return levels[text]
    known = set(levels.values())
    value: Hashable = {"true": True, "false": False}.get(text.lower())
    if value is None:
        try:
            value = float(text)
        except ValueError:
            return text
    return value if value in known and not isinstance(value, str) else text


def _named(columns: list[pd.Series[Any]], schema: TableSchema, rows: int) -> pd.DataFrame:
    frame = (
        pd.concat([c.reset_index(drop=True) for c in columns], axis=1)
        if columns
        else pd.DataFrame(index=range(rows))
    )
    frame.columns = pd.Index(list(schema.names), dtype=object, tupleize_cols=False)
    return frame
