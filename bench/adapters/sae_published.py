"""Coders that others have trained: their weights, read from the layouts in which they are published.

    class Mine(PublishedCoder):
        path = "weights"              # beside the file in which the class stands
        bound_to = ("smollm2-l9",)    # whose activations they are for

Read are SAELens (cfg.json + sae_weights.safetensors), dictionary_learning (config.json + ae.pt), sparsify (cfg.json +
sae.safetensors) and Gemma Scope (params.npz). Pickles are read as tensors alone, never as code.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from bench.adapters.sae import Activations, Codes, SparseCoder, TrainBudget, as_dense
from bench.errors import InvalidOutput

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One form for all layouts: pre = (x - b_dec if `centred` else x) enc + b_enc, f by the rule, f dec + b_dec.

    Rules: the `k` largest; above `threshold`; `gate` (bias of the gate, exponent and bias of the magnitude); else relu.
    """

    enc: Tensor  # (d, m)
    b_enc: Tensor  # (m,)
    dec: Tensor  # (m, d)
    b_dec: Tensor  # (d,)
    centred: bool
    k: int = 0
    threshold: Tensor | None = None  # (m,) or ()
    gate: tuple[Tensor, Tensor, Tensor] | None = None
    by_norm: bool = False  # pre-activations are compared, and codes kept, times the lengths of the atoms

    def encode(self, x: Tensor) -> Tensor:
        """Dense codes (n, m) of unscaled rows (n, d)."""
        import torch

        products = (x - self.b_dec if self.centred else x) @ self.enc
        if self.gate is not None:
            gate, exponent, bias = self.gate
            magnitude = torch.relu(products * exponent.exp() + bias)
            return torch.where(products + gate > 0, magnitude, 0.0)
        pre = products + self.b_enc
        if self.by_norm:
            pre = pre * self.dec.norm(dim=1)
        if self.k:
            top = pre.topk(self.k, dim=1)
            return torch.zeros_like(pre).scatter_(1, top.indices, torch.relu(top.values))
        kept = torch.relu(pre)
        return kept if self.threshold is None else torch.where(pre > self.threshold, kept, 0.0)

    @property
    def atoms(self) -> Tensor:
        """What a code of 1 adds to the reconstruction, (m, d)."""
        return self.dec / self.dec.norm(dim=1, keepdim=True).clamp(min=1e-12) if self.by_norm else self.dec


def read_published(folder: Path) -> Published:
    """The coder in `folder`; `InvalidOutput` naming file and field if it is in none of the layouts."""
    if (folder / "params.npz").is_file():
        return _gemma_scope(folder / "params.npz")
    if (folder / "sae_weights.safetensors").is_file():
        return _saelens(_json(folder / "cfg.json"), _safetensors(folder / "sae_weights.safetensors"))
    if (folder / "sae.safetensors").is_file():
        return _sparsify(_json(folder / "cfg.json"), _safetensors(folder / "sae.safetensors"))
    if (folder / "ae.pt").is_file():
        return _dictionary_learning(_json(folder / "config.json"), _pickle(folder / "ae.pt"))
    raise InvalidOutput(
        f"{folder.name} has none of sae_weights.safetensors, sae.safetensors, ae.pt, params.npz; it is in no known "
        f"layout"
    )


class _Parts(dict[str, Any]):
    """Tensors by name; a missing one is named."""

    def __missing__(self, name: str) -> Any:
        raise InvalidOutput(f"the weights lack the tensor {name!r}; they have {', '.join(sorted(self))}")


def _saelens(config: dict[str, Any], parts: _Parts) -> Published:
    normalised = config.get("normalize_activations", "none")
    if normalised not in ("none", None, False):
        raise InvalidOutput(
            f"cfg.json: normalize_activations is {normalised!r}; only 'none' is read, fold it first"
        )
    arguments = config.get("activation_fn_kwargs") or {}
    kind = config.get("architecture", "standard")
    k = int(config.get("k") or arguments.get("k") or 0)
    if config.get("activation_fn_str") == "topk":  # before version 6 the architecture says standard then
        kind = "topk"
    common = {
        "enc": parts["W_enc"],
        "dec": parts["W_dec"],
        "b_dec": parts["b_dec"],
        "centred": bool(config.get("apply_b_dec_to_input", True)),
    }
    if kind == "gated":
        gate = (parts["b_gate"], parts["r_mag"], parts["b_mag"])
        return Published(**common, b_enc=parts["b_gate"], gate=gate)
    if kind == "topk":
        if k < 1:
            raise InvalidOutput("cfg.json: a topk coder needs k")
        by_norm = bool(config.get("rescale_acts_by_decoder_norm", False))
        return Published(**common, b_enc=parts["b_enc"], k=k, by_norm=by_norm)
    if kind == "jumprelu":
        return Published(**common, b_enc=parts["b_enc"], threshold=parts["threshold"])
    if kind == "standard":
        return Published(**common, b_enc=parts["b_enc"])
    raise InvalidOutput(f"cfg.json: architecture {kind!r}; standard, topk, jumprelu and gated are read")


def _dictionary_learning(config: dict[str, Any], parts: _Parts) -> Published:
    kind = (config.get("trainer") or {}).get("dict_class", "")
    if kind == "JumpReluAutoEncoder":
        return Published(
            enc=parts["W_enc"], b_enc=parts["b_enc"], dec=parts["W_dec"], b_dec=parts["b_dec"], centred=False,
            threshold=parts["threshold"],
        )  # fmt: skip
    if kind == "MatryoshkaBatchTopKSAE":
        return Published(
            enc=parts["W_enc"], b_enc=parts["b_enc"], dec=parts["W_dec"], b_dec=parts["b_dec"], centred=True,
            threshold=parts["threshold"],
        )  # fmt: skip
    enc = parts["encoder.weight"].T.contiguous()
    dec = parts["decoder.weight"].T.contiguous()
    if kind == "GatedAutoEncoder":
        gate = (parts["gate_bias"], parts["r_mag"], parts["mag_bias"])
        bias = parts["decoder_bias"]
        return Published(enc=enc, b_enc=parts["gate_bias"], dec=dec, b_dec=bias, centred=True, gate=gate)
    b_enc = parts["encoder.bias"]
    if kind == "AutoEncoder":
        return Published(enc=enc, b_enc=b_enc, dec=dec, b_dec=parts["bias"], centred=True)
    if kind == "AutoEncoderTopK":  # rows keep k each; the threshold in the file is not used
        return Published(enc=enc, b_enc=b_enc, dec=dec, b_dec=parts["b_dec"], centred=True, k=int(parts["k"]))
    if kind == "BatchTopKSAE":
        limit = parts["threshold"]
        return Published(enc=enc, b_enc=b_enc, dec=dec, b_dec=parts["b_dec"], centred=True, threshold=limit)
    raise InvalidOutput(f"config.json: trainer.dict_class {kind!r} is not read")


def _sparsify(config: dict[str, Any], parts: _Parts) -> Published:
    if config.get("skip_connection"):
        raise InvalidOutput("cfg.json: skip_connection is set; what it adds is no part of a code")
    return Published(
        enc=parts["encoder.weight"].T.contiguous(),
        b_enc=parts["encoder.bias"],
        dec=parts["W_dec"],
        b_dec=parts["b_dec"],
        centred=not config.get("transcode", False),
        k=int(config["k"]),
    )


def _gemma_scope(path: Path) -> Published:
    import torch

    from bench.artifacts import load_npz

    arrays = load_npz(path, ["W_enc", "W_dec", "b_enc", "b_dec", "threshold"])
    parts = {name: torch.from_numpy(array).float() for name, array in arrays.items()}
    return Published(
        enc=parts["W_enc"],
        b_enc=parts["b_enc"],
        dec=parts["W_dec"],
        b_dec=parts["b_dec"],
        centred=False,
        threshold=parts["threshold"],
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidOutput(f"{path.name} can't be read: {error}") from error
    if not isinstance(found, dict):
        raise InvalidOutput(f"{path.name} holds no object")
    return found


def _safetensors(path: Path) -> _Parts:
    from safetensors.torch import load_file

    return _Parts({name: tensor.float() for name, tensor in load_file(str(path)).items()})


def _pickle(path: Path) -> _Parts:
    import pickle

    import torch

    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise InvalidOutput(
            f"{path.name} holds more than tensors, or is damaged: {str(error)[:200]}"
        ) from error
    return _Parts({name: value.float() for name, value in found.items()})


class PublishedCoder(SparseCoder):
    """A coder read from `path`. It fits nothing; the number of latents is its own, whatever is asked for."""

    path: ClassVar[str] = ""

    def __init__(self, *, path: str = "") -> None:
        given = path or self.path
        if not given:
            raise InvalidOutput(f"{type(self).__name__} names no folder; give it `path`")
        self._folder = Path(inspect.getfile(type(self))).parent / Path(given).expanduser()
        self._scale = 1.0

    def setup(self, ctx: Any) -> None:
        """Read the weights."""
        self._coder = read_published(self._folder)

    def fit(
        self,
        data: Activations,
        *,
        n_latents: int,
        target_l0: float,
        budget: TrainBudget,
        seed: int,
        device: str,
    ) -> None:
        """Only looks whether the rows have the right number of dimensions; remembers their scale."""
        wanted = self._coder.dec.shape[1]
        if data.d_in != wanted:
            raise InvalidOutput(
                f"these weights are for {wanted} dimensions (d_in), the rows have {data.d_in}"
            )
        self._scale = data.scale

    def encode(self, x: Tensor) -> Tensor:
        """Codes of the rows, brought back to their own scale first."""
        return self._coder.encode(x / self._scale)

    def decode(self, codes: Codes | Tensor) -> Tensor:
        """Rows, in the scale of the bench."""
        return (as_dense(codes) @ self._coder.atoms + self._coder.b_dec) * self._scale

    def decoder(self) -> tuple[Tensor, Tensor]:
        """The atoms and the bias, in the scale of the bench."""
        return self._coder.atoms * self._scale, self._coder.b_dec * self._scale

    def encoder(self) -> Tensor:
        """The encoder's directions."""
        return self._coder.enc

    def metadata(self) -> dict[str, Any]:
        """What was read."""
        return {"source": self._folder.name, "latents": len(self._coder.dec), "k": self._coder.k}
