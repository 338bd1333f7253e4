"""The 45 data sets of TabArena from OpenML: description, data file, checksum, types.

Files are looked for in the mirror and the cache before anything is downloaded: `openml/data-ID.json`,
then `openml/data-ID.arff` or `.parquet`. An ARFF file must have the MD5 that the description carries;
Parquet, for which there is none, is recorded on first use (see `bench.datasets.cache`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.datasets import cache
from bench.datasets.tabular.dataset import Card, TabularDataset, make_dataset
from bench.datasets.tabular.tabarena import TABARENA, OpenMLTable
from bench.errors import MissingRequirement

if TYPE_CHECKING:
    import pandas as pd

    from bench.datasets.tabular.schema import Kind

GROUP = "openml"
_SERVER = "https://www.openml.org"
_MAX_DESCRIPTION, _MAX_DATA = 2**22, 2**30


def name_of(table: OpenMLTable) -> str:
    """The name of the data set here: "openml-" and the lower-case OpenML name."""
    return f"openml-{re.sub(r'[^a-z0-9._-]', '_', table.name.lower())}"


TABLES: dict[str, OpenMLTable] = {name_of(table): table for table in TABARENA}


def card(name: str) -> Card:
    """The card of the data set `name`."""
    table = TABLES[name]
    return Card(
        name=name,
        title=table.name.replace("_", " "),
        summary=f"{table.task} on {table.rows:,} rows and {table.columns:,} columns; origin: {table.source}.",
        source=f"OpenML data set {table.dataset_id} (task {table.task_id})",
        licence=table.licence,
        citation=f"{table.name} ({table.year}), {table.source}; curated for N. Erickson et al. (2025), TabArena",
        sha256="",
        rows=table.rows,
        columns=table.columns,
        target=table.target,
        url=table.url,
        notes=f"The content is checked by the MD5 that OpenML states for data set {table.dataset_id}.",
    )


def absence(name: str) -> str | None:
    """None if the data set is in the mirror or the cache, or may be downloaded; else reason and remedy."""
    number = TABLES[name].dataset_id
    if cache.is_near(_arff(number, "")) or cache.is_near(_parquet(number, "")):
        return cache.locate(_description(number))
    return cache.locate(_arff(number, f"{_SERVER}/d/{number}"))


def load(name: str) -> TabularDataset:
    """The table with OpenML's types; `MissingRequirement` if it cannot be had or is not what was announced."""
    table = TABLES[name]
    about = _description_of(table)
    frame = _read(table, about)
    dropped = {*_listed(about.get("ignore_attribute")), *_listed(about.get("row_id_attribute"))}
    frame = frame.drop(columns=[column for column in frame.columns if column in dropped])
    if table.target not in frame.columns:
        raise MissingRequirement(f"OpenML data set {table.dataset_id} has no column {table.target!r}")
    frame, kinds = _typed(frame)
    return make_dataset(card(name), frame, kinds=kinds)


def _description_of(table: OpenMLTable) -> dict[str, Any]:
    """What OpenML says of the data set; it must be the one that is meant."""
    path = cache.fetch(_description(table.dataset_id))
    try:
        about = json.loads(path.read_text(encoding="utf-8"))["data_set_description"]
        found = (int(about["id"]), str(about["name"]))
    except (ValueError, KeyError, TypeError) as error:
        raise MissingRequirement(f"{path}: not an OpenML description ({error!r}); remove it") from error
    if found != (table.dataset_id, table.name):
        raise MissingRequirement(f"{path}: describes {found}, expected {(table.dataset_id, table.name)}")
    return dict(about)


def _read(table: OpenMLTable, about: Mapping[str, Any]) -> pd.DataFrame:
    """The data file: the checksummed one of the description, or Parquet from mirror or cache."""
    import pandas as pd

    from bench.datasets.tabular.arff import read_arff

    url = str(about.get("url") or "")
    as_parquet = str(about.get("format", "")).lower() == "parquet"
    arff, parquet = _arff(table.dataset_id, url), _parquet(table.dataset_id, url)
    if as_parquet or (cache.is_near(parquet) and not cache.is_near(arff)):
        path = cache.fetch(parquet)
        if as_parquet:
            _check_md5(path, about)
        return pd.read_parquet(path)
    path = cache.fetch(arff)
    _check_md5(path, about)
    with path.open(encoding="utf-8", newline=None) as stream:
        return read_arff(stream, str(path))


def _check_md5(path: Path, about: Mapping[str, Any]) -> None:
    expected = str(about.get("md5_checksum") or "")
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "md5").hexdigest()
    if found != expected:
        raise MissingRequirement(f"{path}: has MD5 {found}, OpenML states {expected or 'none'}; remove it")


def _typed(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[Hashable, Kind]]:
    """OpenML's types as kinds: numeric columns stay numbers however few their values are."""
    from pandas.api import types as dtypes

    from bench.datasets.tabular.cleaning import repaired

    numeric = [name for name in frame.columns if dtypes.is_numeric_dtype(frame[name].dtype)]
    numeric = [name for name in numeric if not dtypes.is_bool_dtype(frame[name].dtype)]
    frame = repaired(frame)
    kinds: dict[Hashable, Kind] = {
        name: "integer" if dtypes.is_integer_dtype(frame[name].dtype) else "numeric" for name in numeric
    }
    return frame, kinds


def _listed(value: Any) -> list[str]:
    """A field that OpenML gives as text, as a list or not at all."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return [str(part) for part in value or []]


def _description(number: int) -> cache.RemoteFile:
    server = os.environ.get("BENCH_OPENML", _SERVER).rstrip("/")
    return _remote(f"data-{number}.json", f"{server}/api/v1/json/data/{number}", _MAX_DESCRIPTION)


def _arff(number: int, url: str) -> cache.RemoteFile:
    return _remote(f"data-{number}.arff", url, _MAX_DATA)


def _parquet(number: int, url: str) -> cache.RemoteFile:
    return _remote(f"data-{number}.parquet", url, _MAX_DATA)


def _remote(name: str, url: str, limit: int) -> cache.RemoteFile:
    return cache.RemoteFile(name=name, group=GROUP, url=url, sha256="", size=limit)
