"""The 16 categories of Geirhos et al. and the classes of ImageNet that belong to them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bench.metrics.alignment.result import Float
from bench.metrics.alignment.robustness import CATEGORIES

_MEMBERS = {
    "airplane": "404",
    "bear": "294-297",
    "bicycle": "444 671",
    "bird": "8 10-16 18-20 22-24 80-83 87-96 98-100 127-133 135-145",
    "boat": "472 554 625 814 914",
    "bottle": "440 720 737 898 899 901 907",
    "car": "436 511 817",
    "cat": "281-286",
    "chair": "423 559 765 857",
    "clock": "409 530 892",
    "dog": "152-191 193-203 205-226 228-241 243-250 252-257 259 261-263 265-268",
    "elephant": "385 386",
    "keyboard": "508 878",
    "knife": "499",
    "oven": "766",
    "truck": "555 569 656 675 717 734 864 867",
}


def members(category: str) -> list[int]:
    """Class numbers of ImageNet that belong to `category`."""
    found: list[int] = []
    for part in _MEMBERS[category].split():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def category_scores(probabilities: npt.ArrayLike) -> Float:
    """Mean probability of each category's members, (n, 16), of softmax outputs (n, 1000).

    The mean, not the sum: categories have from 1 to 110 members. Source: R. Geirhos et al. (2018), Generalisation in
    humans and deep neural networks.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] != 1000:
        raise ValueError(f"expected probabilities (n, 1000), got {p.shape}")
    return np.stack([p[:, members(category)].mean(axis=1) for category in CATEGORIES], axis=1)
