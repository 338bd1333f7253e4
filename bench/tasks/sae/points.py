"""The settings at which a coder is fitted: number of latents and target sparsity. The first one gives the headline."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One setting; `facet` is "" for the task's own values."""

    n_latents: int
    target_l0: float
    facet: str = ""


def sweep(*, n_latents: int, l0: float, sparsities: str = "", widths: str = "") -> tuple[Point, ...]:
    """The point (`n_latents`, `l0`) and those with L0 or width times the factors listed, with commas between.

    Facets are "sparsity=0.5" and "width=2".
    """
    points = [Point(n_latents=n_latents, target_l0=l0)]
    for factor in _numbers(sparsities):
        points.append(Point(n_latents=n_latents, target_l0=factor * l0, facet=f"sparsity={factor:g}"))
    for factor in _numbers(widths):
        width = max(1, round(factor * n_latents))
        points.append(Point(n_latents=width, target_l0=l0, facet=f"width={factor:g}"))
    return tuple(points)


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",") if part]
