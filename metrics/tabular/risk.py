"""From attacks that succeed on training and on fresh rows to the risk that the generator adds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Z = 1.959963984540054


@dataclass(frozen=True)
class Risk:
    """value and interval in [0, 1]; rates of success against training rows and against fresh ones."""

    value: float
    low: float
    high: float
    real_rate: float
    holdout_rate: float


def added_risk(*, real: tuple[int, int], holdout: tuple[int, int]) -> Risk:
    """Risk beyond what the population gives away, from (successes, attacks) on training and on fresh rows.

    With Wilson's rates (k + z^2 / 2) / (N + z^2) and their half-widths: max(0, (rate_R - rate_H) / (1 - rate_H)), its
    95 % interval by propagation of both, clipped to [0, 1].

    Giomi, Boenisch, Wehmeyer, Tasnadi, "A Unified Framework for Quantifying Privacy Risk in Synthetic Data", 2023.

    >>> round(added_risk(real=(500, 500), holdout=(0, 500)).value, 3)
    0.996
    """
    (rate, error), (base, base_error) = _wilson(*real), _wilson(*holdout)
    value = (rate - base) / (1 - base)
    spread = float(np.hypot(error / (1 - base), (1 - rate) / (1 - base) ** 2 * base_error))
    low, high = (float(np.clip(value + side * spread, 0, 1)) for side in (-1, 1))
    return Risk(max(0.0, value), low, high, rate, base)


def _wilson(successes: int, attacks: int) -> tuple[float, float]:
    """Centre and half-width of Wilson's 95 % interval."""
    if not 0 <= successes <= attacks or attacks == 0:
        raise ValueError(f"{successes} successes of {attacks} attacks make no rate")
    centre = (successes + Z**2 / 2) / (attacks + Z**2)
    share = successes / attacks
    width = Z / (attacks + Z**2) * np.sqrt(share * (1 - share) * attacks + Z**2 / 4)
    return centre, float(width)
