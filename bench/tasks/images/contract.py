"""What a model may hand in, checked without guessing: a wrong type or range is an error, never converted."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bench.errors import InvalidOutput


def check_images(images: Any, *, shape: tuple[int, int, int], n: int | None = None) -> npt.NDArray[np.uint8]:
    """`images` if they are uint8 (n, C, H, W) with (C, H, W) = `shape`; else `InvalidOutput`.

    `n=None` accepts any number from 1 on.
    """
    wanted = f"expected uint8 NCHW ({'n' if n is None else n}, {', '.join(map(str, shape))})"
    if not isinstance(images, np.ndarray):
        raise InvalidOutput(f"{wanted}, got {type(images).__name__}; return a NumPy array")
    came = f"got {images.dtype} {images.shape}"
    if images.dtype != np.uint8:
        raise InvalidOutput(f"{wanted}, {came}{_range_of(images)}; scale to 0..255 and round")
    if images.ndim == 4 and images.shape[1:] == (shape[1], shape[2], shape[0]) != shape:
        raise InvalidOutput(f"{wanted}, {came}, which looks like NHWC; use images.transpose(0, 3, 1, 2)")
    if images.ndim != 4 or images.shape[1:] != shape:
        raise InvalidOutput(f"{wanted}, {came}")
    if len(images) == 0 or n not in (None, len(images)):
        raise InvalidOutput(f"{wanted}, {came}: {len(images)} images")
    return images


def check_features(features: Any, *, dim: int, encoder: str, n: int | None = None) -> npt.NDArray[np.float32]:
    """`features` as float32 (n, dim) if they are finite numbers of that shape; else `InvalidOutput`."""
    wanted = f"features for {encoder!r}: expected float32 ({'n' if n is None else n}, {dim})"
    if not isinstance(features, np.ndarray) or features.dtype.kind not in "fiu":
        came = features.dtype if isinstance(features, np.ndarray) else type(features).__name__
        raise InvalidOutput(f"{wanted}, got {came}; return a NumPy array of numbers")
    came = f"got {features.dtype} {features.shape}"
    if features.ndim != 2 or features.shape[1] != dim:
        raise InvalidOutput(f"{wanted}, {came}")
    if len(features) == 0 or n not in (None, len(features)):
        raise InvalidOutput(f"{wanted}, {came}: {len(features)} rows")
    with np.errstate(over="ignore"):
        values = features.astype(np.float32)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        raise InvalidOutput(
            f"{wanted}, got {features[row, column]} in row {row}, column {column} "
            f"({len(bad)} values are not finite)"
        )
    return values


def _range_of(images: npt.NDArray[Any]) -> str:
    """The range of values, which tells most about a wrong scale; "" where there is none."""
    if images.size == 0 or images.dtype.kind not in "fiu":
        return ""
    if not np.isfinite(images).all():
        return " with values that are not finite"
    return f" in [{images.min():g}, {images.max():g}]"
