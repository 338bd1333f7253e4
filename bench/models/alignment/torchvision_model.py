"""Networks of torchvision with weights of your own: nothing is downloaded."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from torch import Tensor, nn

from bench.adapters.alignment import LabelSpace, VisionModel
from bench.errors import MissingRequirement
from bench.spec import Context

FOLDER = "BENCH_VISION_WEIGHTS"  # environment variable: a folder with files NAME.pth
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class TorchvisionModel(VisionModel):
    """The network `network` of torchvision with the state dict `$BENCH_VISION_WEIGHTS/<network>.pth`.

    Its classifier must be the last linear layer; the input of that layer are the features. Images are normalised as
    torchvision's weights of ImageNet ask for.
    """

    label_space: LabelSpace = "imagenet1k"
    channels, input_hw = 3, (224, 224)

    def __init__(self, network: str) -> None:
        self._name = network

    def setup(self, ctx: Context) -> None:
        """Read the weights; only tensors are read from the file."""
        from torchvision.models import get_model

        path = weights_file(self._name)
        network: nn.Module = get_model(self._name, weights=None)
        try:
            network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        except Exception as error:  # UnpicklingError, RuntimeError and whatever a foreign file provokes
            raise MissingRequirement(f"{path} holds no weights of {self._name}: {error}") from error
        self._network = network.eval().requires_grad_(False).to(ctx.device)
        self._mean, self._deviation = (
            torch.tensor(v, device=ctx.device).view(1, 3, 1, 1) for v in (_MEAN, _DEVIATION)
        )
        last = [m for m in self._network.modules() if isinstance(m, nn.Linear)][-1]
        last.register_forward_pre_hook(self._keep)

    def _keep(self, module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        self._hidden = inputs[0]

    def logits(self, x: Tensor) -> Tensor:
        """(n, 1000)."""
        found: Tensor = self._network((x - self._mean) / self._deviation)
        return found

    def features(self, x: Tensor) -> Tensor:
        """What the classifier sees, (n, d)."""
        self.logits(x)
        return self._hidden


def weights_file(network: str) -> Path:
    """The file of weights; `MissingRequirement` with what to do if it is not there."""
    folder = os.environ.get(FOLDER)
    path = Path(folder or ".").expanduser() / f"{network}.pth"
    if not folder or not path.is_file():
        raise MissingRequirement(
            f"no weights of {network}: save its state dict as {network}.pth in a folder named by {FOLDER}"
        )
    return path
