"""A structural causal model of all kinds of columns: numbers, categories, counts, amounts, missing values.

x0..x5     additive noise model: the first six nodes of `anm10`
group      3 levels, softmax of linear scores of x0
tier       4 levels, softmax of linear scores of x2 and group
channel    5 levels, softmax of linear scores of tier and x4
visits     Poisson, log mean 0.6 + 0.5 x1 + 0.4 [group is b]
claims     Poisson, log mean -0.3 + 0.35 visits^(1/2) - 0.5 [tier is t0]
amount     0 with probability expit(0.5 - 0.8 claims), else log-normal: mean of the logarithm
           1 + 0.3 x5 + 0.4 [channel is c0], standard deviation 0.5

Of x5, tier and visits 8 % are missing, with probability expit(a + parent) in a parent that never is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit, gammaln, ndtr, pdtr, softmax

from bench.datasets.tabular.dataset import Dag
from bench.datasets.tabular.quantile_residuals import discrete_residuals, from_interval, normal_cdf
from bench.datasets.tabular.scm import TANH_SCALES, AdditiveNoiseModel, random_weights

Floats = npt.NDArray[np.float64]

_NUMBERS = 6
LEVELS = {
    "group": ("a", "b", "c"),
    "tier": ("t0", "t1", "t2", "t3"),
    "channel": ("c0", "c1", "c2", "c3", "c4"),
}
# column -> (the parent its missingness depends on, a): 8 % on average
MISSING = {"x5": ("x0", -2.87), "tier": ("x2", -2.87), "visits": ("x1", -2.87)}
_MAX_LOG_MEAN = 5.0  # of counts, so that odd synthetic parents do not overflow


class MixedModel:
    """See the module. `residuals` are normal scores, so that all kinds of nodes share one law."""

    def __init__(self) -> None:
        self._numbers = AdditiveNoiseModel(
            random_weights()[:_NUMBERS, :_NUMBERS], "tanh", scales=TANH_SCALES[:_NUMBERS]
        )
        parents = {
            **self._numbers.dag.parents,
            "group": ("x0",),
            "tier": ("x2", "group"),
            "channel": ("tier", "x4"),
            "visits": ("x1", "group"),
            "claims": ("visits", "tier"),
            "amount": ("claims", "x5", "channel"),
        }
        self.dag = Dag(tuple(parents), parents)

    def sample(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """`n` rows: float64, category and Int64 columns, some values missing."""
        frame = self._numbers.sample(n, rng)
        codes: dict[str, npt.NDArray[np.int64]] = {}
        for name in LEVELS:
            chances = self._chances(name, frame, codes)
            codes[name] = (rng.random(n)[:, None] >= chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
        visits = rng.poisson(_visit_mean(frame, codes["group"]))
        claims = rng.poisson(_claim_mean(visits.astype(np.float64), codes["tier"]))
        zero = rng.random(n) < _zero_chance(claims.astype(np.float64))
        amount = np.exp(_log_amount(frame, codes["channel"]) + 0.5 * rng.standard_normal(n))
        for name, levels in LEVELS.items():
            frame[name] = pd.Categorical.from_codes(codes[name], categories=pd.Index(levels))
        frame["visits"] = pd.array(visits, dtype="Int64")
        frame["claims"] = claims
        frame["amount"] = np.where(zero, 0.0, amount)
        return _with_gaps(frame, rng)

    def residuals(self, df: pd.DataFrame) -> pd.DataFrame:
        """Normal scores of each value given its parents (randomised for discrete nodes)."""
        frame = df[list(self.dag.nodes)].reset_index(drop=True)
        codes = {
            name: pd.Index(levels).get_indexer(pd.Index(frame[name].astype(object))).astype(np.int64)
            for name, levels in LEVELS.items()
        }
        numbers = pd.DataFrame(
            {name: pd.to_numeric(frame[name], errors="coerce").astype(np.float64)
             for name in frame if name not in LEVELS}
        )  # fmt: skip
        found = dict(self._numbers.residuals(numbers).items())
        for name in LEVELS:
            chances = np.nan_to_num(self._chances(name, numbers, codes))
            found[name] = pd.Series(discrete_residuals(codes[name].astype(np.int32), chances, name))
        visits, claims = numbers["visits"].to_numpy(), numbers["claims"].to_numpy()
        found["visits"] = pd.Series(_count_residuals(visits, _visit_mean(numbers, codes["group"]), "visits"))
        found["claims"] = pd.Series(_count_residuals(claims, _claim_mean(visits, codes["tier"]), "claims"))
        found["amount"] = pd.Series(_amount_residuals(numbers, codes["channel"]))
        missing = frame.isna().assign(**{name: values < 0 for name, values in codes.items()})
        return self._without_gaps(pd.DataFrame(found)[list(self.dag.nodes)], missing)

    def noise_cdf(self, values: Floats) -> Floats:
        """The standard normal distribution function."""
        return normal_cdf(values)

    def cpt(self, node: str) -> None:
        """No node has discrete parents only."""
        return

    def _chances(self, name: str, frame: pd.DataFrame, codes: dict[str, npt.NDArray[np.int64]]) -> Floats:
        """P(level) of a categorical node given its parents, (n, levels)."""
        if name == "group":
            scores = np.outer(frame["x0"], [0.0, 1.2, -0.8]) + np.array([0.3, 0.0, 0.2])
        elif name == "tier":
            shift = np.array([[0.0, 0.8, -0.5, 0.3], [1.0, -0.4, 0.2, 0.0], [-0.6, 0.0, 0.9, 0.4]])
            scores = np.outer(frame["x2"], [0.9, 0.0, -0.7, 0.4]) + shift[codes["group"]]
        else:
            shift = np.array(
                [[1.0, 0.2, -0.4, 0.0, -1.0], [0.0, 0.9, 0.1, -0.6, 0.2],
                 [-0.8, 0.0, 1.1, 0.3, -0.2], [0.2, -0.7, 0.0, 0.8, 0.5]]
            )  # fmt: skip
            scores = np.outer(frame["x4"], [0.0, 0.7, -0.9, 0.5, -0.3]) + shift[codes["tier"]]
        return np.asarray(softmax(scores, axis=1), dtype=np.float64)

    def _without_gaps(self, residuals: pd.DataFrame, missing: pd.DataFrame) -> pd.DataFrame:
        """NaN wherever a value or a parent of it is missing or no level."""
        for node in self.dag.nodes:
            gaps = missing[[node, *self.dag.parents[node]]].any(axis=1)
            residuals[node] = residuals[node].mask(gaps)
        return residuals


def _visit_mean(frame: pd.DataFrame, group: npt.NDArray[np.int64]) -> Floats:
    scores = 0.6 + 0.5 * frame["x1"].to_numpy(dtype=np.float64) + 0.4 * (group == 1)
    return np.asarray(np.exp(np.minimum(scores, _MAX_LOG_MEAN)))


def _claim_mean(visits: Floats, tier: npt.NDArray[np.int64]) -> Floats:
    scores = -0.3 + 0.35 * np.sqrt(np.maximum(visits, 0.0)) - 0.5 * (tier == 0)
    return np.asarray(np.exp(np.minimum(scores, _MAX_LOG_MEAN)))


def _zero_chance(claims: Floats) -> Floats:
    return np.asarray(expit(0.5 - 0.8 * claims), dtype=np.float64)


def _log_amount(frame: pd.DataFrame, channel: npt.NDArray[np.int64]) -> Floats:
    return np.asarray(1.0 + 0.3 * frame["x5"].to_numpy(dtype=np.float64) + 0.4 * (channel == 0))


def _count_residuals(counts: Floats, mean: Floats, name: str) -> Floats:
    """NaN for what is no count."""
    valid = (counts >= 0) & (counts == np.floor(counts)) & ~np.isnan(mean)
    k, mean = np.where(valid, counts, 0.0), np.where(valid, mean, 1.0)
    upto = pdtr(k, mean)
    mass = np.exp(k * np.log(mean) - mean - gammaln(k + 1.0))
    return np.where(valid, from_interval(upto - mass, upto, name), np.nan)


def _amount_residuals(frame: pd.DataFrame, channel: npt.NDArray[np.int64]) -> Floats:
    amount = frame["amount"].to_numpy(dtype=np.float64)
    zero = _zero_chance(frame["claims"].to_numpy(dtype=np.float64))
    positive = amount > 0
    logs = np.log(np.where(positive, amount, 1.0))
    level = zero + (1.0 - zero) * ndtr((logs - _log_amount(frame, channel)) / 0.5)
    scores = from_interval(np.zeros_like(zero), zero, "amount")
    exact = from_interval(level, np.nextafter(level, 2.0), "amount")
    return np.where(positive, exact, np.where(amount == 0, scores, np.nan))


def _with_gaps(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    parents = {column: frame[parent].to_numpy() for column, (parent, _) in MISSING.items()}
    for column, (_, intercept) in MISSING.items():
        gaps = rng.random(len(frame)) < expit(intercept + parents[column])
        frame[column] = frame[column].mask(gaps)
    return frame
