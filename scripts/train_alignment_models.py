"""Train the small networks of the family `alignment` and write their weights.

    python scripts/train_alignment_models.py [jem robust autoencoder] [--seeds 3] [--out DIRECTORY]

All learn from the 4,000 training images of the shape-texture world. `jem` is the sweep: seven values of lambda, each
with the same architecture, initial weights and order of batches for a seed. `robust` is the classifier trained
against projected gradient ascent, `autoencoder` learns to remove noise. One thread; same machine, same bytes. The
files are pinned by hash and not made again at install. What happened on the way is printed, and kept beside the
weights in `training.json`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor, nn

from bench.datasets.alignment.stw import ShapeTextureWorld
from bench.models.alignment._autoencoder import train_autoencoder
from bench.models.alignment._jem.training import TrainPlan, train
from bench.models.alignment._network import EnergyCnn
from bench.models.alignment._robust import train_robust

LAMBDAS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
WEIGHTS = Path(__file__).parents[1] / "bench" / "models" / "alignment" / "weights"
HASHES = WEIGHTS.parent / "_hashes.py"


def plan(lam: float, seed: int) -> TrainPlan:
    """The plan of the shipped models: the same for every lambda and seed."""
    return TrainPlan(lam=lam, objective="dsm", iterations=700, rate=2e-3, relative=True, seed=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", default=["jem", "robust", "autoencoder"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    options.out.mkdir(parents=True, exist_ok=True)
    log = options.out / "training.json"
    known: dict[str, Any] = json.loads(log.read_text()) if log.exists() else {}
    x, y = images(train_split=True)
    makers = {"jem": jems, "robust": robust, "autoencoder": autoencoder}
    for kind in options.kinds:
        for name, network, told in makers[kind](x, y, options.seeds):
            content = packed(network)
            (options.out / f"{name}.safetensors").write_bytes(content)
            known[name] = {**told, "sha256": hashlib.sha256(content).hexdigest()}
            log.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
            print(name, known[name], flush=True)
    if options.out == WEIGHTS:
        HASHES.write_text(table(known), encoding="utf-8")


def table(known: dict[str, Any]) -> str:
    """The module that pins the files: name -> SHA-256."""
    head = '"""SHA-256 of the shipped weights, as scripts/train_alignment_models.py wrote them."""\n'
    rows = "".join(f'    "{name}": "{known[name]["sha256"]}",\n' for name in sorted(known))
    return f"{head}\nfrom __future__ import annotations\n\nSHA256 = {{\n{rows}}}\n"


Made = Iterator[tuple[str, nn.Module, dict[str, Any]]]


def jems(x: Tensor, y: Tensor, seeds: int) -> Made:
    for seed in range(seeds):
        for lam in LAMBDAS:
            network = fresh(seed)
            started = time.process_time()
            diagnosis = train(network, x, y, plan(lam, seed))
            yield f"jem-{round(100 * lam):03d}-{seed}", network, told(network, started, **diagnosis.summary())


def robust(x: Tensor, y: Tensor, seeds: int) -> Made:
    network, started = fresh(0), time.process_time()
    train_robust(network, x, y, iterations=600, rate=2e-3, seed=0)
    yield "robust-0", network, told(network, started)


def autoencoder(x: Tensor, y: Tensor, seeds: int) -> Made:
    network, started = fresh(0), time.process_time()
    error = train_autoencoder(network.features, x, iterations=1_000, rate=2e-3, seed=0)
    yield "autoencoder-0", network.features, {"error": round(error, 5), "cpu_s": seconds(started)}


def fresh(seed: int) -> EnergyCnn:
    torch.manual_seed(seed)
    return EnergyCnn()


def images(*, train_split: bool) -> tuple[Tensor, Tensor]:
    found = ShapeTextureWorld().pictures(train=train_split, n=4_000 if train_split else 1_000)
    return 2 * torch.from_numpy(found.images).float() / 255 - 1, torch.from_numpy(found.shape)


def told(network: nn.Module, started: float, **found: float) -> dict[str, Any]:
    used = seconds(started)
    x, y = images(train_split=False)
    with torch.no_grad():
        accuracy = float((network(x).argmax(1) == y).float().mean())
    return {**{k: round(v, 5) for k, v in found.items()}, "cpu_s": used, "test_accuracy": round(accuracy, 4)}


def seconds(started: float) -> float:
    return round(time.process_time() - started, 1)


def packed(network: nn.Module) -> bytes:
    """The weights as float16: half the size, and decisions stay the same but for ties."""
    return save({k: v.to(torch.float16).contiguous() for k, v in network.state_dict().items()})


if __name__ == "__main__":
    main()
