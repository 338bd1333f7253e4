"""What the image metrics accept: checks that name the set, the place and the remedy."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Features = npt.NDArray[Any] | Tensor
"""Feature vectors of one set, (n, d): a numpy array or a torch tensor, whose device decides where the work runs."""

Ball = Literal["closed", "open"]

_LARGEST_VALUE = 1e30
_KEPT = (torch.float32, torch.float64)


def feature_pair(*, real: Features, generated: Features, minimum: int = 1) -> tuple[Tensor, Tensor]:
    """Both sets as finite float tensors (n, d) and (m, d); the rules are those of feature_sets."""
    x, y = feature_sets(minimum=minimum, real=real, generated=generated)
    return x, y


def feature_sets(*, minimum: int = 1, **sets: Features) -> tuple[Tensor, ...]:
    """The named sets as finite float tensors (samples, d) of one dtype on one device, in the order given.

    Integer, bool and half-precision features become float32; float64 stays; if one set is float64, all are.
    Raises ValueError for wrong shapes, too few samples, NaN or infinity, TypeError for other types.
    """
    tensors = {name: _tensor(features, name) for name, features in sets.items()}
    names, first = _listed(list(tensors)), next(iter(tensors.values()))
    if any(x.ndim != 2 or x.shape[1] != first.shape[1] or not x.shape[1] for x in tensors.values()):
        raise ValueError(
            f"{names} must be 2-D arrays (samples, features) with the same number of features, "
            f"got {_listed([f'{name} {tuple(x.shape)}' for name, x in tensors.items()])}"
        )
    for name, x in tensors.items():
        if x.device != first.device:
            raise ValueError(
                f"{next(iter(tensors))} is on {first.device} and {name} on {x.device}; "
                "move all sets to one device with .to(device)"
            )
    dtype = max((x.dtype for x in tensors.values()), key=lambda kind: kind.itemsize)
    return tuple(_checked(x.to(dtype), name, minimum) for name, x in tensors.items())


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def feature_set(features: Features, name: str, *, minimum: int = 1) -> Tensor:
    """One set as a finite float tensor (n, d); the rules are those of feature_pair."""
    x = _tensor(features, name)
    if x.ndim != 2 or x.shape[1] == 0:
        raise ValueError(f"{name} must be a 2-D array (samples, features), got shape {tuple(x.shape)}")
    return _checked(x, name, minimum)


def check_k(k: int, *, real: Tensor, generated: Tensor) -> None:
    """k-th neighbours within a set need k + 1 samples."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k must be a positive whole number, got {k!r}")
    for name, points in (("real", real), ("generated", generated)):
        if len(points) <= k:
            raise ValueError(
                f"{name}: k={k} needs at least {k + 1} samples, got {len(points)}; lower k or add samples"
            )


def is_closed(ball: Ball) -> bool:
    """Whether the boundary belongs to the ball."""
    if ball not in ("closed", "open"):
        raise ValueError(f"ball must be 'closed' (<=) or 'open' (<), got {ball!r}")
    return ball == "closed"


def _tensor(features: Features, name: str) -> Tensor:
    if isinstance(features, np.ndarray):
        features = _from_numpy(features, name)
    if not isinstance(features, Tensor):
        raise TypeError(f"{name} must be a numpy array or a torch tensor, got {type(features).__name__}")
    if features.dtype.is_complex:
        raise TypeError(f"{name}: complex features have no meaning here; pass real numbers")
    features = features.detach()
    return features if features.dtype in _KEPT else features.to(torch.float32)


def _from_numpy(features: npt.NDArray[Any], name: str) -> Tensor:
    if features.dtype.kind not in "fiub":
        raise TypeError(
            f"{name}: features of dtype {features.dtype} are not numbers; pass floats or integers"
        )
    if features.dtype not in (np.float32, np.float64):
        features = features.astype(np.float64 if features.dtype.itemsize > 8 else np.float32)
    return torch.from_numpy(features if _is_plain(features) else np.ascontiguousarray(features).copy())


def _is_plain(features: npt.NDArray[Any]) -> bool:
    """Whether torch can share the memory: native byte order, writable, no negative strides."""
    flags = features.flags
    return bool(features.dtype.isnative and flags.writeable and flags.c_contiguous)


def _checked(features: Tensor, name: str, minimum: int) -> Tensor:
    if len(features) < minimum:
        raise ValueError(f"{name}: needs at least {minimum} samples, got {len(features)}")
    low, high = (float(end) for end in features.aminmax())
    if not (np.isfinite(low) and np.isfinite(high)):
        row, column = (int(i) for i in (~features.isfinite()).nonzero()[0])
        raise ValueError(
            f"{name}: feature at row {row}, column {column} is {float(features[row, column])}; "
            "all features must be finite, so repair or drop that sample"
        )
    if max(-low, high) > _LARGEST_VALUE:
        raise ValueError(
            f"{name}: features reach {max(-low, high):.3g}, whose square overflows; divide both sets by a constant"
        )
    return features.contiguous()
