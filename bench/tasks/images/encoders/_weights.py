"""Weights of encoders: verified before they are opened, opened without running anything, complete or refused."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from bench.datasets import cache
from bench.errors import MissingRequirement

Network = TypeVar("Network", bound=nn.Module)

FOLDER = "BENCH_ENCODERS"  # environment variable: a folder with weights, looked at first
_COUNTER = "num_batches_tracked"  # of batch norms, without use here; older files lack it


def fetch(file: cache.RemoteFile, encoder: str) -> tuple[Path, str]:
    """Path and SHA-256 of `file`, verified; from BENCH_ENCODERS, the mirror, the cache or the network.

    `MissingRequirement` naming encoder, file, URL and the variables if it cannot be had or is not the right one.
    """
    chosen = os.environ.get(FOLDER)
    try:
        path = cache.fetch(file, explicit=Path(chosen).expanduser() if chosen else None)
    except MissingRequirement as error:
        raise MissingRequirement(
            f"encoder {encoder} needs weights: {error} (address: {file.url}; folders: {FOLDER}, BENCH_MIRROR)"
        ) from error
    if file.sha256:
        return path, file.sha256
    with path.open("rb") as stream:
        return path, hashlib.file_digest(stream, "sha256").hexdigest()


def read_state(source: Path | io.BytesIO, encoder: str) -> dict[str, Tensor]:
    """The tensors of a file of `torch.save`, without unpickling anything else."""
    try:
        state: Any = torch.load(source, map_location="cpu", weights_only=True)
    except Exception as error:  # UnpicklingError, RuntimeError and whatever a foreign file provokes
        message = f"the weights of {encoder} can't be read: {type(error).__name__}: {error}"
        raise MissingRequirement(message) from error
    if not isinstance(state, Mapping) or not all(isinstance(value, Tensor) for value in state.values()):
        raise MissingRequirement(f"the weights of {encoder} are no table of tensors")
    return dict(state)


def fill(make: Callable[[], Network], state: Mapping[str, Tensor], encoder: str) -> Network:
    """The network that `make` builds, with exactly the tensors of `state`, as float32.

    `MissingRequirement` naming the first tensor that does not fit. The network is built without initial values,
    which would take time and use up global randomness.
    """
    with torch.device("meta"):
        network = make()
    wanted = network.state_dict()
    lacking = [name for name in wanted if name not in state and not name.endswith(_COUNTER)]
    beyond = [name for name in state if name not in wanted]
    wrong = [name for name in wanted if name in state and state[name].shape != wanted[name].shape]
    for names, fault in ((lacking, "lack"), (beyond, "have beyond it"), (wrong, "have in another shape")):
        if names:
            raise MissingRequirement(
                f"the weights of {encoder} are those of another network: they {fault} {names[0]!r} "
                f"({len(names)} such tensors)"
            )
    counters = {name: torch.zeros(()) for name in wanted if name not in state}
    tensors = {name: value.to(torch.float32).contiguous() for name, value in {**counters, **state}.items()}
    network.load_state_dict(tensors, assign=True)
    return network.eval().requires_grad_(False)
