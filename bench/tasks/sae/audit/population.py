"""The coders that proxies are tried on: trained ones from a file, and controls made from the worlds themselves."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bench.datasets.sae.recipes import RECIPES
from bench.datasets.sae.world import World

Float = npt.NDArray[np.float64]
CONTROLS = ("oracle", "random", "data", "merged", "permuted-decoder", "shuffled-encoder")
_K = 4


@dataclass(frozen=True, kw_only=True)
class Member:
    """A coder: f = pre where pre > threshold, and with `k` only the k largest; in the scale of the rows."""

    world: str
    name: str
    enc: Float  # (m, d)
    b_enc: Float  # (m,)
    dec: Float  # (m, d)
    b_dec: Float  # (d,)
    threshold: Float  # (m,)
    k: int  # 0: no limit
    scale: float

    @property
    def key(self) -> str:
        return f"{self.world}/{self.name}"

    @property
    def is_trained(self) -> bool:
        return self.name not in CONTROLS

    def encode(self, rows: Float) -> Any:
        """CSR codes (n, m) of scaled rows (n, d)."""
        pre = (rows - self.b_dec) @ self.enc.T + self.b_enc
        kept = np.where(pre > np.maximum(self.threshold, 0.0), pre, 0.0)
        if self.k:
            places = np.argpartition(kept, kept.shape[1] - self.k, axis=1)[:, : kept.shape[1] - self.k]
            np.put_along_axis(kept, places, 0.0, axis=1)
        return sparse.csr_matrix(kept)


@lru_cache(maxsize=1)
def _file() -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    with resources.files("bench.tasks.sae").joinpath("weights/population.npz").open("rb") as stream:
        arrays = dict(np.load(stream, allow_pickle=False))
    return json.loads(str(arrays.pop("members"))), arrays


@lru_cache(maxsize=8)
def world_of(name: str) -> World:
    """The world of that name which the population was trained on."""
    about, arrays = _file()
    return RECIPES[name].make(int(about["world_seed"]), lambda _, compute: arrays[f"{name}/dictionary"])


def members(worlds: tuple[str, ...], trained: tuple[str, ...] = ()) -> list[Member]:
    """Trained coders (all, or those named) and controls, world by world."""
    about, arrays = _file()
    found: list[Member] = []
    for world in worlds:
        mine = [
            _trained(entry, arrays)
            for entry in about["members"]
            if entry["world"] == world and (not trained or entry["name"] in trained)
        ]
        found += mine + _controls(mine[0], world_of(world))
    return found


def _trained(entry: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Member:
    key = f"{entry['world']}/{entry['name']}"
    parts = {
        n: arrays[f"{key}/{n}"].astype(np.float64) for n in ("enc", "b_enc", "dec", "b_dec", "threshold")
    }
    return Member(world=entry["world"], name=entry["name"], k=entry["k"], scale=entry["scale"], **parts)


def _controls(model: Member, world: World) -> list[Member]:
    """`model` is the trained coder that the last two are made from."""
    rng = np.random.default_rng(world.seed)
    m, d = model.dec.shape
    rows = world.mix(world.factors(4 * m, "atoms")).astype(np.float64)
    rows = rows[np.linalg.norm(rows, axis=1) > 0][:m]
    truth = world.dictionary.astype(np.float64)
    merged = truth.copy()
    merged[0 : m // 2 : 2] = merged[1 : m // 2 : 2] = truth[0 : m // 2 : 2] + truth[1 : m // 2 : 2]
    merged = np.concatenate([merged[0 : m // 2 : 2], merged[m // 2 :]])
    order = rng.permutation(m)
    return [
        tied(model, "oracle", truth),
        tied(model, "random", rng.standard_normal((m, d))),
        tied(model, "data", rows),
        tied(model, "merged", merged),
        replace(model, name="permuted-decoder", dec=model.dec[order]),
        replace(model, name="shuffled-encoder", enc=model.enc[order], b_enc=model.b_enc[order]),
    ]


def tied(model: Member, name: str, atoms: Float) -> Member:
    """Unit `atoms` as encoder and decoder, the 4 largest inner products."""
    unit = atoms / np.linalg.norm(atoms, axis=1, keepdims=True)
    zeros = np.zeros(len(unit))
    return replace(
        model,
        name=name,
        enc=unit,
        dec=unit,
        b_enc=zeros,
        threshold=zeros,
        b_dec=np.zeros(unit.shape[1]),
        k=_K,
    )
