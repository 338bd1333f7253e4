"""What a score leaves for the site: molecules, score matrices, curves, the oracle's card, pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bench.datasets.selectbench.drugs import approved_drugs
from bench.metrics.selectbench.fingerprints import morgan, nearest_similarity
from bench.metrics.selectbench.oracle import OracleCard
from bench.metrics.selectbench.rates import THRESHOLDS, success_curve
from bench.spec import Exhibit
from bench.tasks.selectbench.evaluate import Table
from bench.tasks.selectbench.molecules import Molecule
from bench.tasks.selectbench.reference import KnownPair

MAX_ROWS = 2_000
_CARDS = 8  # molecules drawn
Record = dict[str, Any]


def write(
    folder: Path, name: str, content: Any, caption: str, kind: Literal["table", "series"] = "table"
) -> Exhibit:
    """Write `content` as `name`.json and return the exhibit."""
    text = json.dumps(content, allow_nan=False, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return Exhibit(name=name, kind=kind, file=f"{name}.json", caption=caption)


def exhibits_of(
    tables: Sequence[Table],
    pairs: Sequence[KnownPair],
    card: OracleCard,
    guidance: Mapping[str, Mapping[str, Mapping[str, float]]],
    folder: Path,
) -> list[Exhibit]:
    """Everything that the pages show of one job."""
    molecules = [row for table in tables for row in molecule_rows(table)]
    found = [
        write(folder, "molecules", molecules[:MAX_ROWS], "Every molecule asked for and what became of it."),
        write(folder, "scores", score_rows(tables)[:MAX_ROWS], "Every docking score: molecules on targets."),
        write(
            folder, "curve", curve(tables), "Success rate against the window required, kcal/mol.", "series"
        ),
        write(
            folder, "reference", reference_rows(tables)[:MAX_ROWS], "The reference drugs on the same targets."
        ),
        write(
            folder, "oracle", oracle_rows(pairs, card), "Measured preferences and what docking says of them."
        ),
    ]
    seeds = guidance_rows(tables, guidance)
    if seeds:
        caption = (
            "Scores that guided the search beside those of the evaluation, which uses other random numbers."
        )
        found.append(write(folder, "guidance", seeds[:MAX_ROWS], caption))
    drawn = draw(tables, folder / "cards.png")
    if drawn:
        caption = f"The first {drawn} of the valid molecules with the widest window, on-target score and window below."
        found.append(Exhibit(name="cards", kind="image", file="cards.png", caption=caption))
    return found


def molecule_rows(table: Table) -> list[Record]:
    """One record a molecule: who it is, how it fares, what speaks against it."""
    drugs = approved_drugs()
    first = [i for i, m in enumerate(table.batch.molecules) if m.ligand]
    nearest: dict[int, tuple[str, float]] = {}
    if first:
        prints = morgan([table.batch.molecules[i].ligand.smiles for i in first])  # type: ignore[union-attr]
        best, index = nearest_similarity(prints, _drug_prints())
        nearest = {i: (drugs[int(j)].name, float(s)) for i, j, s in zip(first, index, best, strict=True)}
    off = table.batch.scores(table.off)
    return [_molecule_row(table, i, off[i], nearest.get(i)) for i in range(table.n)]


def _drug_prints() -> Any:
    return morgan([drug.smiles for drug in approved_drugs()])


def _molecule_row(table: Table, i: int, off: Any, nearest: tuple[str, float] | None) -> Record:
    molecule = table.batch.molecules[i]
    row: Record = {"on": table.batch.assignment.on, "number": i + 1, "smiles": "", "state": _state(table, i)}
    if molecule.ligand is None or molecule.known is None:
        return row
    worst = int(np.nanargmin(off)) if np.isfinite(off).any() else None
    return {
        **row,
        "smiles": molecule.scored.smiles if molecule.scored else molecule.ligand.smiles,
        "score": _number(table.on_scores[i]),
        "worst_off": table.off[worst] if worst is not None else "",
        "worst_score": _number(off[worst]) if worst is not None else None,
        "window": _number(table.windows[i]),
        "z_window": _number(table.z_window[i]),
        "heavy_atoms": molecule.ligand.heavy_atoms,
        "qed": _number(molecule.known.qed),
        "sa": _number(molecule.known.sa),
        "alerts": ", ".join(molecule.known.alerts)[:80],
        "nearest_drug": f"{nearest[0]} ({nearest[1]:.2f})" if nearest else "",
        "flags": ", ".join(_flags(molecule)),
    }


def _state(table: Table, i: int) -> str:
    """The first thing that keeps a molecule from counting, or "selective"."""
    molecule = table.batch.molecules[i]
    if molecule.ligand is None:
        return molecule.rejection
    checks = (
        (not molecule.first, "repeat"),
        (not np.isfinite(table.windows[i]), "not docked"),
        (not table.batch.passes_gate[i], "fails the gate"),
        (not table.hits[i], "weak on target"),
        (table.windows[i] < 1.3642, "not selective"),
    )
    return next((state for failed, state in checks if failed), "selective")


def _flags(molecule: Molecule) -> list[str]:
    flags = list(molecule.ligand.flags) if molecule.ligand else []
    for score in molecule.scored.scores.values() if molecule.scored else ():
        flags += [flag for flag in score.flags if flag not in flags]
    return flags


def score_rows(tables: Sequence[Table]) -> list[Record]:
    """One record for each molecule and target."""
    return [
        {
            "on": table.batch.assignment.on,
            "molecule": i + 1,
            "target": target,
            "score": _number(score.value),
            "conformer_sd": _number(np.std(score.conformers)) if len(score.conformers) > 1 else None,
            "cpu_s": _number(score.cpu_s),
            "flags": ", ".join(score.flags),
            "error": score.error[:80],
        }
        for table in tables
        for i, molecule in enumerate(table.batch.molecules)
        for target, score in (molecule.scored.scores.items() if molecule.scored else ())
    ]


def curve(tables: Sequence[Table]) -> Record:
    """Mean success rate over the assignments."""
    curves = [success_curve(windows=t.windows, eligible=t.eligible, requested=t.n) for t in tables]
    return {"x": THRESHOLDS.tolist(), "y": np.mean(curves, axis=0).tolist()}


def reference_rows(tables: Sequence[Table]) -> list[Record]:
    """One record for each reference drug and assignment."""
    return [
        {
            "on": table.batch.assignment.on,
            "heavy_atoms": int(heavy),
            "score": _number(score),
            "window": _number(window),
        }
        for table in tables
        for heavy, score, window in zip(
            table.reference.heavy_atoms, table.reference.on, table.reference.windows, strict=True
        )
    ]


def oracle_rows(pairs: Sequence[KnownPair], card: OracleCard) -> list[Record]:
    """One record for each known preference; the badge stands in every one of them."""
    return [
        {
            "ligand": p.preference.ligand,
            "on": p.preference.on,
            "off": p.preference.off,
            "prefers": p.preference.prefers,
            "delta_log": _number(p.preference.delta),
            "score_on": _number(p.on),
            "score_off": _number(p.off),
            "counts": p.preference.is_clear,
            "right": bool(
                p.on is not None and p.off is not None and np.sign(p.off - p.on) == p.preference.sign
            ),
            "source": p.preference.source,
            "badge": card.badge,
        }
        for p in pairs
    ]


def guidance_rows(
    tables: Sequence[Table], guidance: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> list[Record]:
    """For molecules that were handed in: what the oracle said and what the evaluation says, target by target."""
    found = []
    for table in tables:
        on = table.batch.assignment.on
        for i, molecule in enumerate(table.batch.molecules):
            text = molecule.record.text if molecule.record else ""
            given = guidance.get(on, {}).get(text, {})
            for target, guided in given.items():
                score = molecule.scored.scores.get(target) if molecule.scored else None
                if score is not None and score.value is not None:
                    found.append(
                        {
                            "on": on,
                            "molecule": i + 1,
                            "target": target,
                            "guidance": guided,
                            "evaluation": score.value,
                        }
                    )
    return found


def draw(tables: Sequence[Table], path: Path) -> int:
    """Draw the valid molecules with the widest windows as PNG; returns how many, 0 if there are none."""
    from rdkit import Chem
    from rdkit.Chem import Draw

    rated = [
        (-(w if np.isfinite(w) else -99.0), k, i)
        for k, table in enumerate(tables)
        for i, w in enumerate(table.windows)
        if table.batch.molecules[i].first
    ]
    chosen = [(tables[k], i) for _, k, i in sorted(rated)[:_CARDS]]
    if not chosen:
        return 0
    mols, legends = [], []
    for table, i in chosen:
        molecule = table.batch.molecules[i]
        mols.append(Chem.MolFromSmiles(molecule.ligand.smiles))  # type: ignore[union-attr]
        on, window = table.on_scores[i], table.windows[i]
        numbers = f"{on:.1f}, window {window:+.1f}" if np.isfinite(window) else "not docked"
        legends.append(f"{table.batch.assignment.on} {numbers}".replace("-", "\N{MINUS SIGN}"))
    picture = Draw.MolsToGridImage(  # type: ignore[no-untyped-call]
        mols, molsPerRow=4, subImgSize=(260, 220), legends=legends, returnPNG=False
    )
    picture.save(path, format="PNG", optimize=True)
    return len(chosen)


def _number(value: Any) -> float | None:
    """A finite number with four digits behind the point, for JSON."""
    if value is None or not np.isfinite(value):
        return None
    return round(float(value), 4)
