"""Class balance: does a generator make the classes in the shares of the real samples?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_DROPPED = 0.1

Labels = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class ClassBalance:
    """total_variation: half the sum of |share difference| over classes, in [0, 1], lower better.

    dropped: classes of the real samples with less than a tenth of their share among the generated ones.
    """

    total_variation: float
    dropped: tuple[int, ...]


def class_balance(*, real: Labels, generated: Labels) -> ClassBalance:
    """Compare class histograms; the labels of generated samples are what a classifier says.

    real: integers (n,), generated: integers (m,), n, m >= 1, any coding. Raises ValueError for other arrays.

    >>> import numpy as np
    >>> class_balance(real=np.array([0, 0, 1, 2]), generated=np.array([0, 0, 1, 1]))
    ClassBalance(total_variation=0.25, dropped=(2,))
    """
    for name, labels in (("real", real), ("generated", generated)):
        if not isinstance(labels, np.ndarray) or labels.dtype.kind not in "iu" or labels.ndim != 1:
            came = (
                f"{labels.dtype} {labels.shape}" if isinstance(labels, np.ndarray) else type(labels).__name__
            )
            raise ValueError(f"{name}: labels must be a 1-D array of whole numbers, got {came}")
        if not len(labels):
            raise ValueError(f"{name}: needs at least 1 sample, got 0")
    classes, codes = np.unique(np.concatenate([real, generated]), return_inverse=True)
    counts = [np.bincount(part, minlength=len(classes)) for part in np.split(codes, [len(real)])]
    p, q = counts[0] / len(real), counts[1] / len(generated)
    return ClassBalance(
        float(np.abs(p - q).sum()) / 2, tuple(int(label) for label in classes[q < _DROPPED * p])
    )
