"""From the estimates of every assignment to the measures of a unit: the value, and facets by part of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bench.datasets.selectbench.targets import is_near
from bench.metrics.selectbench.oracle import OracleCard, oracle_card
from bench.metrics.selectbench.rates import Estimate, combined
from bench.spec import Measure
from bench.tasks.selectbench.evaluate import Result, Table, estimates, table_of
from bench.tasks.selectbench.molecules import Batch
from bench.tasks.selectbench.reference import KnownPair
from bench.tasks.selectbench.scorer import Scored

LigandOf = Callable[[str, Sequence[str]], tuple[float, float] | None]


def measure_of(result: Result) -> Measure:
    """An estimate as the bench stores it."""
    if isinstance(result, str):
        return Measure(value=None, reason=result)
    return Measure(
        value=result.value, ci_low=result.low, ci_high=result.high, ci_method=result.method, n=result.n
    )


def together(parts: Sequence[Mapping[str, Result]]) -> dict[str, Result]:
    """Each metric over all assignments. One that an assignment lacks is lacking: a mean over fewer would flatter."""
    found: dict[str, Result] = {}
    for name in parts[0]:
        results = [part[name] for part in parts]
        reasons = [r for r in results if isinstance(r, str)]
        found[name] = reasons[0] if reasons else combined([r for r in results if isinstance(r, Estimate)])
    return found


def tables_of(
    batches: Sequence[Batch],
    reference: Sequence[Sequence[Scored]],
    known_ligands: frozenset[str],
    choose: Callable[[str, Sequence[str]], Sequence[str]],
) -> list[Table]:
    """A table for each assignment on the off-targets that `choose(on, off)` picks; those without any are left out."""
    found = []
    for batch, scored in zip(batches, reference, strict=True):
        off = choose(batch.assignment.on, batch.assignment.off)
        if off:
            found.append(table_of(batch, off, scored, known_ligands))
    return found


def estimates_of(tables: Sequence[Table], ligand: LigandOf) -> list[dict[str, Result]]:
    """The estimates of each table, from different bootstrap seeds."""
    return [
        estimates(table, seed=seed, ligand=ligand(table.batch.assignment.on, table.off))
        for seed, table in enumerate(tables)
    ]


def near(on: str, off: Sequence[str]) -> list[str]:
    """Off-targets of the on-target's own family."""
    return [target for target in off if is_near(on, target)]


def far(on: str, off: Sequence[str]) -> list[str]:
    """Off-targets of other families."""
    return [target for target in off if not is_near(on, target)]


def delta_column(batches: Sequence[Batch]) -> Result:
    """Median over molecules of (mean score here of molecules made for other on-targets) - own on-target score."""
    values: list[float] = []
    for batch in batches:
        on = batch.assignment.on
        others = [b.scores([on])[:, 0] for b in batches if b is not batch and on in b.assignment.off]
        foreign = np.minimum(np.concatenate(others), 0.0) if others else np.empty(0)
        if np.isfinite(foreign).any():
            own = np.minimum(batch.scores([on])[:, 0], 0.0)[batch.first]
            values += list(np.nanmean(foreign) - own)
    finite = [v for v in values if np.isfinite(v)]
    if not finite:
        return "no molecule made for another target has a score here"
    return Estimate(value=float(np.median(finite)), low=None, high=None, n=len(finite), method="")


def card_of(pairs: Sequence[KnownPair]) -> OracleCard:
    """The scorer's agreement with measurements in this case."""

    def numbers(values: Sequence[float | None]) -> np.ndarray:
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    return oracle_card(
        on=numbers([p.on for p in pairs]),
        off=numbers([p.off for p in pairs]),
        sign=np.array([p.preference.sign for p in pairs]),
        clear=np.array([p.preference.is_clear for p in pairs], dtype=bool),
        delta=numbers([p.preference.delta for p in pairs]),
    )


def accuracy_measure(card: OracleCard) -> Measure:
    """The oracle's accuracy with Wilson's interval."""
    if card.accuracy is None:
        return Measure(value=None, reason="no ligand of known preference in this case")
    return Measure(value=card.accuracy, ci_low=card.low, ci_high=card.high, ci_method="wilson", n=card.n)


def noise_measure(samples: Sequence[tuple[float, float]]) -> Measure:
    """Mean standard deviation of a score over two evaluation seeds."""
    if not samples:
        return Measure(value=None, reason="no reference drug has a score with both seeds")
    spread = [abs(a - b) / 2**0.5 for a, b in samples]
    return Measure(value=float(np.mean(spread)), n=len(spread))
