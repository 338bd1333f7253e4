"""Which factors occur together: independent, in pairs, never in pairs, in correlated groups, in a hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Active = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]


class Structure(Protocol):
    """A distribution over sets of active factors."""

    @property
    def prevalence(self) -> Float:
        """Probability of each factor, (N,)."""

    @property
    def parents(self) -> npt.NDArray[np.int64]:
        """Parent of each factor, or -1, (N,)."""

    def draw(self, n: int, rng: np.random.Generator) -> Active:
        """`n` sets, bool (n, N)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flat:
    """Factors without a hierarchy."""

    prevalence: Float

    @property
    def parents(self) -> npt.NDArray[np.int64]:
        return np.full(len(self.prevalence), -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Independent(_Flat):
    """Every factor for itself."""

    def draw(self, n: int, rng: np.random.Generator) -> Active:
        return rng.random((n, len(self.prevalence)), dtype=np.float32) < self.prevalence


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs(_Flat):
    """Factors 2i and 2i + 1 occur together with probability `both`, each with its prevalence."""

    both: float

    def draw(self, n: int, rng: np.random.Generator) -> Active:
        half = len(self.prevalence) // 2
        p = float(self.prevalence[0])
        u = rng.random((n, half), dtype=np.float32)
        active = np.zeros((n, 2 * half), bool)
        active[:, 0::2] = u < p
        active[:, 1::2] = (u < self.both) | ((u >= p) & (u < 2 * p - self.both))
        return active


@dataclass(frozen=True, slots=True, kw_only=True)
class Copula(_Flat):
    """A Gaussian copula with a few common causes: `loadings` (N, rank), rows of norm below 1."""

    loadings: Float

    def draw(self, n: int, rng: np.random.Generator) -> Active:
        from scipy.special import ndtri

        own = np.sqrt(1 - (self.loadings**2).sum(axis=1))
        common = rng.standard_normal((n, self.loadings.shape[1])) @ self.loadings.T
        noise = own * rng.standard_normal((n, len(self.prevalence)), dtype=np.float32)
        return np.asarray(common + noise < ndtri(self.prevalence))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchy:
    """A child occurs only with its parent, and at most one child of a parent at a time.

    `inner` decides about the roots (their factors are the first ones); `given_parent` (children,) is the probability
    of a child while its parent is on; children of one parent are neighbours.
    """

    inner: Any
    parent_of: npt.NDArray[np.int64]  # (children,)
    given_parent: Float

    @property
    def prevalence(self) -> Float:
        return np.concatenate(
            [self.inner.prevalence, self.inner.prevalence[self.parent_of] * self.given_parent]
        )

    @property
    def parents(self) -> npt.NDArray[np.int64]:
        return np.concatenate([np.full(len(self.inner.prevalence), -1), self.parent_of])

    def draw(self, n: int, rng: np.random.Generator) -> Active:
        roots = self.inner.draw(n, rng)
        u = rng.random((n, roots.shape[1]), dtype=np.float32)[:, self.parent_of]
        top = _within_parent(self.parent_of, self.given_parent)
        children = roots[:, self.parent_of] & (u >= top - self.given_parent) & (u < top)
        return np.concatenate([roots, children], axis=1)


def _within_parent(parent_of: npt.NDArray[np.int64], shares: Float) -> Float:
    """Running sum of `shares` that starts anew with each parent."""
    total = np.cumsum(shares)
    starts = np.flatnonzero(np.diff(parent_of, prepend=-1))
    before = np.concatenate([[0.0], total])[starts]
    return np.asarray(total - before[np.searchsorted(starts, np.arange(len(shares)), side="right") - 1])


def independent(n: int, *, rng: np.random.Generator, p: float) -> Structure:
    return Independent(prevalence=np.full(n, p))


def pairs(n: int, *, rng: np.random.Generator, p: float, c: float) -> Structure:
    """P(factor) = p, P(partner | factor) = c; c = 0: partners never occur together."""
    if n % 2 or not 0 <= c <= 1 or 2 * p - c * p > 1:
        raise ValueError(f"pairs need an even number of factors and 2 p - c p <= 1, got {n}, p={p}, c={c}")
    return Pairs(prevalence=np.full(n, p), both=c * p)


def copula(n: int, *, rng: np.random.Generator, p: float, rank: float, scale: float) -> Structure:
    """Loadings are `scale` times standard normal; rows longer than 0.95 are shortened to it."""
    return Copula(prevalence=np.full(n, p), loadings=_loadings(n, int(rank), scale, rng))


def hierarchy(n: int, *, rng: np.random.Generator, roots: float, root_p: float, child_p: float) -> Structure:
    """One level: `roots` roots, the other factors their children in equal numbers."""
    n_roots = int(roots)
    parent_of = np.repeat(np.arange(n_roots), (n - n_roots) // n_roots)
    inner = Independent(prevalence=np.full(n_roots, root_p))
    return _with_children(inner, parent_of, np.full(len(parent_of), child_p / root_p))


def zipf(
    n: int, *, rng: np.random.Generator, roots: float, low: float, high: float, rank: float, scale: float
) -> Structure:
    """Prevalences fall like i^-0.5 from `high` to `low`; roots correlate; children exclude their siblings.

    A child's rate is compensated for its parent's: it occurs as often as its place in the order says, or as its
    parent allows.
    """
    powers = np.arange(1, n + 1) ** -0.5
    rates = low + (high - low) * (powers - powers[-1]) / (powers[0] - powers[-1])
    n_roots = int(roots)
    inner = Copula(prevalence=rates[:n_roots], loadings=_loadings(n_roots, int(rank), scale, rng))
    parent_of = np.repeat(np.arange(n_roots), -(-(n - n_roots) // n_roots))[: n - n_roots]
    given = np.minimum(rates[n_roots:] / rates[parent_of], 1.0)
    siblings = np.bincount(parent_of, weights=given, minlength=n_roots)[parent_of]
    return _with_children(inner, parent_of, given / np.maximum(1.0, siblings))


def _with_children(inner: Any, parent_of: npt.NDArray[np.int64], given_parent: Float) -> Hierarchy:
    totals = np.bincount(parent_of, weights=given_parent)
    if totals.max() > 1 + 1e-9:
        raise ValueError("children that exclude each other occur more often than their parent")
    return Hierarchy(inner=inner, parent_of=parent_of, given_parent=given_parent)


def _loadings(n: int, rank: int, scale: float, rng: np.random.Generator) -> Float:
    loadings = scale * rng.standard_normal((n, rank))
    norms = np.linalg.norm(loadings, axis=1, keepdims=True)
    return np.asarray(loadings * np.minimum(1.0, 0.95 / norms))


STRUCTURES: dict[str, Callable[..., Structure]] = {
    "independent": independent, "pairs": pairs, "copula": copula, "hierarchy": hierarchy, "zipf": zipf,
}  # fmt: skip
