"""The scenarios of an audit: what is done to samples, how badly, and what that damages.

A scenario turns features of known images into pairs (real, generated), one for each severity. `damages` says which
metrics have to notice: "fidelity" (samples unlike real ones), "coverage" (real samples that nothing resembles) and
"copying" (training samples). Where it is empty nothing of that changes, and no metric may move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bench.spec import derived_seed
from bench.tasks.images.audit.pools import DAMAGE, DRAWS, AuditUnit, severities

Aspect = Literal["fidelity", "coverage", "copying"]
Features = npt.NDArray[np.float32]
Pair = tuple[Features, Features]

SAMPLE_SIZE = "sample_size"
K_LEVELS = (1.0, 3.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Features of the pools, float32 (rows, d), with what is known of the images."""

    plan: AuditUnit
    sets: Mapping[str, Features]

    @property
    def n(self) -> int:
        return self.plan.n

    def draw(self, index: int) -> Pair:
        """The pair of a held-out draw; that of index 0 is what is damaged."""
        rows = slice(index * self.n, (index + 1) * self.n)
        return self.sets["real"][rows], self.sets["held"][rows]

    def rng(self, purpose: str) -> np.random.Generator:
        return np.random.default_rng(derived_seed(self.plan.seed, purpose))


Build = Callable[[Material, float], Pair]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """`levels` from harmless to worst; `build` makes the pair of one level, or several whose values are averaged."""

    name: str
    title: str
    damages: tuple[Aspect, ...]
    levels: tuple[float, ...]
    scatter: float  # of a metric at one level, relative to that of a single pair of n images
    build: Callable[[Material, float], tuple[Pair, ...]]


def scenarios(plan: AuditUnit) -> tuple[Scenario, ...]:
    """All scenarios with the severities that `plan` asks for; those that must stay flat keep all theirs."""
    found = []
    for name, (title, damages, levels, build) in _TABLE.items():
        kept = severities(levels, plan.levels) if damages else levels
        found.append(
            Scenario(
                name=name,
                title=title,
                damages=damages,
                levels=kept,
                scatter=DRAWS**-0.5 if name == SAMPLE_SIZE else 1.0,
                build=_disjoint if name == SAMPLE_SIZE else _single(build),
            )
        )
    return tuple(found)


def _single(build: Build) -> Callable[[Material, float], tuple[Pair, ...]]:
    return lambda material, level: (build(material, level),)


def _disjoint(material: Material, level: float) -> tuple[Pair, ...]:
    """All held-out images against as many reference images, in disjoint pairs of `level` n: few large or many small.

    Their mean scatters alike whatever the level, so that what is seen is the effect of the number, not of chance.
    """
    rows = round(level * material.n)
    return tuple(
        (material.sets["real"][start : start + rows], material.sets["held"][start : start + rows])
        for start in range(0, DRAWS * material.n - rows + 1, rows)
    )


def _images(name: str) -> Build:
    def build(material: Material, level: float) -> Pair:
        index = severities(DAMAGE[name][0], material.plan.levels).index(level)
        return material.draw(0)[0], material.sets[f"{name}-{index}"]

    return build


def _mixed(substitute: Callable[[Material, int], Features]) -> Build:
    """The first share of the held-out samples gives way to others."""

    def build(material: Material, level: float) -> Pair:
        real, held = material.draw(0)
        count = round(level * material.n)
        others = substitute(material, count)
        return real, np.concatenate([others, held[len(others) :]])

    return build


def _midpoints_of_features(material: Material, count: int) -> Features:
    others = material.draw(1)[1]
    return ((others + np.roll(others, 1, axis=0)) / 2).astype(np.float32)[:count]


def _drop_classes(material: Material, level: float) -> Pair:
    """None of the first `level` classes; what is missing in number comes from the class that stays to the end."""
    real, _ = material.draw(0)
    dropped = material.plan.order[: min(round(level), len(material.plan.order) - 1)]
    kept = material.sets["held"][~np.isin(material.plan.held.labels, dropped)][: material.n]
    return _equal(real, np.concatenate([kept, material.sets["reserve"][: material.n - len(kept)]]))


def _thin_classes(material: Material, level: float) -> Pair:
    """All classes but one lose the share `level` of their samples to that one."""
    real, held = material.draw(0)
    labels = material.plan.held.labels[: material.n]
    rest = np.flatnonzero(labels != material.plan.order[-1])
    removed = material.rng("thin").permutation(rest)[: round(level * len(rest))]
    last = material.sets["held"][material.n :][
        material.plan.held.labels[material.n :] == material.plan.order[-1]
    ]
    others = np.concatenate([last, material.sets["reserve"]])[: len(removed)]
    return _equal(real, np.concatenate([np.delete(held, removed, axis=0), others]))


def _repeat(material: Material, level: float) -> Pair:
    """Only one of `level` samples is different from all others; 0 stands for ten different samples in all."""
    real, held = material.draw(0)
    distinct = max(10, round(material.n / level)) if level else 10
    return real, np.resize(held[:distinct], held.shape)


def _contract(material: Material, level: float) -> Pair:
    real, held = material.draw(0)
    centre = held.mean(axis=0, dtype=np.float64)
    return real, (centre + level * (held - centre)).astype(np.float32)


def _feature_noise(material: Material, level: float) -> Pair:
    real, held = material.draw(0)
    noise = material.rng("feature noise").standard_normal(held.shape)
    return real, (held + level * real.std(axis=0, dtype=np.float64) * noise).astype(np.float32)


def _surrogate(material: Material, level: float) -> Pair:
    """Normal samples with exactly the mean and covariance of the real ones."""
    real, _ = material.draw(0)
    wide = real.astype(np.float64)
    centre = wide.mean(axis=0)
    _, scales, axes = np.linalg.svd(wide - centre, full_matrices=False)
    axes = axes[scales > scales[0] * 1e-10]
    scales = scales[scales > scales[0] * 1e-10]
    draw = material.rng("surrogate").standard_normal((len(real), len(scales)))
    whitened = np.linalg.qr(draw - draw.mean(axis=0))[0]
    return real, (centre + whitened * scales @ axes).astype(np.float32)


def _untouched(material: Material, level: float) -> Pair:
    return material.draw(0)


def _outlier(side: int) -> Build:
    """One sample lies `level` times as far from the centre as others do on average (root mean square)."""

    def build(material: Material, level: float) -> Pair:
        pair = [part.copy() for part in material.draw(0)]
        real = material.draw(0)[0].astype(np.float64)
        centre = real.mean(axis=0)
        reach = np.sqrt(((real - centre) ** 2).sum(axis=1).mean())
        pair[side][-1] = centre + level * reach / np.sqrt(real.shape[1])
        return pair[0], pair[1]

    return build


def _equal(real: Features, generated: Features) -> Pair:
    size = min(len(real), len(generated))
    return real[:size], generated[:size]


_FC: tuple[Aspect, ...] = ("fidelity", "coverage")
_F: tuple[Aspect, ...] = ("fidelity",)
_C: tuple[Aspect, ...] = ("coverage",)
#: name -> (title, what it damages, severities, how it is made)
_TABLE: dict[str, tuple[str, tuple[Aspect, ...], tuple[float, ...], Build]] = {
    "blur": ("Blur", _FC, DAMAGE["blur"][0], _images("blur")),
    "pixel_noise": ("Pixel noise", _F, DAMAGE["pixel_noise"][0], _images("pixel_noise")),
    "jpeg": ("JPEG", _F, DAMAGE["jpeg"][0], _images("jpeg")),
    "contrast": ("Less contrast", _F, DAMAGE["contrast"][0], _images("contrast")),
    "shift": ("Shift", _F, DAMAGE["shift"][0], _images("shift")),
    "invention": (
        "Images of another kind",
        _F,
        (0.02, 0.05, 0.1, 0.2, 0.4),
        _mixed(lambda material, count: material.sets["strangers"][:count]),
    ),
    "interpolation": (
        "Mixtures of two images",
        _F,
        (0.05, 0.1, 0.2, 0.3, 0.5),
        _mixed(lambda material, count: material.sets["midpoints"][:count]),
    ),
    "feature_interpolation": (
        "Midpoints of features",
        _F,
        (0.1, 0.25, 0.5, 0.75, 1.0),
        _mixed(_midpoints_of_features),
    ),
    "feature_noise": ("Feature noise", _F, (0.1, 0.3, 1.0), _feature_noise),
    "surrogate": ("Gaussian with equal moments", _F, (1.0,), _surrogate),
    "mean_image": (
        "Mean image",
        _FC,
        (0.1, 0.25, 0.5, 0.75, 1.0),
        _mixed(lambda material, count: material.sets["mean"].repeat(count, axis=0)),
    ),
    "contraction": ("Contraction", _FC, (0.95, 0.9, 0.7, 0.5, 0.2, 0.05), _contract),
    "class_drop": ("Classes dropped", _C, (1, 3, 5, 7, 9), _drop_classes),
    "class_thinning": ("Classes thinned", _C, (0.5, 0.8, 0.95, 0.99), _thin_classes),
    "duplicates": ("Duplicates", _C, (1, 3, 10, 30, 0), _repeat),
    "memorised": (
        "Training images",
        ("copying",),
        (0.1, 0.25, 0.5, 0.75, 1.0),
        _mixed(lambda material, count: material.sets["train"][:count]),
    ),
    SAMPLE_SIZE: ("Number of images", (), (0.5, 1.0, 2.5, float(DRAWS)), _untouched),
    "k": ("k", (), K_LEVELS, _untouched),
    "real_outlier": ("An outlier among real", (), (1.0, 10.0, 30.0), _outlier(0)),
    "generated_outlier": ("An outlier among generated", (), (1.0, 10.0, 30.0), _outlier(1)),
}
