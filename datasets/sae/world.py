"""Worlds in which concepts are known: rows are sums of concept vectors, with a chosen pattern of co-occurrence.

    x = z D + b,   z_i = active_i * relu(mean_i + sd_i * normal)

A recipe says how a world is made; `make(seed)` draws its dictionary. Every purpose has a stream of randomness of its
own: dictionary, structure, training rows, evaluation rows, interventions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.sae.dictionary import spread_dictionary
from bench.datasets.sae.structures import STRUCTURES, Structure

Array = npt.NDArray[np.float32]
Keep = Callable[[str, Callable[[], Any]], Any]  # (name, compute) -> an array kept between jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is fixed about a world before its seed; `structure` names one of `STRUCTURES`."""

    name: str
    structure: str
    n_factors: int
    dim: int
    options: tuple[tuple[str, float], ...] = ()
    mean: float = 1.0
    sd: float = 0.15
    dictionary_steps: int = 300

    def sha256(self) -> str:
        """Identity of the world: of everything that decides its rows, apart from the seed."""
        text = json.dumps({"format": 1, **asdict(self)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def make(self, seed: int, keep: Keep = lambda _, compute: compute()) -> World:
        """The world of `seed`; `keep` may store its dictionary, which costs most."""
        name = f"dictionary-{self.n_factors}-{self.dim}-{self.dictionary_steps}-{seed}"
        dictionary = keep(
            name,
            lambda: spread_dictionary(
                self.n_factors, self.dim, steps=self.dictionary_steps, rng=_stream(seed, "dictionary")
            ),
        )
        options = dict(self.options)
        structure = STRUCTURES[self.structure](self.n_factors, rng=_stream(seed, "structure"), **options)
        return World(recipe=self, seed=seed, dictionary=dictionary, structure=structure)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A world: `dictionary` float32 (N, d) with unit rows, and who occurs with whom."""

    recipe: Recipe
    seed: int
    dictionary: Array
    structure: Structure
    _memo: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def prevalence(self) -> npt.NDArray[np.float64]:
        """Marginal probability of each factor, (N,)."""
        return self.structure.prevalence

    @property
    def expected_l0(self) -> float:
        """Mean number of active factors."""
        return float(self.structure.prevalence.sum())

    def factors(self, n: int, purpose: str) -> Array:
        """`n` rows of factor values z, float32 (n, N), from the stream of `purpose`."""
        rng = _stream(self.seed, purpose)
        active = self.structure.draw(n, rng)
        z = np.zeros(active.shape, np.float32)
        rows, columns = np.nonzero(active)
        values = self.recipe.mean + self.recipe.sd * rng.standard_normal(len(rows))
        z[rows, columns] = np.maximum(values, 0.0)
        return z

    def mix(self, factors: Array) -> Array:
        """Rows x, float32 (n, d), of factor values (n, N)."""
        return factors @ self.dictionary

    def interventions(self, factor: int, bases: int) -> tuple[Array, Array]:
        """Base states with `factor` at its mean and at 0: two float32 (bases, d)."""
        z = self.factors(bases, f"intervention-{factor}")
        z[:, factor] = 0.0
        off = self.mix(z)
        return off + np.float32(self.recipe.mean) * self.dictionary[factor], off


def _stream(seed: int, purpose: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}|{purpose}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
