"""Bringing images to the size a network was trained for. How it is done changes the numbers, so it has names."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional

Images = npt.NDArray[np.uint8]


def as_rgb(images: Images) -> Images:
    """(n, 3, H, W): gray images with their channel three times."""
    return images if images.shape[1] == 3 else images.repeat(3, axis=1)


def bicubic(images: Images, size: int) -> Tensor:
    """float32 (n, C, size, size) in [0, 255]: bicubic, antialiased, clipped as a picture would be."""
    values = torch.from_numpy(images).to(torch.float32)
    resized = functional.interpolate(
        values, size=(size, size), mode="bicubic", antialias=True, align_corners=False
    )
    return resized.clamp_(0.0, 255.0)


def tensorflow_bilinear(images: Images, size: int) -> Tensor:
    """float32 (n, C, size, size): what `resize_bilinear` of TensorFlow 1 does, as the FID of 2017 was computed.

    Output pixel i is read at i * (old / new), without a shift by half a pixel and without antialiasing.
    """
    values = torch.from_numpy(images).to(torch.float32)
    rows = _between(values.shape[2], size)
    columns = _between(values.shape[3], size)
    left, right = values[..., columns.low], values[..., columns.high]
    across = left + (right - left) * columns.share
    upper, lower = across[..., rows.low, :], across[..., rows.high, :]
    result: Tensor = upper + (lower - upper) * rows.share[:, None]
    return result


class _between:
    """The two pixels of a line of `old` pixels between which each of `new` ones is read, and how far in."""

    def __init__(self, old: int, new: int) -> None:
        position = torch.arange(new, dtype=torch.float32) * torch.tensor(old / new, dtype=torch.float32)
        self.low = position.long()
        self.high = (self.low + 1).clamp(max=old - 1)
        self.share = position - self.low


def pillow_float_bicubic(images: Images, size: int) -> Tensor:
    """float32 (n, C, size, size): bicubic, antialiased, by Pillow on float32 channels, clipped to [0, 255].

    The "clean" mode of Parmar et al. (2022), On aliased resizing and surprising subtleties in GAN evaluation.
    """
    out = np.empty((*images.shape[:2], size, size), dtype=np.float32)
    for index in np.ndindex(images.shape[:2]):
        channel = Image.fromarray(images[index].astype(np.float32))
        out[index] = np.asarray(channel.resize((size, size), Image.Resampling.BICUBIC))
    return torch.from_numpy(out.clip(0.0, 255.0))


def pillow_bicubic(images: Images, size: int, *, crop: bool) -> Tensor:
    """float32 (n, 3, size, size): Pillow's bicubic, antialiased, on bytes.

    `crop`: the shorter side is brought to `size` and the middle cut out; else both sides are.
    """
    rgb = as_rgb(images)
    out = np.empty((len(rgb), size, size, 3), dtype=np.uint8)
    height, width = rgb.shape[2:]
    scale = size / min(height, width)
    new = (max(size, int(width * scale)), max(size, int(height * scale))) if crop else (size, size)
    left, top = round((new[0] - size) / 2), round((new[1] - size) / 2)
    for index, image in enumerate(rgb):
        picture = Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0)))
        resized = picture.resize(new, Image.Resampling.BICUBIC)
        out[index] = np.asarray(resized.crop((left, top, left + size, top + size)))
    return torch.from_numpy(out.transpose(0, 3, 1, 2).astype(np.float32))


def normalised(values: Tensor, mean: tuple[float, ...], deviation: tuple[float, ...]) -> Tensor:
    """`values` (n, 3, H, W) in [0, 255], scaled to [0, 1] and standardised by channel."""
    shape = (1, 3, 1, 1)
    return (values / 255.0 - torch.tensor(mean).reshape(shape)) / torch.tensor(deviation).reshape(shape)
