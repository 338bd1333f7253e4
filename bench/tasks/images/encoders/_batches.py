"""How images go through a network: in batches of one shape, in plain float32 arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Images = npt.NDArray[np.uint8]


def encode_in_batches(
    images: Images,
    *,
    prepare: Callable[[Images], Tensor],
    network: Callable[[Tensor], Tensor],
    dim: int,
    device: str,
    batch_size: int,
    layout: torch.memory_format = torch.contiguous_format,
) -> npt.NDArray[np.float32]:
    """Features float32 (n, dim) of `images` uint8 (n, C, H, W).

    `prepare` turns b images into the network's input on the CPU. The last batch is filled up with copies, so
    that every image meets the same kernels whatever company it comes in.
    """
    out = np.empty((len(images), dim), dtype=np.float32)
    with torch.inference_mode(), plain_float32():
        for start in range(0, len(images), batch_size):
            part = images[start : start + batch_size]
            filled = part[np.arange(batch_size) % len(part)]
            batch = prepare(filled).to(device, memory_format=layout)
            out[start : start + len(part)] = network(batch)[: len(part)].cpu().numpy()
    return out


@contextmanager
def plain_float32() -> Iterator[None]:
    """No TF32 and no other reduced precision, whatever the process has set."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.backends.cudnn.flags(deterministic=True, allow_tf32=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before)
