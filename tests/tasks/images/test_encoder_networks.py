"""The networks of the large encoders against independent code, with the same random weights."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from bench.datasets import packaged
from bench.tasks.images.encoders import _resizing, efflite, load_encoder
from bench.tasks.images.encoders._batches import encode_in_batches, plain_float32
from bench.tasks.images.encoders._inception import FidInception
from bench.tasks.images.encoders._vit import ClipTransformer, DinoTransformer

CIFAR = Path(__file__).parents[4] / "shared" / "data" / "image_fidelity" / "cifar10_jpeg_2k.parquet"
RNG = np.random.default_rng(0)
COLOUR = RNG.integers(0, 256, (6, 3, 32, 32), dtype=np.uint8)


def shaken(network: nn.Module) -> nn.Module:
    """Every tensor random, so that none can be left out unnoticed; variances stay positive."""
    rng = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, value in network.state_dict().items():
            if value.is_floating_point():
                noise = torch.randn(value.shape, generator=rng)
                value.copy_(1.0 + 0.2 * noise.abs() if "running_var" in name else value + 0.1 * noise)
    return network.eval()


# EfficientNet-lite0


@pytest.fixture
def efficientnet() -> efflite.EfficientNetEncoder:
    if reason := packaged.absence(*efflite.FILE):
        pytest.skip(reason)
    encoder = load_encoder("efflite0-64")
    assert isinstance(encoder, efflite.EfficientNetEncoder)
    return encoder


def test_all_296_tensors_have_a_place() -> None:
    assert len(efflite.EfficientNetLite0().state_dict()) == 296


@pytest.mark.parametrize("size", [64, 96, 224])
def test_efficientnet_is_the_published_one(size: int, efficientnet: efflite.EfficientNetEncoder) -> None:
    published = pytest.importorskip("efficientnet_lite_pytorch").EfficientNet.from_name("efficientnet-lite0")
    published.load_state_dict(efficientnet.network.state_dict())
    images = torch.randn(2, 3, size, size, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        torch.testing.assert_close(
            efficientnet.network(images), published.eval()(images), rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize(
    ("kernel", "stride", "size"), [(3, 2, 8), (3, 2, 9), (5, 2, 8), (5, 2, 7), (3, 1, 6), (5, 1, 6)]
)
def test_same_padding(kernel: int, stride: int, size: int) -> None:
    """As TensorFlow documents it: ceil(size / stride) outputs, the spare pixel at the far side."""
    conv = efflite.SameConv(1, 1, kernel, stride=stride)
    conv.weight.data.fill_(1.0)
    line = torch.arange(1.0, size + 1)
    out = conv(line.repeat(size, 1)[None, None])[0, 0, size // stride // 2] / conv.weight.shape[2]
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    padded = np.pad(line.numpy(), (total // 2, total - total // 2))
    expected = [padded[i : i + kernel].sum() for i in range(0, size, stride)]
    assert out.tolist() == pytest.approx(expected)


def test_efficientnet_features_do_not_depend_on_the_batch(efficientnet: efflite.EfficientNetEncoder) -> None:
    alone, together = efficientnet.encode(COLOUR, batch_size=1), efficientnet.encode(COLOUR, batch_size=64)
    assert alone.shape == (6, 1280)
    assert np.abs(alone - together).max() <= 1e-4 * np.abs(alone).max()
    assert np.array_equal(efficientnet.encode(COLOUR[:2]), efficientnet.encode(COLOUR)[:2])


def test_gray_images_are_repeated(efficientnet: efflite.EfficientNetEncoder) -> None:
    gray = COLOUR[:2, :1]
    assert np.array_equal(efficientnet.encode(gray), efficientnet.encode(gray.repeat(3, axis=1)))


def cifar(label: str, n: int) -> np.ndarray:
    if not CIFAR.exists():
        pytest.skip("cifar10_jpeg_2k.parquet is not in ../shared/data beside the repository")
    import pyarrow.parquet as pq

    table = pq.read_table(CIFAR, filters=[("label", "==", label), ("split", "==", "test")])
    pictures = [np.asarray(Image.open(io.BytesIO(raw.as_py()))) for raw in table["jpeg"][:n]]
    return np.stack(pictures).transpose(0, 3, 1, 2)


VESSELS = {403, 472, 484, 510, 554, 625, 628, 724, 780, 814, 833, 871, 914}  # from carrier to yawl


@pytest.mark.parametrize(
    ("label", "classes", "share"), [("dog", set(range(151, 269)), 0.6), ("ship", VESSELS, 0.2)]
)
def test_efficientnet_recognises_small_pictures(
    label: str, classes: set[int], share: float, efficientnet: efflite.EfficientNetEncoder
) -> None:
    """ImageNet's classes 151-268 are breeds of dogs. By chance 12 and 1 % would be right."""
    encoder = load_encoder("efflite0-224")
    assert isinstance(encoder, efflite.EfficientNetEncoder)
    with torch.inference_mode():
        top = encoder.network(encoder.prepared(cifar(label, 15))).argmax(dim=1)
    assert np.mean([int(index) in classes for index in top]) >= share


# Inception


def test_inception_is_that_of_torch_fidelity_block_by_block() -> None:
    theirs_module = pytest.importorskip("torch_fidelity.feature_extractor_inceptionv3")
    ours = shaken(FidInception())
    blocks = {
        "Mixed_5b": (theirs_module.InceptionA(192, pool_features=32), 192),
        "Mixed_5d": (theirs_module.InceptionA(288, pool_features=64), 288),
        "Mixed_6a": (theirs_module.InceptionB(288), 288),
        "Mixed_6c": (theirs_module.InceptionC(768, channels_7x7=160), 768),
        "Mixed_7a": (theirs_module.InceptionD(768), 768),
        "Mixed_7b": (theirs_module.InceptionE_1(1280), 1280),
        "Mixed_7c": (theirs_module.InceptionE_2(2048), 2048),
    }
    for name, (theirs, inputs) in blocks.items():
        block = ours.get_submodule(name)
        theirs.load_state_dict(block.state_dict())
        x = torch.randn(1, inputs, 9, 9, generator=torch.Generator().manual_seed(1))
        with torch.inference_mode():
            torch.testing.assert_close(block(x), theirs.eval()(x), rtol=1e-4, atol=1e-4, msg=name)


def test_inception_as_a_whole_is_that_of_torch_fidelity(tmp_path: Path) -> None:
    theirs_module = pytest.importorskip("torch_fidelity.feature_extractor_inceptionv3")
    ours = FidInception().eval()
    torch.save(
        {
            name: value[:1].expand(value.shape) if value.ndim else value
            for name, value in ours.state_dict().items()
        },
        tmp_path / "w.pth",
    )
    theirs = theirs_module.FeatureExtractorInceptionV3(
        "inception-v3-compat", ["2048", "logits"], feature_extractor_weights_path=str(tmp_path / "w.pth")
    )
    theirs.load_state_dict(ours.state_dict())
    with torch.inference_mode():
        features, logits = theirs(torch.from_numpy(COLOUR[:1]))
        prepared = (_resizing.tensorflow_bilinear(COLOUR[:1], 299) - 128.0) / 128.0
        torch.testing.assert_close(ours.features(prepared), features, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(ours(prepared), logits, rtol=1e-4, atol=1e-5)


# Transformers


class PlainBlock(nn.Module):
    """A block put together from PyTorch's own attention."""

    def __init__(self, width: int, activation: Any, eps: float) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(
            width,
            width // 64,
            4 * width,
            dropout=0.0,
            activation=activation,
            layer_norm_eps=eps,
            batch_first=True,
            norm_first=True,
        )

    def copy(self, block: nn.Module, names: dict[str, str], scales: tuple[str, ...] = ()) -> PlainBlock:
        state = block.state_dict()
        new = {ours: state[theirs].clone() for ours, theirs in names.items()}
        for scale, last in zip(scales, ("self_attn.out_proj", "linear2"), strict=False):
            new[f"{last}.weight"] *= state[scale][:, None]
            new[f"{last}.bias"] *= state[scale]
        self.layer.load_state_dict(new)
        return self.eval()

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)  # type: ignore[no-any-return]


def both(ours: str, theirs: str) -> dict[str, str]:
    return {f"{ours}.{part}": f"{theirs}.{part}" for part in ("weight", "bias")}


def test_dino_blocks_are_ordinary_transformer_blocks() -> None:
    network = shaken(DinoTransformer(width=128, depth=2, grid=4))
    names = {
        "self_attn.in_proj_weight": "attn.qkv.weight",
        "self_attn.in_proj_bias": "attn.qkv.bias",
        **both("self_attn.out_proj", "attn.proj"),
        **both("linear1", "mlp.fc1"),
        **both("linear2", "mlp.fc2"),
        **both("norm1", "norm1"),
        **both("norm2", "norm2"),
    }
    plain = PlainBlock(128, nn.functional.gelu, 1e-6)
    x = torch.randn(2, 17, 128, generator=torch.Generator().manual_seed(0))
    block = network.get_submodule("blocks.1")
    with torch.no_grad():
        expected = plain.copy(block, names, ("ls1.gamma", "ls2.gamma"))(x)
        torch.testing.assert_close(block(x), expected, rtol=1e-4, atol=1e-4)


def test_clip_blocks_are_ordinary_transformer_blocks() -> None:
    network = shaken(ClipTransformer(width=128, depth=2, patch=4, grid=3, outputs=8))
    names = {
        "self_attn.in_proj_weight": "attn.in_proj_weight",
        "self_attn.in_proj_bias": "attn.in_proj_bias",
        **both("self_attn.out_proj", "attn.out_proj"),
        **both("linear1", "mlp.c_fc"),
        **both("linear2", "mlp.c_proj"),
        **both("norm1", "ln_1"),
        **both("norm2", "ln_2"),
    }
    plain = PlainBlock(128, lambda x: x * torch.sigmoid(1.702 * x), 1e-5)
    x = torch.randn(2, 10, 128, generator=torch.Generator().manual_seed(0))
    block = network.get_submodule("transformer.resblocks.0")
    with torch.no_grad():
        torch.testing.assert_close(block(x), plain.copy(block, names)(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make", [
    lambda: DinoTransformer(width=64, depth=1, grid=2),
    lambda: ClipTransformer(width=64, depth=1, patch=14, grid=2, outputs=8),
])  # fmt: skip
def test_tokens_come_from_patches_in_reading_order(make: Callable[[], nn.Module]) -> None:
    """Two patches change places with their positions: the class token stays. Without theirs it moves."""
    network = shaken(make())
    x = torch.randn(1, 3, 28, 28, generator=torch.Generator().manual_seed(0))
    swapped = x.clone()
    swapped[..., :14, 14:], swapped[..., 14:, :14] = x[..., 14:, :14], x[..., :14, 14:]
    positions = network.pos_embed[0] if isinstance(network, DinoTransformer) else network.positional_embedding
    assert isinstance(positions, Tensor)
    with torch.no_grad():
        before, moved = network(x), network(swapped)
        positions[[2, 3]] = positions[[3, 2]]
        torch.testing.assert_close(network(swapped), before, rtol=1e-4, atol=1e-5)
    assert float((moved - before).abs().max()) > 1e-3


@pytest.mark.parametrize("rows", range(1, 41))
def test_dino_positions_fit_every_grid(rows: int) -> None:
    network = DinoTransformer(width=64, depth=0, grid=37)
    network.pos_embed.data.fill_(0.25)
    positions = network._positions(rows, 16)
    assert positions.shape == (1, rows * 16 + 1, 64)
    torch.testing.assert_close(positions, torch.full_like(positions, 0.25))


def test_dino_positions_keep_their_place() -> None:
    """A ramp along rows stays one along rows, and its ends near the ends."""
    network = DinoTransformer(width=64, depth=0, grid=37)
    ramp = torch.linspace(0, 1, 37).repeat_interleave(37)
    network.pos_embed.data[0, 1:] = ramp[:, None]
    plane = network._positions(16, 16)[0, 1:, 0].reshape(16, 16)
    assert torch.allclose(plane, plane[:, :1].expand(16, 16), atol=1e-5)
    expected = (torch.arange(16) + 0.5) / 16 * 37 / 36 - 0.5 / 36
    assert float((plane[:, 0] - expected).detach().abs().max()) < 0.02


# Resizing


def test_legacy_resize_is_that_of_torch_fidelity() -> None:
    theirs = pytest.importorskip("torch_fidelity.interpolate_compat_tensorflow")
    expected = theirs.interpolate_bilinear_2d_like_tensorflow1x(
        torch.from_numpy(COLOUR).float(), size=(299, 299), align_corners=False
    )
    torch.testing.assert_close(_resizing.tensorflow_bilinear(COLOUR, 299), expected, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize(
    "resize", [_resizing.bicubic, _resizing.tensorflow_bilinear, _resizing.pillow_float_bicubic]
)
def test_resizing_keeps_flat_images_and_the_range(resize: Callable[[np.ndarray, int], Tensor]) -> None:
    flat = np.full((2, 3, 9, 9), 77, np.uint8)
    torch.testing.assert_close(resize(flat, 30), torch.full((2, 3, 30, 30), 77.0))
    values = resize(COLOUR, 50)
    assert values.shape == (6, 3, 50, 50)
    assert 0.0 <= float(values.min()) <= float(values.max()) <= 255.0


def test_downscaling_is_antialiased_except_in_legacy_mode() -> None:
    """A chessboard becomes gray, unless every second pixel is simply left out."""
    board = (np.indices((64, 64)).sum(axis=0) % 2 * 255).astype(np.uint8)[None, None]
    for resize in (_resizing.bicubic, _resizing.pillow_float_bicubic):
        assert float(resize(board, 16).std()) < 15.0
    assert float(_resizing.tensorflow_bilinear(board, 32).std()) == 0.0
    assert float(_resizing.tensorflow_bilinear(board, 32).mean()) in (0.0, 255.0)


def test_clip_cuts_out_the_middle() -> None:
    tall = np.zeros((1, 3, 30, 10), np.uint8)
    tall[:, :, 10:20] = 200
    cut = _resizing.pillow_bicubic(tall, 10, crop=True)
    torch.testing.assert_close(cut, torch.full((1, 3, 10, 10), 200.0))
    assert _resizing.pillow_bicubic(tall, 12, crop=False).shape == (1, 3, 12, 12)


# Batches


def test_last_batch_has_the_shape_of_the_others() -> None:
    shapes = []

    def network(x: Tensor) -> Tensor:
        shapes.append(tuple(x.shape))
        return x.mean(dim=(2, 3))

    features = encode_in_batches(
        COLOUR,
        prepare=lambda part: torch.from_numpy(part).float(),
        network=network,
        dim=3,
        device="cpu",
        batch_size=4,
    )
    assert shapes == [(4, 3, 32, 32)] * 2
    np.testing.assert_allclose(features, COLOUR.mean(axis=(2, 3)), rtol=1e-5)


def test_reduced_precision_is_off_inside_and_as_before_afterwards() -> None:
    torch.set_float32_matmul_precision("medium")
    try:
        with plain_float32():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
