"""Random atoms on a unit of a synthetic world: the reference that the trade-off is measured from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bench.metrics.sae.polysemanticity import effects, polysemanticity
from bench.metrics.sae.rate import rate
from bench.spec import derived_seed
from bench.tasks.sae.protocol import WorldUnit

_LEAST = 1.01  # polysemanticity, so that its scale does not vanish


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Bits per row and polysemanticity."""

    bits: float
    poly: float


def random_reference(plan: WorldUnit, scale: float) -> Reference:
    """Of random unit atoms at the first setting of `plan`."""
    point = plan.points[0]
    rng = np.random.default_rng(derived_seed(plan.seed, "random reference"))
    atoms = rng.standard_normal((point.n_latents, plan.world.recipe.dim))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    rows = np.concatenate([plan.rows, plan.interventions()]) * scale
    codes = strongest(rows @ atoms.T, max(1, round(point.target_l0)))
    effect = effects(on=codes[plan.on], off=codes[plan.off], n_factors=plan.world.recipe.n_factors)
    part = codes[: plan.n_eval]
    shares = np.diff(part.tocsc().indptr) / plan.n_eval
    poly = polysemanticity(effect=effect, prevalence=plan.world.prevalence, density=shares)
    bits = rate(codes=part, decoder=atoms, rows=rows[: plan.n_eval]).bits
    return Reference(bits=bits, poly=max(_LEAST, poly.poly or _LEAST))


def strongest(products: np.ndarray, k: int) -> sparse.csr_matrix:
    """The k largest positive entries of each row."""
    places = np.argpartition(products, products.shape[1] - k, axis=1)[:, products.shape[1] - k :]
    values = np.maximum(np.take_along_axis(products, places, axis=1), 0.0)
    rows = np.repeat(np.arange(len(products)), k)
    codes = sparse.csr_matrix((values.ravel(), (rows, places.ravel())), shape=products.shape)
    codes.eliminate_zeros()
    return codes
