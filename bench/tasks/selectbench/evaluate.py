"""From the scores of one assignment to its numbers: each an estimate, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.metrics.selectbench.fingerprints import internal_diversity, morgan
from bench.metrics.selectbench.matching import (
    NEAREST,
    SizeLine,
    hit_thresholds,
    nearest_in_size,
    size_line,
    z_scores,
)
from bench.metrics.selectbench.rates import (
    Estimate,
    curve_mean,
    median,
    share,
    standing,
    success_curve,
)
from bench.metrics.selectbench.windows import TENFOLD, Selectivity, selectivity
from bench.tasks.selectbench.molecules import Batch
from bench.tasks.selectbench.scorer import Scored

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Result = Estimate | str  # the reason why there is no estimate
_LIBRARY = 64  # molecules of the whole library, of which `NEAREST` are matched


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reference:
    """The reference drugs on the targets of one assignment."""

    heavy_atoms: Floats
    inchikeys: tuple[str, ...]
    on: Floats
    off: Floats  # (L, J)

    @property
    def windows(self) -> Floats:
        return selectivity(on=self.on, off=self.off).window


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """A batch on one choice of off-targets, with the reference drugs on the same; rows as requested."""

    batch: Batch
    off: tuple[str, ...]
    reference: Reference
    on_scores: Floats  # clipped at 0
    found: Selectivity
    z_on: Floats
    z_window: Floats
    hits: Bools
    novel: Bools
    matched: npt.NDArray[np.int64]

    @property
    def n(self) -> int:
        return len(self.batch.molecules)

    @property
    def eligible(self) -> Bools:
        """Distinct molecules that pass the gate and hit the on-target."""
        return self.batch.first & self.batch.passes_gate & self.hits

    @property
    def windows(self) -> Floats:
        return self.found.window


def reference_of(scored: Sequence[Scored], on: str, off: Sequence[str]) -> Reference:
    """The library's scores as arrays."""

    def column(target: str) -> Floats:
        values = [item.scores[target].value for item in scored]
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    return Reference(
        heavy_atoms=np.array([item.heavy_atoms for item in scored], dtype=np.float64),
        inchikeys=tuple(item.inchikey for item in scored),
        on=column(on),
        off=np.column_stack([column(t) for t in off]) if off else np.empty((len(scored), 0)),
    )


def table_of(
    batch: Batch, off: Sequence[str], scored: Sequence[Scored], known_ligands: frozenset[str]
) -> Table:
    """Everything that is known of each molecule. `known_ligands` are InChIKeys that are not novel."""
    on = batch.assignment.on
    reference = reference_of(scored, on, off)
    raw_on, raw_off = batch.scores([on])[:, 0], batch.scores(list(off))
    heavy = batch.heavy_atoms
    z = np.column_stack(
        [
            _z(raw, heavy, ref, reference.heavy_atoms)
            for raw, ref in zip([raw_on, *raw_off.T], [reference.on, *reference.off.T], strict=True)
        ]
    )
    keys = [m.ligand.inchikey if m.ligand else "" for m in batch.molecules]
    same = np.array([[key == other for other in reference.inchikeys] for key in keys], dtype=bool)
    on_scores = np.minimum(raw_on, 0.0)
    return Table(
        batch=batch,
        off=tuple(off),
        reference=reference,
        on_scores=on_scores,
        found=selectivity(on=raw_on, off=raw_off),
        z_on=z[:, 0],
        z_window=_lowest(z[:, 1:]) - z[:, 0],
        hits=_hits(on_scores, heavy, reference),
        novel=batch.valid & np.array([k not in known_ligands and k not in reference.inchikeys for k in keys]),
        matched=_matched(heavy, reference, same),
    )


def _lowest(z: Floats) -> Floats:
    """Row minima; NaN for a row with a gap or without columns."""
    return z.min(axis=1) if z.shape[1] else np.full(len(z), np.nan)


def _z(scores: Floats, heavy: Floats, reference: Floats, reference_heavy: Floats) -> Floats:
    try:
        line: SizeLine = size_line(scores=np.minimum(reference, 0.0), heavy_atoms=reference_heavy)
    except ValueError:
        return np.full(len(scores), np.nan)
    return z_scores(scores=np.minimum(scores, 0.0), heavy_atoms=heavy, line=line)


def _hits(on_scores: Floats, heavy: Floats, reference: Reference) -> Bools:
    there = np.isfinite(on_scores) & np.isfinite(heavy)
    hits = np.zeros(len(on_scores), dtype=bool)
    if there.any() and np.isfinite(reference.on).any():
        limits = hit_thresholds(
            heavy_atoms=heavy[there],
            reference_heavy_atoms=reference.heavy_atoms,
            reference_scores=np.minimum(reference.on, 0.0),
        )
        hits[there] = on_scores[there] <= limits
    return hits


def _matched(heavy: Floats, reference: Reference, same: Bools) -> npt.NDArray[np.int64]:
    """Of a library of 64 the 16 nearest in size, of a smaller one as large a part; never the molecule itself."""
    k = max(4, round(NEAREST * len(reference.inchikeys) / _LIBRARY))
    unscored = ~np.isfinite(reference.windows)
    return nearest_in_size(
        heavy_atoms=np.nan_to_num(heavy),
        reference_heavy_atoms=reference.heavy_atoms,
        k=k,
        excluded=same | unscored[None, :],
    )


def estimates(table: Table, *, seed: int, ligand: tuple[float, float] | None) -> dict[str, Result]:
    """Every metric of one assignment on the off-targets of `table`.

    `ligand` is (on-target score, window) of the first literature ligand of the on-target. `seed` is that of the
    bootstrap: assignments that are combined later need different ones.
    """
    n, batch, windows = table.n, table.batch, table.windows
    curve = success_curve(windows=windows, eligible=table.eligible, requested=n)
    found: dict[str, Result] = {
        "ssr_10x": share(table.eligible & (windows >= TENFOLD), requested=n),
        "ssr_auc": Estimate(value=curve_mean(curve), low=None, high=None, n=n, method=""),
        "hit_on": share(batch.first & table.hits, requested=n),
        "on_best": share(batch.first & (table.found.rank_on == 1.0), requested=n),
        "valid": share(batch.valid, requested=n),
        "unique": _share_of(batch.first, batch.valid, "no molecule is valid"),
        "novel": share(table.novel, requested=n),
        "dockable": share(np.isfinite(windows), requested=n),
        "gate": share(batch.passes_gate, requested=n),
        "diversity": _diversity(batch),
        **_standing(table, seed),
        **_medians(table, seed),
        **_published(table, ligand),
    }
    return found


def _share_of(part: Bools, whole: Bools, reason: str) -> Result:
    return share(part, requested=int(whole.sum())) if whole.any() else reason


def _diversity(batch: Batch) -> Result:
    smiles = [m.ligand.smiles for m in batch.molecules if m.first and m.ligand]
    if len(smiles) < 2:
        return "fewer than two different valid molecules"
    value = internal_diversity(morgan(smiles))
    return Estimate(value=value, low=None, high=None, n=len(smiles), method="")


def _standing(table: Table, seed: int) -> dict[str, Result]:
    first = table.batch.first
    try:
        found = standing(
            windows=table.windows[first],
            reference_windows=table.reference.windows,
            matched=table.matched[first],
            seed=seed,
        )
    except ValueError:
        reason = "no molecule has a score on every target, or no reference drug has"
        return {"sel_gain": reason, "sel_auc": reason}
    return {"sel_gain": found.gain, "sel_auc": found.auc}


def _medians(table: Table, seed: int) -> dict[str, Result]:
    found, first = table.found, table.batch.first
    per_molecule: Mapping[str, Floats] = {
        "window": found.window,
        "on_score": table.on_scores,
        "delta_mean": found.delta_mean,
        "z_on": table.z_on,
        "z_window": table.z_window,
        "ligand_efficiency": table.on_scores / table.batch.heavy_atoms,
        "rank_on": (found.rank_on - 1.0) / max(1, len(table.off)),
        "entropy": found.entropy,
        "partition": found.partition,
        "gini": found.gini,
        "selectivity_score": found.selectivity,
    }
    return {name: _median(values[first], seed) for name, values in per_molecule.items()}


def _median(values: Floats, seed: int) -> Result:
    try:
        return median(values, seed=seed)
    except ValueError:
        return "no molecule has the scores that this needs"


def _published(table: Table, ligand: tuple[float, float] | None) -> dict[str, Result]:
    n, windows, on = table.n, table.windows, table.on_scores
    first = table.batch.first
    weakest_off = windows + on  # the strongest off-target score
    found: dict[str, Result] = {
        "off_gt_7": share(first & (weakest_off > -7.0), requested=n),
        "strict": share(first & (on < -7.0) & (weakest_off > -6.0), requested=n),
        **{f"sel_gt_{k}": share(first & (windows > k), requested=n) for k in (1, 2, 3, 4)},
        "better_than_ref": "no literature ligand of the on-target is known in this case",
    }
    if ligand is not None:
        found["better_than_ref"] = share(first & (on < ligand[0]) & (windows > ligand[1]), requested=n)
    return found
