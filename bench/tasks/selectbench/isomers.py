"""Unspecified stereo centers: which isomers stand for a molecule."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Any

from rdkit import Chem, rdBase
from rdkit.Chem import rdDistGeom
from rdkit.Chem.EnumerateStereoisomers import EnumerateStereoisomers, StereoEnumerationOptions

_MOST = 16  # isomers looked at
_ATTEMPTS = 5  # at embedding one


@lru_cache(maxsize=10_000)
def isomers(smiles: str, limit: int) -> tuple[str, ...]:
    """At most `limit` stereo-isomers that exist in 3D, as isomeric SMILES; the molecule itself if there are none.

    The choice depends on the SMILES alone.
    """
    mol = Chem.MolFromSmiles(smiles)
    if not any(info.specified == Chem.StereoSpecified.Unspecified for info in Chem.FindPotentialStereo(mol)):
        return (smiles,)
    options = StereoEnumerationOptions(  # type: ignore[no-untyped-call]
        tryEmbedding=False, onlyUnassigned=True, maxIsomers=_MOST, unique=True, rand=7
    )
    block = rdBase.BlockLogs()
    try:
        every = EnumerateStereoisomers(mol, options=options)  # type: ignore[no-untyped-call]
        candidates = sorted({str(Chem.MolToSmiles(isomer)) for isomer in every})
        found = list(islice((c for c in candidates if _exists(c)), limit))
    finally:
        del block
    return tuple(found) or (smiles,)


def _exists(smiles: str) -> bool:
    """Whether the isomer can be embedded; those that strain a bridged ring cannot."""
    options: Any = rdDistGeom.ETKDGv3()
    options.randomSeed, options.maxIterations = 7, _ATTEMPTS
    return bool(rdDistGeom.EmbedMolecule(Chem.AddHs(Chem.MolFromSmiles(smiles)), options) == 0)
