"""The two-concept world, in which everything is known in closed form.

Orthonormal concepts d1, d2 of magnitude 1; P(only 1) = p1, P(only 2) = p2, P(both) = q, else x = 0. Two unit atoms
code each row with the one that has the larger inner product.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class Toy2:
    """The probabilities, and what follows from them."""

    name: str
    p1: float
    p2: float
    q: float

    def sha256(self) -> str:
        """Identity of the world."""
        return hashlib.sha256(json.dumps({"format": 1, **asdict(self)}, sort_keys=True).encode()).hexdigest()

    @property
    def rows(self) -> npt.NDArray[np.float64]:
        """The distinct rows (4, 2): only 1, only 2, both, none."""
        return np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Their probabilities."""
        return np.array([self.p1, self.p2, self.q, 1 - self.p1 - self.p2 - self.q])

    @property
    def turning(self) -> float:
        """The rarer concept: it is its atom that turns."""
        return min(self.p1, self.p2)

    @property
    def angle(self) -> float:
        """By how many degrees one atom of the optimum turns towards the other, in [0, 45)."""
        return math.degrees(0.5 * math.atan2(2 * self.q, self.turning))

    @property
    def least_distortion(self) -> float:
        """D* = q + a / 2 - sqrt(a^2 + 4 q^2) / 2."""
        a = self.turning
        return self.q + a / 2 - 0.5 * math.hypot(a, 2 * self.q)

    @property
    def optimum(self) -> npt.NDArray[np.float64]:
        """Atoms (2, 2) with the least distortion: one stays, the atom of the rarer concept turns."""
        t = math.radians(self.angle)
        if self.p1 <= self.p2:
            return np.array([[math.cos(t), math.sin(t)], [0.0, 1.0]])
        return np.array([[1.0, 0.0], [math.sin(t), math.cos(t)]])

    @property
    def exact_l0(self) -> tuple[float, float]:
        """Rates without distortion: of the two concepts, and of these with their conjunction as a third atom."""
        return self.p1 + self.p2 + 2 * self.q, self.p1 + self.p2 + self.q

    @property
    def exact_bits(self) -> tuple[float, float]:
        """The same in bits of the support."""
        mono = _h2(self.p1 + self.q) + _h2(self.p2 + self.q)
        return mono, _h2(self.p1) + _h2(self.p2) + _h2(self.q)

    def sample(self, n: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
        """`n` rows in the exact proportions, as far as whole rows allow, in random order, float32 (n, 2)."""
        counts = np.floor(self.weights * n).astype(int)
        counts[3] += n - counts.sum()
        return rng.permutation(np.repeat(self.rows, counts, axis=0)).astype(np.float32)


def _h2(p: float) -> float:
    return 0.0 if p <= 0 or p >= 1 else -(p * math.log2(p) + (1 - p) * math.log2(1 - p))


TOYS: dict[str, Toy2] = {
    toy.name: toy
    for toy in (
        Toy2(name="toy2-q02", p1=0.1, p2=0.1, q=0.02),
        Toy2(name="toy2-q05", p1=0.1, p2=0.1, q=0.05),
        Toy2(name="toy2-q10", p1=0.1, p2=0.1, q=0.1),
        Toy2(name="toy2-q20", p1=0.1, p2=0.1, q=0.2),
        Toy2(name="toy2-skew", p1=0.1, p2=0.05, q=0.1),
    )
}
