"""Reading columns from Parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bench.artifacts.files import open_plain
from bench.errors import InvalidOutput

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

Kind = Literal["float", "int", "bool", "text"]
MAX_TABLE_BYTES = 4 * 2**30
MAX_ROWS = 50_000_000


def load_parquet(
    path: Path,
    columns: Mapping[str, Kind],
    *,
    max_rows: int = MAX_ROWS,
    max_bytes: int = MAX_TABLE_BYTES,
) -> dict[str, np.ndarray]:
    """`columns` of `path` as float64[n], int64[n], bool[n] or an object array of str; all without gaps.

    Row groups are read one by one and their unpacked sizes added up, so a small file cannot unpack to more
    than about `max_bytes`. Whole numbers are taken for floats, nothing else is converted. Raises
    `InvalidOutput` naming the file, the column, and the first row (counted from 0) with an empty or
    non-finite value.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_plain(path, max_bytes) as file:
        try:
            reader = pq.ParquetFile(file)
            _check_shape(reader, path.name, columns, max_rows)
            parts, size = [], 0
            for group in range(reader.num_row_groups):
                for batch in reader.iter_batches(2**16, row_groups=[group], columns=list(columns)):
                    size += batch.nbytes
                    if size > max_bytes:
                        raise InvalidOutput(f"{path.name} unpacks to more than {max_bytes} bytes")
                    parts.append(batch)
        except (InvalidOutput, MemoryError):
            raise
        except Exception as error:  # ArrowInvalid, OSError, and whatever a forged file provokes
            message = f"{path.name} can't be read as Parquet: {type(error).__name__}: {error}"
            raise InvalidOutput(message) from error
    schema = reader.schema_arrow
    table = pa.Table.from_batches(parts, pa.schema([schema.field(name) for name in columns]))
    return {
        name: np.asarray(_values(table[name], kind, f"{path.name}[{name}]")) for name, kind in columns.items()
    }


def _check_shape(reader: Any, file: str, columns: Mapping[str, Kind], max_rows: int) -> None:
    import pyarrow as pa

    if reader.metadata.num_rows > max_rows:
        raise InvalidOutput(f"{file} has {reader.metadata.num_rows} rows; at most {max_rows} are read")
    fits = {
        "float": lambda t: pa.types.is_floating(t) or pa.types.is_integer(t),
        "int": pa.types.is_integer,
        "bool": pa.types.is_boolean,
        "text": lambda t: pa.types.is_string(t) or pa.types.is_large_string(t),
    }
    names = reader.schema_arrow.names
    for name, kind in columns.items():
        if names.count(name) != 1:
            raise InvalidOutput(f"{file} lacks the column {name!r}, or has it twice; it has {names[:50]}")
        came = reader.schema_arrow.field(name).type
        if not fits[kind](came):
            raise InvalidOutput(f"{file}[{name}] holds {came}; expected {kind}")


def _values(column: pa.ChunkedArray, kind: Kind, label: str) -> np.ndarray:
    import numpy as np

    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise InvalidOutput(f"{label} is empty in row {row}; {column.null_count} values are missing")
    if kind == "text":
        return _texts(column, label)
    values: np.ndarray = column.to_numpy()
    if kind == "int":
        if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
            raise InvalidOutput(f"{label} holds whole numbers above 2^63 - 1 in row {int(values.argmax())}")
        return values.astype(np.int64)
    if kind == "bool":
        return values.astype(bool)
    values = values.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InvalidOutput(
            f"{label} is {values[bad[0]]} in row {int(bad[0])}; {bad.size} values are not finite"
        )
    return values


def _texts(column: pa.ChunkedArray, label: str) -> np.ndarray:
    """Parquet only promises UTF-8."""
    import numpy as np
    import pyarrow as pa

    texts = np.empty(len(column), dtype=object)
    for row, raw in enumerate(column.cast(pa.large_binary()).to_pylist()):
        try:
            texts[row] = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidOutput(f"{label} is not UTF-8 in row {row}, at byte {error.start}") from None
    return texts
