"""Running a coder: fit at each setting, encode what is to be encoded, check, write."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bench.adapters.sae import Activations, SparseCoder, TrainBudget, TruthCoder
from bench.errors import InvalidOutput, MissingRequirement
from bench.spec import Context, JSONScalar, derived_seed
from bench.tasks.sae import artifact as files
from bench.tasks.sae.contract import check_decoder, check_rowwise, encode_rows
from bench.tasks.sae.points import Point

Array = npt.NDArray[np.float32]
MOST_LATENTS = 1 << 20  # of a coder that was trained elsewhere, which has the width it has


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a coder gets. Rows are unscaled; everything it sees is multiplied by `scale`."""

    dataset: str
    train: Array  # (n, d)
    encode: Array  # (k, d): evaluation rows first, then whatever else is to be encoded
    decoded: int  # how many of the first rows of `encode` are rebuilt
    scale: float
    points: tuple[Point, ...]
    train_rows: int  # to be seen in training
    seed: int
    dictionary: Array | None = None  # (N, d), for references that are told the truth
    factors: Callable[[], Array] | None = None  # (k, N) of `encode`


def scale_of(rows: Array) -> float:
    """sqrt(d) / mean norm, 1 if all rows are 0."""
    mean = float(np.linalg.norm(rows, axis=1).mean())
    return math.sqrt(rows.shape[1]) / mean if mean > 0 else 1.0


def collect(adapter: Any, work: Work, ctx: Context) -> dict[str, JSONScalar]:
    """Fit and encode at every point; writes `point-N.npz`. Times are not noted: equal seeds, equal artifacts."""
    _check_adapter(adapter, work)
    device = torch.device(ctx.device)
    rows = torch.from_numpy(work.train * np.float32(work.scale)).to(device)
    data = Activations(rows=rows, mean=rows.mean(dim=0), scale=work.scale)
    inputs = torch.from_numpy(work.encode * np.float32(work.scale)).to(device)
    notes: dict[str, JSONScalar] = {"points": len(work.points), "scale": work.scale}
    for number, point in enumerate(work.points):
        ctx.progress(number, len(work.points))
        coded = _at(adapter, point, data, inputs, work, ctx)
        files.write(coded, ctx.artifact_dir / files.file_of(number))
        if number == 0:
            notes |= _facts(adapter)
    ctx.progress(len(work.points), len(work.points))
    return notes


def _check_adapter(adapter: Any, work: Work) -> None:
    for method in ("fit", "encode", "decode"):
        if not callable(getattr(adapter, method, None)):
            raise InvalidOutput(
                f"{type(adapter).__name__} has no method {method!r}; derive it from bench.adapters.sae.SparseCoder"
            )
    bound: Sequence[str] = getattr(adapter, "bound_to", ())
    if bound and work.dataset not in bound:
        raise MissingRequirement(f"this coder was trained on {', '.join(bound)}, not on {work.dataset}")
    if isinstance(adapter, TruthCoder) and work.dictionary is None:
        raise MissingRequirement("this reference needs true concepts, which real activations do not have")


def _at(
    adapter: SparseCoder, point: Point, data: Activations, inputs: Tensor, work: Work, ctx: Context
) -> files.Coded:
    if isinstance(adapter, TruthCoder):
        assert work.dictionary is not None
        adapter.learn_truth(torch.from_numpy(work.dictionary * np.float32(work.scale)).to(data.rows.device))
    seconds = ctx.seconds_left / len(work.points)
    adapter.fit(
        data,
        n_latents=point.n_latents,
        target_l0=point.target_l0,
        budget=TrainBudget(train_rows=work.train_rows, seconds=seconds),
        seed=derived_seed(work.seed, f"fit {point.facet}"),
        device=ctx.device,
    )
    if isinstance(adapter, TruthCoder) and adapter.wants_factors:
        return _known(adapter, point, inputs, work)
    most = MOST_LATENTS if adapter.bound_to else point.n_latents
    codes = encode_rows(adapter, inputs, most_latents=most)
    check_rowwise(adapter, inputs, codes)
    linear = check_decoder(adapter, inputs)
    encoder = adapter.encoder()
    if linear is None:
        rebuilt = adapter.decode(adapter.encode(inputs[: work.decoded])).detach().float().cpu().numpy()
        return files.Coded(codes=codes, reconstruction=rebuilt, encoder=_numpy(encoder))
    return files.Coded(codes=codes, decoder=linear[0], bias=linear[1], encoder=_numpy(encoder))


def _known(adapter: TruthCoder, point: Point, inputs: Tensor, work: Work) -> files.Coded:
    """Codes of a reference that is given the factors of each row."""
    assert work.factors is not None
    factors = torch.from_numpy(work.factors()).to(inputs.device)
    codes = encode_rows(
        adapter,
        inputs,
        most_latents=point.n_latents,
        encode=lambda rows, where: adapter.encode_known(rows, factors[where]),
    )
    given = adapter.decoder()
    if given is None:
        raise InvalidOutput("a reference with known factors has a linear decoder")
    return files.Coded(codes=codes, decoder=_numpy(given[0]), bias=_numpy(given[1]))


def _numpy(tensor: Tensor | None) -> Array | None:
    return None if tensor is None else np.ascontiguousarray(tensor.detach().float().cpu().numpy())


def _facts(adapter: SparseCoder) -> dict[str, JSONScalar]:
    """What the coder says of itself, as far as it is small and plain; it must not change from run to run."""
    found: dict[str, JSONScalar] = {}
    for key, value in list(adapter.metadata().items())[:16]:
        plain = isinstance(value, (str, int, bool)) or (isinstance(value, float) and math.isfinite(value))
        if isinstance(key, str) and key.isidentifier() and plain:
            found[f"coder_{key}"] = value[:200] if isinstance(value, str) else value
    return found
