"""Error consistency: do two observers err on the same images, beyond what their accuracies make likely?

Source: R. Geirhos, K. Meding and F. A. Wichmann (2020), Beyond accuracy: quantifying trial-by-trial behaviour of CNNs
and humans by measuring error consistency.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.metrics.alignment.result import Float, HumanDataError, Score, function_of_means

Bools = npt.NDArray[np.bool_]
MIN_COMMON = 100  # images two observers must share if they did not see the same ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Of all pairs of observers (k, k); kappa is in [-1, 1], negative below chance, never clipped."""

    observed: Float  # share of images on which both are right or both wrong
    expected: Float  # p1 p2 + (1 - p1)(1 - p2)
    kappa: Float  # (observed - expected) / (1 - expected); 1 where observed is 1

    def pairs(self) -> Float:
        """Kappa of every pair once, (k (k - 1) / 2,)."""
        return np.asarray(self.kappa[np.triu_indices(len(self.kappa), 1)])


def error_consistency(*, correct: npt.ArrayLike) -> Consistency:
    """`correct` (observers, images): whether an observer was right, of all pairs at once.

    >>> float(error_consistency(correct=[[1, 1, 0, 0], [1, 0, 0, 0]]).kappa[0, 1])
    0.5
    """
    a = np.asarray(correct, dtype=np.float64)
    if a.ndim != 2 or a.shape[1] == 0 or not np.isin(a, (0.0, 1.0)).all():
        raise ValueError(f"correct must be 0 or 1 of shape (observers, images >= 1), got {a.shape}")
    n = a.shape[1]
    p, both = a.mean(axis=1), a @ a.T
    observed = (2 * both + n - a.sum(axis=1)[:, None] - a.sum(axis=1)) / n
    return _from(observed, p[:, None], p[None, :])


def consistency_with(*, model: npt.ArrayLike, people: npt.ArrayLike) -> Consistency:
    """`model` (images,) or (runs, images) against each of `people` (observers, images); arrays (runs, observers)."""
    a, b = np.atleast_2d(np.asarray(model, dtype=np.float64)), np.asarray(people, dtype=np.float64)
    if a.shape[1] != b.shape[1] or a.shape[1] == 0:
        raise ValueError(f"expected the same images, got {a.shape} and {b.shape}")
    n = a.shape[1]
    observed = (2 * (a @ b.T) + n - a.sum(axis=1)[:, None] - b.sum(axis=1)) / n
    return _from(observed, a.mean(axis=1)[:, None], b.mean(axis=1)[None, :])


def _from(observed: Float, p: Float, q: Float) -> Consistency:
    expected = p * q + (1 - p) * (1 - q)
    return Consistency(observed=observed, expected=expected, kappa=_kappa(observed, expected))


def _kappa(observed: Float, expected: Float) -> Float:
    """(observed - expected) / (1 - expected), and 1 where all is equal."""
    different = observed < 1 - 1e-12
    return np.divide(observed - expected, 1 - expected, out=np.ones_like(observed), where=different)


def mean_kappa(*, model: npt.ArrayLike, people: npt.ArrayLike) -> Score:
    """Mean over observers of the kappa of `model` (images,) with each of `people` (observers, images).

    The interval resamples images.
    """
    a, b = np.asarray(model, dtype=np.float64), np.asarray(people, dtype=np.float64)
    if a.shape != b.shape[1:]:
        raise ValueError(f"expected the same images, got {a.shape} and {b.shape}")
    k = len(b)

    def kappa(means: Float) -> Float:
        p, q, both = means[..., :1], means[..., 1 : k + 1], means[..., k + 1 :]
        observed = np.minimum(1 - p - q + 2 * both, 1.0)
        return np.asarray(_kappa(observed, p * q + (1 - p) * (1 - q)).mean(axis=-1))

    return function_of_means(np.concatenate([a[None], b, a * b]).T, kappa)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """All observers of one condition on the same images."""

    key: tuple[str, ...]  # data set and condition
    observers: tuple[str, ...]
    images: tuple[str, ...]
    correct: Bools  # (observers, images)


def blocks(
    *,
    keys: Sequence[npt.ArrayLike],
    observer: npt.ArrayLike,
    image: npt.ArrayLike,
    correct: npt.ArrayLike,
) -> Iterator[Block]:
    """Long table of trials -> one matrix per combination of `keys` (each (trials,)), in sorted order.

    Trials are paired by the name of the image, never by the order of rows. Raises `HumanDataError` naming the first
    cases if an observer saw an image twice; observers with different images keep those that all of them saw, if these
    are at least 100.
    """
    group_of, groups = _coded(keys)
    who, whos = _codes(observer)
    what, whats = _codes(image)
    right = np.asarray(correct, dtype=bool)
    order = np.lexsort((what, who, group_of))
    cuts = np.flatnonzero(np.diff(group_of[order])) + 1
    for rows in np.split(order, cuts):
        key = groups[group_of[rows[0]]]
        yield _block(key, who[rows], what[rows], right[rows], whos, whats)


def _block(
    key: tuple[str, ...], who: npt.NDArray[np.int64], what: npt.NDArray[np.int64], right: Bools,
    whos: list[str], whats: list[str],
) -> Block:  # fmt: skip
    """Rows come sorted by observer, then by image."""
    again = (who[1:] == who[:-1]) & (what[1:] == what[:-1])
    if again.any():
        cases = [(whos[who[i]], whats[what[i]]) for i in np.flatnonzero(again)[:5]]
        raise HumanDataError(f"{'/'.join(key)}: observers answered an image twice: {cases}")
    starts = np.flatnonzero(np.append(True, who[1:] != who[:-1]))
    runs = np.split(np.arange(len(who)), starts[1:])
    first = what[runs[0]]
    if all(len(run) == len(first) and np.array_equal(what[run], first) for run in runs):
        common, matrix = first, right.reshape(len(runs), -1)
    else:
        common, matrix = _common(key, runs, what, right)
    return Block(
        key=key,
        observers=tuple(whos[who[run[0]]] for run in runs),
        images=tuple(whats[i] for i in common),
        correct=matrix,
    )


def _common(
    key: tuple[str, ...], runs: list[npt.NDArray[np.int64]], what: npt.NDArray[np.int64], right: Bools
) -> tuple[npt.NDArray[np.int64], Bools]:
    common = what[runs[0]]
    for run in runs[1:]:
        common = np.intersect1d(common, what[run], assume_unique=True)
    if len(common) < MIN_COMMON:
        raise HumanDataError(
            f"{'/'.join(key)}: observers saw different images and share {len(common)} of them; "
            f"at least {MIN_COMMON} are needed"
        )
    return common, np.stack([right[run][np.isin(what[run], common)] for run in runs])


def _codes(values: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Numbers of the sorted names; columns that pandas has coded already are not coded again."""
    import pandas as pd

    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.CategoricalDtype):
        known = [str(name) for name in values.cat.categories]
        order = sorted(range(len(known)), key=known.__getitem__)
        place = np.append(np.argsort(order), -1)  # -1, no value, stays -1
        codes, names = place[values.cat.codes.to_numpy()], [known[i] for i in order]
    else:
        column = values if isinstance(values, pd.Series) else np.asarray(values, dtype=object)
        codes, found = pd.factorize(column, sort=True)
        names = [str(name) for name in found]
    if (codes < 0).any():
        raise HumanDataError(f"{int((codes < 0).sum())} trials have no observer, image or condition")
    return codes, names


def _coded(keys: Sequence[npt.ArrayLike]) -> tuple[npt.NDArray[np.int64], list[tuple[str, ...]]]:
    total: npt.NDArray[np.int64] = np.zeros(1, dtype=np.int64)
    parts = []
    for key in keys:
        codes, names = _codes(key)
        total = total * len(names) + codes
        parts.append(names)
    sizes = [len(names) for names in parts]
    found, compact = np.unique(total, return_inverse=True)
    places = np.array(np.unravel_index(found, sizes)).T
    return compact, [tuple(parts[i][j] for i, j in enumerate(place)) for place in places]
