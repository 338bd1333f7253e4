"""Selectivity of single molecules: windows, ranks, entropy, partition, Gini."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RT = 0.592485  # kcal/mol at 298.15 K
TENFOLD = RT * float(np.log(10.0))  # 1.3642 kcal/mol, one order of magnitude in affinity
SCORE_THRESHOLD = -8.0  # kcal/mol, of the selectivity score
WINSOR = 5.0  # kcal/mol, where windows are cut off in means

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selectivity:
    """One value per molecule, float64 (n,); NaN where a score is missing or there is no off-target."""

    delta_mean: Floats  # mean off-target score - on-target score; high is good
    window: Floats  # strongest off-target score - on-target score; high is good
    rank_on: Floats  # place of the on-target among all, from 1; ties share a place
    entropy: Floats  # of the distribution over all targets; low is good
    partition: Floats  # share of the on-target; high is good
    gini: Floats  # unevenness over all targets; high is good
    selectivity: Floats  # share of off-targets at or below the threshold; low is good


def selectivity(*, on: npt.ArrayLike, off: npt.ArrayLike, threshold: float = SCORE_THRESHOLD) -> Selectivity:
    """All selectivity measures of molecules with on-target scores (n,) and off-target scores (n, J).

    Scores above 0 mean "does not fit" and count as 0. A molecule with any missing off-target score has no value.
    Raises `ValueError` for arrays that do not fit each other.

    Sources: Ren et al. 2023 (delta score), Bosc et al. 2017 (window, ranking; the idea), Uitdehaag and Zaman 2011
    (entropy), Cheng et al. 2010 (partition), Graczyk 2007 (Gini), Karaman et al. 2008 (selectivity score).

    >>> found = selectivity(on=[-9.0], off=[[-7.0, -8.0]])
    >>> float(found.window[0]), float(found.delta_mean[0]), float(found.rank_on[0])
    (1.0, 1.5, 1.0)
    """
    on, off = _checked(on, off)
    missing = np.isnan(on) | np.isnan(off).any(axis=1)
    if off.shape[1] == 0:
        missing[:] = True
        off = np.full((len(on), 1), np.nan)
    stacked = np.column_stack([on, off])
    with np.errstate(invalid="ignore"):
        values = Selectivity(
            delta_mean=off.mean(axis=1) - on,
            window=off.min(axis=1) - on,
            rank_on=1.0 + (off < on[:, None]).sum(axis=1) + 0.5 * (off == on[:, None]).sum(axis=1),
            entropy=entropy(log_affinity=-stacked / RT),
            partition=partition(log_affinity=-stacked / RT),
            gini=gini(values=-stacked),
            selectivity=(off <= threshold).mean(axis=1),
        )
    for name in Selectivity.__slots__:
        getattr(values, name)[missing] = np.nan
    return values


def _checked(on: npt.ArrayLike, off: npt.ArrayLike) -> tuple[Floats, Floats]:
    on, off = np.asarray(on, dtype=np.float64), np.asarray(off, dtype=np.float64)
    if on.ndim != 1 or off.ndim != 2 or len(off) != len(on):
        raise ValueError(f"on must be (n,) and off (n, J), got {on.shape} and {off.shape}")
    if np.isinf(on).any() or np.isinf(off).any():
        raise ValueError("scores must be finite, or NaN where they are missing")
    return np.minimum(on, 0.0), np.minimum(off, 0.0)


def _shares(log_affinity: npt.ArrayLike) -> Floats:
    """K / sum of K along the last axis, from natural logarithms, without overflow."""
    logs = np.asarray(log_affinity, dtype=np.float64)
    weights: Floats = np.exp(logs - logs.max(axis=-1, keepdims=True))
    shares: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def entropy(*, log_affinity: npt.ArrayLike) -> Floats:
    """Selectivity entropy, -sum p ln p with p = K / sum of K, over the last axis; in [0, ln targets], low is good.

    `log_affinity` is ln K: -ln Kd for measured data, -score / RT for scores. Uitdehaag and Zaman,
    BMC Bioinformatics 12 (2011) 94.

    >>> round(float(entropy(log_affinity=-np.log([1.0, 1000.0]))), 4)
    0.0079
    """
    p = _shares(log_affinity)
    total: Floats = np.sum(p * np.log(np.where(p > 0, p, 1.0)), axis=-1)
    return 0.0 - total


def partition(*, log_affinity: npt.ArrayLike) -> Floats:
    """Share of the first target in all binding, K0 / sum of K; in (0, 1], high is good.

    Cheng et al., J. Med. Chem. 53 (2010) 4502.
    """
    return _shares(log_affinity)[..., 0]


def gini(*, values: npt.ArrayLike) -> Floats:
    """Gini coefficient of non-negative strengths over the last axis; 0 is even, 1 - 1/n is all on one target.

    Negative strengths count as 0; NaN if all are 0. Graczyk, J. Med. Chem. 50 (2007) 5773.

    >>> round(float(gini(values=[80.0, 10.0, 5.0, 5.0])), 4)
    0.575
    """
    x = np.sort(np.maximum(np.asarray(values, dtype=np.float64), 0.0), axis=-1)
    n = x.shape[-1]
    weights = 2 * np.arange(1, n + 1) - n - 1
    total = x.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, (weights * x).sum(axis=-1) / (n * total), np.nan)


def selectivity_score(*, dissociation_nM: npt.ArrayLike, threshold_nM: float = 3_000.0) -> Floats:
    """Share of targets bound with Kd below the threshold, over the last axis; in [0, 1], low is good.

    Karaman et al., Nat. Biotechnol. 26 (2008) 127.
    """
    return (np.asarray(dissociation_nM, dtype=np.float64) < threshold_nM).mean(axis=-1)  # type: ignore[no-any-return]


def winsorised(values: npt.ArrayLike, *, limit: float = WINSOR) -> Floats:
    """Values cut off at +-limit: a molecule that fits nowhere but in one pocket must not decide a mean."""
    return np.clip(np.asarray(values, dtype=np.float64), -limit, limit)
