"""Train the small CNNs whose features the image tasks use, and write their weights.

    python scripts/train_image_encoders.py [fashion mnist5k] [--out DIRECTORY]

Only images that models may train on are used: all 60,000 training images of Fashion-MNIST (4 epochs), and
the 2,000 `fit` images of mnist5k (60 epochs with random shifts of up to two pixels, as 2,000 images alone
are learned by heart). Accuracy is reported on images of `ref` and `hold`, which no encoder has seen.
Adam, one-cycle schedule up to 5e-3, batches of 128, one thread, seed 0: same machine, same bytes. Another
processor rounds differently, so the shipped files are pinned by hash and not made again at install.
"""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn

from bench.datasets.images import ImageDataset, ImageSplit, fashion, mnist5k
from bench.tasks.images.encoders.small_cnn import WEIGHTS, SmallCnn

BATCH, TOP_RATE, SEED = 128, 5e-3, 0


@dataclass(frozen=True)
class Recipe:
    encoder: str
    epochs: int
    shift: int  # largest random shift in pixels


RECIPES = {
    "fashion": Recipe("fashion-cnn", epochs=4, shift=0),
    "mnist5k": Recipe("mnist-cnn", epochs=60, shift=2),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(RECIPES), help=f"out of {', '.join(RECIPES)}")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    loaders = {"fashion": fashion.load, "mnist5k": mnist5k.load}
    for name in options.datasets:
        recipe = RECIPES[name]
        dataset = loaders[name]()
        network = train(dataset.fit, recipe)
        content = save({key: value.contiguous() for key, value in network.state_dict().items()})
        path = options.out / f"{recipe.encoder}.safetensors"
        path.write_bytes(content)
        print(f"{path}: sha256 {hashlib.sha256(content).hexdigest()}, {describe(network, dataset)}")


def train(split: ImageSplit, recipe: Recipe) -> SmallCnn:
    """A network trained on one split."""
    torch.manual_seed(SEED)
    network = SmallCnn()
    images, labels = scaled(split), torch.tensor(split.labels)
    steps = recipe.epochs * -(-len(split) // BATCH)
    optimizer = torch.optim.Adam(network.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=TOP_RATE, total_steps=steps)
    for _ in range(recipe.epochs):
        for rows in torch.randperm(len(split)).split(BATCH):
            loss = nn.functional.cross_entropy(network(shifted(images[rows], recipe.shift)), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network.eval()


def scaled(split: ImageSplit) -> Tensor:
    return torch.tensor(split.images) / 255


def shifted(images: Tensor, reach: int) -> Tensor:
    """Each image moved by its own random offset of up to `reach` pixels, filled up with black."""
    if not reach:
        return images
    padded = nn.functional.pad(images, (reach,) * 4)
    offsets = torch.randint(0, 2 * reach + 1, (len(images), 2))
    _, _, height, width = images.shape
    return torch.stack(
        [
            image[:, dy : dy + height, dx : dx + width]
            for image, (dy, dx) in zip(padded, offsets.tolist(), strict=True)
        ]
    )


def describe(network: SmallCnn, dataset: ImageDataset) -> str:
    """Accuracy on the two roles the network was not trained on."""
    with torch.inference_mode():
        shares = [
            float(np.mean(network(scaled(split)).argmax(1).numpy() == split.labels))
            for split in (dataset.ref, dataset.hold)
        ]
    return f"accuracy {shares[0]:.4f} on ref and {shares[1]:.4f} on hold"


if __name__ == "__main__":
    main()
