"""Attribution maps against maps of people, or against pixels known to be diagnostic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bench.metrics.alignment.ranks import average_ranks, rank_correlations
from bench.metrics.alignment.result import Float, Score, mean_score, undefined

CLICKME_CEILING = 0.65753  # mean correlation between people on the ClickMe validation set
TOP = 0.1
MAX_DROPPED = 0.05  # of the maps; with more the score says nothing


def map_correlation(*, maps: npt.ArrayLike, reference: npt.ArrayLike) -> Score:
    """Mean Spearman correlation over all pixels of `maps` and `reference`, each (n, H, W).

    Constant maps have no ranks: they are dropped and counted, and with more than 5 % of them there is no score.
    """
    return kept_mean(map_correlations(maps=maps, ranked=ranked_maps(reference)))


def ranked_maps(reference: npt.ArrayLike) -> Float:
    """Average ranks (n, pixels) of reference maps (n, H, W); compute them once for all models."""
    array = np.asarray(reference, dtype=np.float64)
    return average_ranks(array.reshape(len(array), -1))


def map_correlations(*, maps: npt.ArrayLike, ranked: Float) -> Float:
    """Spearman correlation of each map (n, H, W) with its row of `ranked`; NaN for a constant map."""
    array = _maps(maps)
    if array.shape != ranked.shape:
        raise ValueError(f"expected {ranked.shape[0]} maps of {ranked.shape[1]} pixels, got {array.shape}")
    return rank_correlations(maps=array, ranked=ranked)


def kept_mean(values: Float) -> Score:
    """Mean over the values that are not NaN, unless more than 5 % are."""
    kept = np.isfinite(values)
    dropped = int((~kept).sum())
    if dropped > MAX_DROPPED * len(values):
        return undefined(f"{dropped} of {len(values)} maps are constant", n_dropped=dropped)
    return mean_score(values[kept], n_dropped=dropped)


def top_pixels(maps: npt.ArrayLike, share: float = TOP) -> npt.NDArray[np.bool_]:
    """The largest ceil(share * pixels) pixels of each map, ties by pixel number; bool (n, pixels)."""
    array = _maps(maps)
    count = int(np.ceil(round(share * array.shape[1], 9)))
    order = np.argsort(-array, axis=1, kind="stable")[:, :count]
    chosen = np.zeros(array.shape, dtype=bool)
    np.put_along_axis(chosen, order, True, axis=1)
    return chosen


def overlap(*, maps: npt.ArrayLike, reference: npt.ArrayLike, share: float = TOP) -> tuple[Score, Score]:
    """(IoU, Dice) of the top pixels of maps and reference, each (n, H, W); in [0, 1], higher is better."""
    a, b = top_pixels(maps, share), top_pixels(reference, share)
    both = (a & b).sum(axis=1)
    return mean_score(both / (a | b).sum(axis=1)), mean_score(2 * both / (a.sum(axis=1) + b.sum(axis=1)))


def mask_energy(*, maps: npt.ArrayLike, masks: npt.ArrayLike) -> Score:
    """Share of a map's sum inside the mask over the mask's share of the pixels: 1 is chance, higher is better."""
    array, inside = _maps(maps), _maps(masks) > 0
    total, area = array.sum(axis=1), inside.mean(axis=1)
    defined = (total > 0) & (area > 0)
    ratios = np.full(len(array), np.nan)
    ratios[defined] = (array * inside).sum(axis=1)[defined] / total[defined] / area[defined]
    return kept_mean(ratios)


def pointing(*, maps: npt.ArrayLike, masks: npt.ArrayLike) -> Score:
    """Share of maps whose largest pixel (the first of several) is inside the mask."""
    array, inside = _maps(maps), _maps(masks) > 0
    return mean_score(inside[np.arange(len(array)), array.argmax(axis=1)])


def _maps(maps: npt.ArrayLike) -> Float:
    array = np.asarray(maps, dtype=np.float64)
    if array.ndim < 2 or len(array) == 0:
        raise ValueError(f"expected maps (n, ...), got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{int((~np.isfinite(array)).sum())} values of the maps are not finite")
    return array.reshape(len(array), -1)
