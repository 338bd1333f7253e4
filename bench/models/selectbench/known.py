"""Literature ligands: of the on-target as an upper reference, of the off-targets as a negative control."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle
from bench.errors import MissingRequirement


class KnownOn(MoleculeGenerator):
    """Ligands of the on-target, then the approved drugs most similar to them."""

    sees_ligands = True

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """`MissingRequirement` if no ligand of the on-target is known."""
        return _filled(request.ligands.get(request.on.target_id, ()), request)


class KnownOff(MoleculeGenerator):
    """Ligands of the off-targets in turn, then the approved drugs most similar to them."""

    track: ClassVar[Literal["blind", "informed"]] = "informed"
    sees_ligands = True

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """`MissingRequirement` if no ligand of any off-target is known."""
        lists = [list(request.ligands.get(pocket.target_id, ())) for pocket in request.off]
        longest = max(map(len, lists), default=0)
        turns = [ligands[turn] for turn in range(longest) for ligands in lists if turn < len(ligands)]
        return _filled(dict.fromkeys(turns), request)


def _filled(ligands: Iterable[str], request: DesignRequest) -> list[Design]:
    known = list(ligands)
    if not known:
        raise MissingRequirement(f"no literature ligand is known for {request.on.target_id} in this case")
    missing = request.n - len(known)
    chosen = known[: request.n] + (nearest(known, request.drugs, missing) if missing > 0 else [])
    return [Design(smiles=smiles) for smiles in chosen]


def nearest(known: Sequence[str], pool: Sequence[str], n: int) -> list[str]:
    """The `n` molecules of `pool` most similar to any known one (Morgan, Tanimoto), known ones left out."""
    from rdkit import Chem, DataStructs
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=1024)
    mols = {smiles: Chem.MolFromSmiles(smiles) for smiles in (*known, *pool)}
    flat = {Chem.MolToSmiles(mols[smiles], isomericSmiles=False) for smiles in known}
    prints = [generator.GetFingerprint(mols[smiles]) for smiles in known]
    rated = []
    for place, smiles in enumerate(pool):
        if Chem.MolToSmiles(mols[smiles], isomericSmiles=False) not in flat:
            similarity = max(
                DataStructs.BulkTanimotoSimilarity(generator.GetFingerprint(mols[smiles]), prints)
            )
            rated.append((-similarity, place, smiles))
    return [smiles for *_, smiles in sorted(rated)[:n]]
