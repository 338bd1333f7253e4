"""Checks what a task returns against what it declared, before anything is stored."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.errors import InvalidOutput
from bench.spec import Exhibit, Measure, MetricInfo, TaskInfo, TaskOutput
from bench.work import MeasureRow

if TYPE_CHECKING:
    import numpy as np

RANGE_TOLERANCE = 1e-9
MEAN_TOLERANCE = 1e-6
MAX_EXHIBIT_BYTES = 32 * 2**20
_FLAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._=-]{0,39}\Z")
_PART = r"[a-z][a-z0-9_]*=[^=,]+"
_FACET = re.compile(rf"{_PART}(?:,{_PART})*\Z")
_EXHIBIT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_KINDS = ("image", "table", "series")


def check_output(output: Any, info: TaskInfo, exhibit_dir: Path) -> tuple[MeasureRow, ...]:
    """The rows of a valid `output`, in the order of the declaration.

    Every declared metric must be there and no other; values are finite and within their range up to a
    relative 1e-9, or `None` with a reason; facets use declared names; a `sample_mean` metric that comes
    with samples equals their mean to 1e-6; exhibits are existing plain files below `exhibit_dir`. A breach
    raises `InvalidOutput` naming the metric, the value and what was expected.
    """
    if not isinstance(output, TaskOutput):
        raise InvalidOutput(f"score returned a {type(output).__name__}; a TaskOutput is expected")
    declared = {metric.name: metric for metric in info.metrics}
    _check_names(output.metrics, declared)
    rows = [
        MeasureRow(metric=name, facet="", measure=_measure(output.metrics[name], metric, name))
        for name, metric in declared.items()
    ]
    rows += _facet_rows(output.facets, declared)
    _check_samples(output, declared, {row.metric: row.measure for row in rows if not row.facet})
    _check_flags(output.flags)
    _check_exhibits(output.exhibits, exhibit_dir)
    return tuple(rows)


def _check_names(metrics: Mapping[str, Any], declared: Mapping[str, MetricInfo]) -> None:
    missing = [name for name in declared if name not in metrics]
    if missing:
        raise InvalidOutput(f"metric {missing[0]!r} is declared but was not returned")
    extra = [name for name in metrics if name not in declared]
    if extra:
        raise InvalidOutput(f"metric {str(extra[0])[:80]!r} was returned but is not declared")


def _facet_rows(facets: Mapping[str, Any], declared: Mapping[str, MetricInfo]) -> Iterator[MeasureRow]:
    for facet, values in facets.items():
        if (
            not isinstance(facet, str)
            or len(facet) > 200
            or not facet.isprintable()
            or not _FACET.match(facet)
        ):
            raise InvalidOutput(
                f"facet {str(facet)[:80]!r} must read 'name=value', or several of them with commas between "
                "('encoder=pixels,k=3'), in at most 200 printable characters"
            )
        for name, value in values.items():
            if name not in declared:
                raise InvalidOutput(
                    f"facet {facet!r} has the metric {str(name)[:80]!r}, which is not declared"
                )
            label = f"{name} ({facet})"
            yield MeasureRow(metric=name, facet=facet, measure=_measure(value, declared[name], label))


def _measure(value: Any, metric: MetricInfo, label: str) -> Measure:
    """`value` as a checked `Measure` of plain Python numbers."""
    given = value if isinstance(value, Measure) else Measure(value=_real(value, f"metric {label}"))
    if given.value is None:
        if not given.reason:
            raise InvalidOutput(f"metric {label} has no value and no reason; say why it can't be measured")
        return Measure(value=None, n=_count(given.n, label), reason=str(given.reason))
    number = _in_range(_real(given.value, f"metric {label}"), metric, label)
    low, high = (
        None if end is None else _real(end, f"interval of metric {label}")
        for end in (given.ci_low, given.ci_high)
    )
    if low is not None and high is not None and low > high:
        raise InvalidOutput(f"interval of metric {label} is [{low}, {high}]; its ends are swapped")
    return Measure(
        value=number,
        ci_low=low,
        ci_high=high,
        ci_method=str(given.ci_method),
        n=_count(given.n, label),
        reason=str(given.reason),
    )


def _real(value: Any, label: str) -> float:
    """`value` (a Python, NumPy or torch scalar) as a finite float."""
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise InvalidOutput(f"{label} is a {type(value).__name__}; a number is expected") from None
    if isinstance(value, (str, bytes)):
        raise InvalidOutput(f"{label} is the text {value[:40]!r}; a number is expected")
    if not math.isfinite(number):
        raise InvalidOutput(
            f"{label} is {number}; a finite number is expected (or Measure(value=None, reason=...))"
        )
    return number


def _in_range(number: float, metric: MetricInfo, label: str) -> float:
    below = metric.lo - RANGE_TOLERANCE * max(1.0, abs(metric.lo))
    above = metric.hi + RANGE_TOLERANCE * max(1.0, abs(metric.hi))
    if not below <= number <= above:
        raise InvalidOutput(f"metric {label} is {number!r}, outside its range [{metric.lo:g}, {metric.hi:g}]")
    return number


def _count(n: Any, label: str) -> int | None:
    if n is None:
        return None
    number = _real(n, f"n of metric {label}")
    if number < 0 or number != int(number):
        raise InvalidOutput(f"n of metric {label} is {n!r}; a whole number from 0 on is expected")
    return int(number)


def _check_samples(
    output: TaskOutput, declared: Mapping[str, MetricInfo], measures: Mapping[str, Measure]
) -> None:
    import numpy as np

    if output.samples is None:
        return
    ids = _checked_ids(output.sample_ids)
    for name, values in output.samples.items():
        if name not in declared:
            raise InvalidOutput(f"samples are given for metric {str(name)[:80]!r}, which is not declared")
        array = np.asarray(values)
        if array.shape != ids.shape or array.dtype.kind not in "fiub":
            raise InvalidOutput(
                f"samples of metric {name!r} are {array.dtype} {array.shape}; numbers of shape {ids.shape}, "
                "one for each sample id, are expected"
            )
        if not np.isfinite(array).all():
            raise InvalidOutput(f"samples of metric {name!r} are not all finite")
        if declared[name].kind == "sample_mean":
            _check_mean(name, measures[name].value, array)


def _check_mean(name: str, value: float | None, samples: np.ndarray) -> None:
    import numpy as np

    if value is None or not samples.size:
        if value is not None:
            raise InvalidOutput(f"metric {name!r} is {value!r} but has no sample to be the mean of")
        return
    mean = float(samples.mean(dtype=np.float64))
    if abs(value - mean) > MEAN_TOLERANCE * max(1.0, abs(mean)):
        raise InvalidOutput(f"metric {name!r} is {value!r}, but the mean of its samples is {mean!r}")


def _checked_ids(ids: Any) -> np.ndarray:
    import numpy as np

    if ids is None:
        raise InvalidOutput("samples are given without sample_ids")
    array = np.asarray(ids)
    if array.ndim != 1 or array.dtype.kind not in "iuU":
        raise InvalidOutput(
            f"sample_ids are {array.dtype} {array.shape}; one row of whole numbers or strings is expected"
        )
    rising = bool((array[1:] > array[:-1]).all())
    if not rising and np.unique(array).size != array.size:
        raise InvalidOutput(f"sample_ids are not unique: {array.size - np.unique(array).size} are repeated")
    return array


def _check_flags(flags: Any) -> None:
    for flag in flags:
        if not isinstance(flag, str) or not _FLAG.match(flag):
            raise InvalidOutput(
                f"flag {str(flag)[:80]!r} is not a short word; use 1-40 of letters, digits, space and . _ = -"
            )


def _check_exhibits(exhibits: Any, folder: Path) -> None:
    names = set()
    for exhibit in exhibits:
        if not isinstance(exhibit, Exhibit):
            raise InvalidOutput(f"an exhibit is a {type(exhibit).__name__}; an Exhibit is expected")
        if not _EXHIBIT_NAME.match(exhibit.name) or exhibit.name in names:
            raise InvalidOutput(
                f"exhibit {exhibit.name[:80]!r} needs a unique name of 1-64 of A-Z a-z 0-9 . _ -"
            )
        names.add(exhibit.name)
        if exhibit.kind not in _KINDS:
            raise InvalidOutput(f"exhibit {exhibit.name!r} is of kind {exhibit.kind!r}; use one of {_KINDS}")
        _check_exhibit_file(exhibit, folder)


def _check_exhibit_file(exhibit: Exhibit, folder: Path) -> None:
    parts = Path(exhibit.file).parts
    if not parts or os.path.isabs(exhibit.file) or ".." in parts:
        raise InvalidOutput(f"exhibit {exhibit.name!r} names {exhibit.file!r}, which is outside its folder")
    path = folder / exhibit.file
    if not path.exists() or not stat.S_ISREG(path.lstat().st_mode):
        raise InvalidOutput(f"exhibit {exhibit.name!r} has no plain file {exhibit.file!r} in its folder")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise InvalidOutput(f"exhibit {exhibit.name!r} reaches outside its folder through a link")
    if path.stat().st_size > MAX_EXHIBIT_BYTES:
        raise InvalidOutput(f"exhibit {exhibit.name!r} is over {MAX_EXHIBIT_BYTES} bytes")
