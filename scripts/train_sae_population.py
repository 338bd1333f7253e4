"""Train the coders on which proxies are audited and write bench/tasks/sae/weights/population.npz.

    python scripts/train_sae_population.py

Takes a few minutes on one core. The file is committed, so that an audit trains nothing and everybody audits the same
coders; it holds float16 weights in the scale of the rows.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import torch

from bench.adapters.sae import Activations, TrainBudget
from bench.datasets.sae.recipes import RECIPES
from bench.models.sae.batchtopk import BatchTopK
from bench.models.sae.jumprelu import JumpReLU
from bench.models.sae.relu_l1 import ReluL1
from bench.models.sae.topk import TopK

OUT = Path(__file__).resolve().parents[1] / "bench" / "tasks" / "sae" / "weights" / "population.npz"
WORLD_SEED, LATENTS, ROWS, BUDGET = 7, 128, 65_536, 320_000
WORLDS = ("pairs-03", "pairs-80", "pairs-95")
KINDS = (
    ("topk-a", TopK, 4, 0), ("topk-b", TopK, 4, 1), ("topk-narrow", TopK, 2, 0), ("batchtopk", BatchTopK, 4, 0),
    ("l1", ReluL1, 4, 0), ("jumprelu", JumpReLU, 4, 0),
)  # fmt: skip


def main() -> None:
    """Train all, write the file."""
    torch.set_num_threads(1)
    arrays: dict[str, np.ndarray] = {}
    members = []
    for world_name in WORLDS:
        world = RECIPES[world_name].make(WORLD_SEED)
        rows = torch.from_numpy(world.mix(world.factors(ROWS, "training rows")))
        scale = math.sqrt(rows.shape[1]) / float(rows.norm(dim=1).mean())
        arrays[f"{world_name}/dictionary"] = world.dictionary  # spreading it takes longer than an audit
        data = Activations(rows=rows * scale, mean=(rows * scale).mean(dim=0), scale=scale)
        for name, kind, k, seed in KINDS:
            coder = kind()
            budget = TrainBudget(train_rows=BUDGET, seconds=1e9)
            coder.fit(data, n_latents=LATENTS, target_l0=k, budget=budget, seed=seed, device="cpu")
            weights = coder._weights
            key = f"{world_name}/{name}"
            for part in ("enc", "b_enc", "dec", "b_dec"):
                arrays[f"{key}/{part}"] = weights[part].numpy().astype(np.float16)
            threshold = weights.get("threshold", torch.zeros(()))
            arrays[f"{key}/threshold"] = np.broadcast_to(threshold.numpy(), (LATENTS,)).astype(np.float32)
            members.append({"world": world_name, "name": name, "k": k if kind is TopK else 0, "scale": scale})
            print(key, coder.metadata(), flush=True)
    arrays["members"] = np.array(json.dumps({"world_seed": WORLD_SEED, "members": members}))
    np.savez_compressed(OUT, **arrays)


if __name__ == "__main__":
    main()
