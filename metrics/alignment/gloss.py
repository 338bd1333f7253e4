"""Gloss: agreement with ratings of observers, and win curves over bump heights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.metrics.alignment.result import Float, HumanDataError, Score, function_of_means, undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingAgreement:
    """A predictor against the ratings of each observer, and what observers reach among themselves."""

    r_mean_rating: float  # correlation with the mean rating
    r: Score  # mean over observers of the correlation; higher is better
    rmse: float  # mean over observers; lower is better


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingCeiling:
    """Observers against the mean of the others (lower) and of all (upper)."""

    r_lower: float
    r_upper: float
    rmse_lower: float
    rmse_upper: float


def rating_agreement(*, ratings: npt.ArrayLike, gloss: npt.ArrayLike) -> RatingAgreement:
    """Compare `gloss` (n,) with `ratings` (observers, n) from 1 to 6.

    Ratings are mapped to (r - 1) / 5, gloss values to [0, 1] by their range. The interval resamples images. Source: K.
    R. Storrs et al. (2021), Unsupervised learning predicts human perception and misperception of gloss.
    """
    mapped, g = _ratings(ratings), np.asarray(gloss, dtype=np.float64)
    if g.shape != mapped.shape[1:]:
        raise ValueError(f"expected {mapped.shape[1]} gloss values, got {g.shape}")
    if not np.isfinite(g).all():
        raise ValueError(f"gloss values are not finite at {np.flatnonzero(~np.isfinite(g))[:5].tolist()}")
    if np.ptp(g) == 0:
        nothing = undefined("all gloss values are equal")
        return RatingAgreement(r_mean_rating=float("nan"), r=nothing, rmse=float("nan"))
    g = (g - g.min()) / np.ptp(g)
    return RatingAgreement(
        r_mean_rating=float(np.corrcoef(mapped.mean(axis=0), g)[0, 1]),
        r=_mean_correlation(mapped, g),
        rmse=float(np.sqrt(((mapped - g) ** 2).mean(axis=1)).mean()),
    )


def _mean_correlation(mapped: Float, g: Float) -> Score:
    """Mean over observers of the correlation with `g`, as a function of means over images."""
    a, b = mapped - mapped.mean(axis=1, keepdims=True), g - g.mean()
    columns = np.concatenate([a, a * a, a * b, [b], [b * b]]).T
    k = len(mapped)

    def mean_r(means: Float) -> Float:
        ma, maa, mab = (means[..., i * k : (i + 1) * k] for i in range(3))
        mb, mbb = means[..., -2, None], means[..., -1, None]
        found = (mab - ma * mb) / np.sqrt((maa - ma * ma) * (mbb - mb * mb))
        return np.asarray(found.mean(axis=-1))

    return function_of_means(columns, mean_r)


def rating_ceiling(*, ratings: npt.ArrayLike) -> RatingCeiling:
    """What the observers themselves reach; `ratings` (observers >= 2, n) from 1 to 6."""
    mapped = _ratings(ratings)
    total, k = mapped.sum(axis=0), len(mapped)
    others, everyone = (total - mapped) / (k - 1), np.broadcast_to(total / k, mapped.shape)
    r = [
        [float(np.corrcoef(own, m)[0, 1]) for own, m in zip(mapped, means, strict=True)]
        for means in (others, everyone)
    ]
    rmse = [float(np.sqrt(((mapped - means) ** 2).mean(axis=1)).mean()) for means in (others, everyone)]
    return RatingCeiling(
        r_lower=float(np.mean(r[0])), r_upper=float(np.mean(r[1])), rmse_lower=rmse[0], rmse_upper=rmse[1]
    )


def _ratings(ratings: npt.ArrayLike) -> Float:
    array = np.asarray(ratings, dtype=np.float64)
    if array.ndim != 2 or len(array) < 2:
        raise HumanDataError(
            f"ratings must be (observers, images) of at least 2 observers, got {array.shape}"
        )
    bad = np.argwhere(~((array >= 1) & (array <= 6)))
    if len(bad):
        raise HumanDataError(f"{len(bad)} ratings are not from 1 to 6, the first at {bad[:5].tolist()}")
    return (array - 1) / 5


@dataclass(frozen=True, slots=True, kw_only=True)
class WinCurves:
    """How often each bump level looks glossier than another level of the same surface."""

    curve: Float  # (levels,) mean over scenes
    curve_r: Score  # correlation of the mean curve with that of people
    scene_r: float | None  # mean correlation of the scenes' own curves with that of people
    nonmono: float  # share of scenes whose curve peaks at an inner level


def win_curves(*, gloss: npt.ArrayLike, human: npt.ArrayLike) -> WinCurves:
    """`gloss` (scenes, levels) of one surface each, at one reflectance; `human`: win rates (levels,) of people.

    win(l) is the share of other levels that l beats; ties count half. A scene of which all levels are alike has a flat
    curve, without a correlation. The interval of `curve_r` resamples scenes.
    """
    g, people = np.asarray(gloss, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if g.ndim != 2 or g.shape[1:] != people.shape:
        raise ValueError(f"expected gloss (scenes, {len(people)}), got {g.shape}")
    if not np.isfinite(g).all():
        raise ValueError(f"{int((~np.isfinite(g)).sum())} gloss values are not finite")
    levels = g.shape[1]
    beats = (g[:, :, None] > g[:, None, :]) + 0.5 * (g[:, :, None] == g[:, None, :])
    wins = (beats.sum(axis=2) - 0.5) / (levels - 1)
    centred = people - people.mean()
    return WinCurves(
        curve=wins.mean(axis=0),
        curve_r=function_of_means(wins, lambda means: _correlate(means, centred)),
        scene_r=_nanmean(_correlate(wins, centred)),
        nonmono=float(np.mean((wins.argmax(axis=1) > 0) & (wins.argmax(axis=1) < levels - 1))),
    )


def _correlate(curves: Float, centred: Float) -> Float:
    own = curves - curves.mean(axis=-1, keepdims=True)
    spread = np.sqrt((own * own).sum(axis=-1) * (centred * centred).sum())
    return np.asarray(np.where(spread > 1e-12, own @ centred / np.where(spread > 0, spread, 1), np.nan))


def _nanmean(values: Float) -> float | None:
    found = values[np.isfinite(values)]
    return float(found.mean()) if len(found) else None


def gloss_headline(*, curve_r: float | None, accuracy: float) -> float:
    """sqrt(max(0, curve_r) * max(0, 2 accuracy - 1)), in [0, 1].

    Contrast alone follows the curve of people perfectly but does not tell gloss from matte: it must do both.
    """
    return float(np.sqrt(max(0.0, curve_r or 0.0) * max(0.0, 2 * accuracy - 1)))
