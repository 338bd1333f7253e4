"""Published models with the share of their images that people took for real, and their published metrics.

41 models of four data sets; the tables and their licence (MIT, Layer 6 AI) are in `static`.
"""

from __future__ import annotations

import csv
import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.errors import MissingRequirement

SHA256 = "eb0f90d18a100d96b4a3a13c643dffab16e563ceb46270f2f812d25ce4c0f008"
_FOLDER = Path(__file__).parent / "static"
_FILES = ("dgm_leaderboard.csv", "human_error.csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedModel:
    """A model, the share of its images that people took for real, and its published metrics by name."""

    name: str
    human_error_rate: float
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedModels:
    """The models of one data set, in the order of the published table."""

    name: str
    title: str
    models: tuple[PublishedModel, ...]

    def rates(self) -> list[float]:
        """Human error rates of all models."""
        return [model.human_error_rate for model in self.models]

    def values(self, metric: str) -> list[float] | None:
        """Published values of `metric` for all models; None if one of them has none."""
        found = [model.metrics[metric] for model in self.models if metric in model.metrics]
        return found if len(found) == len(self.models) else None


def load_cifar10() -> PublishedModels:
    """13 models of CIFAR-10."""
    return _load("human-cifar10", "CIFAR10")


def load_imagenet() -> PublishedModels:
    """11 models of ImageNet at 256 x 256."""
    return _load("human-imagenet256", "ImageNet256")


def load_bedrooms() -> PublishedModels:
    """8 models of the bedrooms of LSUN."""
    return _load("human-lsun-bedroom", "LSUN-Bedroom")


def load_faces() -> PublishedModels:
    """9 models of FFHQ at 256 x 256."""
    return _load("human-ffhq256", "FFHQ256")


def _load(name: str, title: str) -> PublishedModels:
    """Models with both a human error rate and metrics; rows of real images have no rate of their own."""
    rates, published = _tables()
    return PublishedModels(
        name=name,
        title=title,
        models=tuple(
            PublishedModel(
                name=row["model"],
                human_error_rate=float(rates[title, row["model"]]),
                metrics={
                    key: float(value)
                    for key, value in row.items()
                    if key not in ("dataset", "model") and not key.startswith("human") and value
                },
            )
            for row in published
            if row["dataset"] == title and (title, row["model"]) in rates
        ),
    )


@functools.cache
def _tables() -> tuple[dict[tuple[str, str], str], list[dict[str, str]]]:
    contents = [(_FOLDER / name).read_bytes() for name in _FILES]
    found = hashlib.sha256(b"".join(contents)).hexdigest()
    if found != SHA256:
        raise MissingRequirement(
            f"the published tables have SHA-256 {found}, expected {SHA256}; reinstall the package"
        )
    published, errors = (list(csv.DictReader(content.decode().splitlines())) for content in contents)
    return {(row["dataset"], row["model"]): row["human_error_rate"] for row in errors}, published
