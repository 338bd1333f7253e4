"""What models hand in: arrays in one npz file, the first axis being the trainings of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bench.artifacts import load_npz
from bench.errors import InvalidOutput
from bench.spec import Artifact

FILE = "answers.npz"
MAX_RUNS = 32
Array = npt.NDArray[Any]
T = TypeVar("T")


def over_runs(adapter: Any, work: Callable[[], T]) -> Iterator[T]:
    """What `work` gives for each training of the adapter's model."""
    for run in range(max(1, int(getattr(adapter, "runs", 1)))):
        choose = getattr(adapter, "use_run", None)
        if choose is not None:
            choose(run)
        yield work()


def stacked(parts: list[dict[str, Array]]) -> dict[str, Array]:
    """Arrays of the same name of all trainings, on a new first axis."""
    return {name: np.stack([part[name] for part in parts]) for name in parts[0]}


def write(folder: Path, arrays: Mapping[str, Array]) -> None:
    """The artifact's file."""
    np.savez_compressed(folder / FILE, **arrays)  # type: ignore[arg-type]


def read(
    artifact: Artifact, shapes: Mapping[str, tuple[int, ...]], optional: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """The arrays, each (trainings, *shape) and finite; `InvalidOutput` naming the array that is not."""
    found = load_npz(artifact.path(FILE), list(shapes), optional=list(optional))
    runs = {len(array) if array.ndim else 0 for array in found.values()}
    if len(runs) != 1 or not 1 <= min(runs) <= MAX_RUNS:
        raise InvalidOutput(
            f"{FILE}: the first axis is the trainings, 1 to {MAX_RUNS} and alike, got {sorted(runs)}"
        )
    for name, array in found.items():
        expected = {**shapes, **optional}[name]
        if array.shape[1:] != expected:
            raise InvalidOutput(
                f"{FILE}[{name}]: expected (trainings, {_words(expected)}), got {array.shape}"
            )
        if array.dtype.kind not in "fiub":
            raise InvalidOutput(f"{FILE}[{name}]: expected numbers, got {array.dtype}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InvalidOutput(f"{FILE}[{name}]: {int((~np.isfinite(array)).sum())} values are not finite")
    return found


def decisions(found: Mapping[str, Array], name: str, classes: int) -> npt.NDArray[np.int64]:
    """Decisions (trainings, n) from -1 (no answer) to classes - 1."""
    array = found[name]
    if array.dtype.kind not in "iu" or array.size == 0 or array.min() < -1 or array.max() >= classes:
        raise InvalidOutput(
            f"{FILE}[{name}]: expected whole numbers from -1 to {classes - 1}, got {array.dtype}"
        )
    return array.astype(np.int64)


def export_images(folder: Path, **arrays: Array) -> None:
    """`images.npz` for models outside Python."""
    np.savez_compressed(folder / "images.npz", **arrays)  # type: ignore[arg-type]


def _words(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape))
