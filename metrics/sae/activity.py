"""Proxies of polysemanticity that need codes only, or codes and labels. One value per latent; NaN: not defined.

Latents with fewer than 20 activations are left out everywhere: a handful of inputs says nothing about a latent.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from bench.metrics.sae.inputs import Float, codes_matrix, finite

FEWEST = 20
_BINS = 32
_STEPS = 30  # of expectation maximisation
_SMALLEST_SPREAD = 1e-2  # of a component, relative to all values: no component collapses on a point


def active_enough(*, codes: Any) -> np.ndarray:
    """Which latents have at least 20 activations, bool (m,)."""
    return np.asarray(np.diff(codes_matrix(codes).tocsc().indptr) >= FEWEST)


def top_entropy(*, codes: Any, labels: Any, groups: Any = None) -> Float:
    """Entropy in bits of the label (n,) of the 20 strongest activations, (m,); lower is cleaner.

    Labels are token ids, or the largest factor. Of rows with one value of `groups` (a document) only the strongest
    counts.
    """
    f, names = np.abs(codes_matrix(codes)).tocsc(), np.asarray(labels)
    places = np.arange(len(names)) if groups is None else np.asarray(groups)
    found = np.full(f.shape[1], np.nan)
    for j, (rows, values) in enumerate(_columns(f)):
        if len(rows) < FEWEST:
            continue
        order = rows[np.argsort(-values, kind="stable")]
        _, first = np.unique(places[order], return_index=True)
        strongest = order[np.sort(first)[:FEWEST]]
        _, counts = np.unique(names[strongest], return_counts=True)
        found[j] = _entropy(counts / counts.sum())
    return found


def label_entropy(*, codes: Any, labels: Any) -> Float:
    """Entropy in bits of the labels (n,) weighted by |f_j|, (m,); lower is cleaner."""
    f = np.abs(codes_matrix(codes))
    _, index = np.unique(np.asarray(labels), return_inverse=True)
    mass = np.asarray(f.T @ np.eye(int(index.max()) + 1)[index])
    shares = mass / np.maximum(mass.sum(axis=1, keepdims=True), 1e-300)
    entropy = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    return np.where(active_enough(codes=f), entropy, np.nan)


def bimodality(*, codes: Any) -> Float:
    """BIC(one Gaussian) - BIC(two) of the log active magnitudes, per activation, (m,); higher: several kinds."""
    found = np.full(codes_matrix(codes).shape[1], np.nan)
    for j, (_, values) in enumerate(_columns(np.abs(codes_matrix(codes)).tocsc())):
        if len(values) >= FEWEST:
            found[j] = _two_against_one(np.log(values))
    return found


def input_rank(*, codes: Any, rows: Any) -> Float:
    """Participation ratio of the eigenvalues of the |f|-weighted covariance of the active rows (n, d), (m,), >= 1."""
    f, x = np.abs(codes_matrix(codes)).tocsc(), finite("rows", rows)
    found = np.full(f.shape[1], np.nan)
    for j, (index, values) in enumerate(_columns(f)):
        if len(index) < FEWEST:
            continue
        weights = values / values.sum()
        centred = (x[index] - weights @ x[index]) * np.sqrt(weights)[:, None]
        gram = centred @ centred.T if len(index) < x.shape[1] else centred.T @ centred
        total, squares = float(np.trace(gram)), float((gram**2).sum())
        found[j] = total**2 / squares if squares > 0 else 1.0
    return found


def coactivation(*, codes: Any) -> Float:
    """Largest Jaccard index of a latent's active rows with those of another, (m,) in [0, 1]."""
    f = codes_matrix(codes)
    f.data = np.ones_like(f.data)
    both = np.asarray((f.T @ f).todense())
    counts = both.diagonal().copy()
    union = counts[:, None] + counts[None, :] - both
    index = np.divide(both, union, out=np.zeros_like(both), where=union > 0)
    np.fill_diagonal(index, 0.0)
    return np.where(counts >= FEWEST, index.max(axis=1, initial=0.0), np.nan)


def separability(*, codes: Any, labels: Any) -> Float:
    """Mean over labels of the Jensen-Shannon distance (base 2) between a latent's values inside and outside, (m,).

    Histograms have 32 bins shared by both sides; the value 0 of inactive rows has a bin like any other.
    """
    f = np.abs(codes_matrix(codes))
    _, index = np.unique(np.asarray(labels), return_inverse=True)
    sizes = np.bincount(index).astype(np.float64)
    found = np.full(f.shape[1], np.nan)
    for j, (rows, values) in enumerate(_columns(f.tocsc())):
        if len(rows) < FEWEST or len(sizes) < 2:
            continue
        bins = np.minimum((values / values.max() * _BINS).astype(int), _BINS - 1)
        counts = np.zeros((len(sizes), _BINS))
        np.add.at(counts, (index[rows], bins), 1.0)
        counts[:, 0] += sizes - counts.sum(axis=1)
        rest = counts.sum(axis=0) - counts
        p, q = counts / sizes[:, None], rest / (sizes.sum() - sizes)[:, None]
        found[j] = float(np.sqrt(np.maximum(_divergence(p, q), 0.0)).mean())
    return found


def _columns(f: Any) -> list[tuple[np.ndarray, Float]]:
    """Rows and values of the active entries of each latent."""
    places = f.indptr
    return [(f.indices[a:b], f.data[a:b].astype(np.float64)) for a, b in pairwise(places)]


def _entropy(shares: Float) -> float:
    inside = shares[shares > 0]
    return float(-(inside * np.log2(inside)).sum()) + 0.0


def _divergence(p: Float, q: Float) -> Float:
    middle = (p + q) / 2

    def half(a: Float) -> Float:
        ratio = np.divide(a, middle, out=np.ones_like(a), where=(middle > 0) & (a > 0))
        return np.asarray((a * np.log2(ratio)).sum(axis=-1))

    return (half(p) + half(q)) / 2


def _two_against_one(values: Float) -> float:
    n, spread = len(values), float(values.std())
    if spread <= 1e-9:
        return 0.0
    v = (values - values.mean()) / spread
    one = -0.5 * n * (math.log(2 * math.pi) + 1)
    two = _fit_two(v)
    return ((2 * math.log(n) - 2 * one) - (5 * math.log(n) - 2 * two)) / n


def _fit_two(v: Float) -> float:
    """Log likelihood of two Gaussians on standardised values, by EM from the halves below and above the mean."""
    means = np.array([v[v <= 0].mean(), v[v > 0].mean()])
    spreads, shares = np.array([0.6, 0.6]), np.array([0.5, 0.5])
    for _ in range(_STEPS):
        logs = np.log(shares) - np.log(spreads) - 0.5 * ((v[:, None] - means) / spreads) ** 2
        weights = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
        mass = np.maximum(weights.sum(axis=0), 1e-9)
        shares, means = mass / len(v), (weights * v[:, None]).sum(axis=0) / mass
        variances = (weights * (v[:, None] - means) ** 2).sum(axis=0) / mass
        spreads = np.sqrt(np.maximum(variances, _SMALLEST_SPREAD**2))
    logs = np.log(shares) - np.log(spreads) - 0.5 * ((v[:, None] - means) / spreads) ** 2
    return float(np.logaddexp.reduce(logs, axis=1).sum() - 0.5 * len(v) * math.log(2 * math.pi))
