"""The input folder of a coder that runs as a command or elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench.tasks.sae.coding import Work


def export(work: Work, folder: Path) -> Mapping[str, Any]:
    """Write `train.npy` and `encode.npy`, both scaled, and describe what is expected."""
    scale = np.float32(work.scale)
    np.save(folder / "train.npy", work.train * scale)
    np.save(folder / "encode.npy", work.encode * scale)
    n, dim = work.encode.shape
    return {
        "n": n,
        "d_in": dim,
        "scale": work.scale,
        "train_rows": work.train_rows,
        "points": [
            {"n_latents": p.n_latents, "target_l0": p.target_l0, "file": f"point-{i}.npz"}
            for i, p in enumerate(work.points)
        ],
        "files": {
            "train.npy": f"float32 ({len(work.train)}, {dim}): rows to learn from",
            "encode.npy": f"float32 ({n}, {dim}): rows to encode, each for itself",
        },
        "output": {
            "point-N.npz": f"for each of `points`: starts int64 ({n + 1},), latents int32 (nnz,) and values float32 "
            f"(nnz,) of the codes in CSR form; decoder float32 (m, {dim}) and bias float32 ({dim},), or for a decoder "
            f"that is not linear width (m) and reconstruction float32 ({work.decoded}, {dim}) of the first rows; "
            f"encoder float32 ({dim}, m) if there is one"
        },
    }
