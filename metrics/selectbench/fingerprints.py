"""Fingerprints as packed words, and similarities of whole sets of molecules at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

BITS = 1024
Packed = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
_BLOCK = 256  # rows of the similarity matrix that are made at once


def morgan(smiles: Sequence[str], *, radius: int = 2, bits: int = BITS) -> Packed:
    """Morgan fingerprints of SMILES as uint64 (n, bits / 64); `ValueError` names one that RDKit can't read."""
    from rdkit import Chem, DataStructs
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=bits)
    packed = np.empty((len(smiles), bits // 64), dtype=np.uint64)
    for row, text in enumerate(smiles):
        mol = Chem.MolFromSmiles(text)
        if mol is None:
            raise ValueError(f"RDKit can't read {text!r}")
        raw = DataStructs.BitVectToBinaryText(generator.GetFingerprint(mol))
        packed[row] = np.frombuffer(raw, dtype="<u8")
    return packed


def pack(bits: npt.NDArray[np.bool_]) -> Packed:
    """Rows of bits (n, m), m a multiple of 64, as uint64 (n, m / 64)."""
    return np.packbits(bits, axis=1, bitorder="little").view("<u8")


def tanimoto(first: Packed, second: Packed) -> Floats:
    """Tanimoto similarities float64 (n, m) of two sets of packed fingerprints; two empty ones are alike (1)."""
    return np.concatenate([np.empty((0, len(second))), *_blocks(first, second)])


def _blocks(first: Packed, second: Packed) -> Iterator[Floats]:
    """The rows of the similarity matrix, some at a time.

    Common bits are counted by a matrix product of 0/1 values, which BLAS does faster than counting bits.
    """
    columns = _unpacked(second)
    counts = columns.sum(axis=1)
    for start in range(0, len(first), _BLOCK):
        rows = _unpacked(first[start : start + _BLOCK])
        common = (rows @ columns.T).astype(np.float64)
        union = rows.sum(axis=1)[:, None] + counts[None, :] - common
        yield np.divide(common, union, out=np.ones_like(common), where=union > 0)


def _unpacked(packed: Packed) -> npt.NDArray[np.float32]:
    return np.unpackbits(packed.view(np.uint8), axis=1, bitorder="little").astype(np.float32)


def internal_diversity(fingerprints: Packed, *, p: int = 1) -> float:
    """1 - (mean of similarity^p over all ordered pairs, each molecule with itself too)^(1/p); in [0, 1).

    High is good. MOSES IntDiv: Polykovskiy et al. 2020. `ValueError` for fewer than two molecules.
    """
    n = len(fingerprints)
    if n < 2:
        raise ValueError("diversity needs two molecules")
    total = sum(float((block**p).sum()) for block in _blocks(fingerprints, fingerprints))
    return 1.0 - float((total / n**2) ** (1 / p))


def nearest_similarity(fingerprints: Packed, reference: Packed) -> tuple[Floats, npt.NDArray[np.int64]]:
    """(similarity, index) of the reference molecule most similar to each molecule, both (n,)."""
    if len(reference) == 0:
        raise ValueError("there is no reference molecule")
    best, index = [np.empty(0)], [np.empty(0, dtype=np.int64)]
    for block in _blocks(fingerprints, reference):
        index.append(block.argmax(axis=1))
        best.append(block.max(axis=1))
    return np.concatenate(best), np.concatenate(index)


def snn(fingerprints: Packed, reference: Packed) -> float:
    """Mean similarity to the nearest reference molecule; in [0, 1]. MOSES SNN: Polykovskiy et al. 2020."""
    return float(nearest_similarity(fingerprints, reference)[0].mean())
