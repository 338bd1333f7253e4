"""Arrays that are worth keeping between jobs: what is the same for every model is computed once.

The cache belongs to one half of a job (`Context.cache_dir`): what `score` keeps, no model was meant to write.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def cached_array(path: Path, compute: Callable[[], Array], *, fits: Callable[[Array], bool]) -> Array:
    """The array in the file `path` (.npy) if there is one that `fits`; else `compute()`, which is then kept.

    Name the file by a hash of everything the array depends on. A damaged or unwritable cache costs time,
    never a result; jobs that run side by side see a whole file or none.
    """
    with suppress(OSError, ValueError, EOFError):
        stored = np.load(path, allow_pickle=False)
        if isinstance(stored, np.ndarray) and fits(stored):
            return stored
    array = compute()
    with suppress(OSError):
        _write(path, array)
    return array


def _write(path: Path, array: Array) -> None:
    """Write under a private name, then rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as out:
            np.save(out, array, allow_pickle=False)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
