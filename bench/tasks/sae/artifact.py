"""The files of an artifact: one `point-N.npz` for each setting at which the coder was fitted.

starts    int64 (n + 1,)    rows of the codes in CSR form, over the rows that were to be encoded, in their order
latents   int32 (nnz,)      ascending within a row
values    float32 (nnz,)    not 0
decoder   float32 (m, d)    atoms; with `bias` float32 (d,)
reconstruction float32 (k, d)  instead, of the first k rows, where the decoder is not linear; with `width` = m
encoder   float32 (d, m)    optional
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bench.artifacts import load_npz
from bench.errors import InvalidOutput
from bench.spec import Artifact

Array = npt.NDArray[np.float32]
_OPTIONAL = ("decoder", "bias", "reconstruction", "width", "encoder")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """What one fitted coder gave: codes (n, m), and how they are read."""

    codes: sparse.csr_matrix
    decoder: Array | None = None  # (m, d)
    bias: Array | None = None  # (d,)
    reconstruction: Array | None = None  # (k, d), where there is no linear decoder
    encoder: Array | None = None  # (d, m)

    def rebuilt(self, rows: slice, codes: sparse.csr_matrix | None = None) -> npt.NDArray[np.float64]:
        """Reconstruction of those rows, or of other `codes`, float64."""
        if self.decoder is None or self.bias is None:
            assert self.reconstruction is not None
            return self.reconstruction[rows].astype(np.float64)
        used = self.codes[rows] if codes is None else codes
        return np.asarray(used @ self.decoder.astype(np.float64)) + self.bias


def file_of(number: int) -> str:
    """Name of the file of the point `number`."""
    return f"point-{number}.npz"


def write(coded: Coded, path: Path) -> None:
    """Write one point."""
    arrays = {
        "starts": coded.codes.indptr.astype(np.int64),
        "latents": coded.codes.indices.astype(np.int32),
        "values": coded.codes.data.astype(np.float32),
        "width": np.array(coded.codes.shape[1]),
    }
    for name in ("decoder", "bias", "reconstruction", "encoder"):
        if (array := getattr(coded, name)) is not None:
            arrays[name] = array.astype(np.float32)
    np.savez(path, **arrays)


def read(artifact: Artifact, number: int, *, rows: int, dim: int, most_latents: int, decoded: int) -> Coded:
    """Read and check one point: codes of `rows` rows in `dim` dimensions, the first `decoded` of which are rebuilt."""
    name = file_of(number)
    arrays = load_npz(artifact.path(name), ["starts", "latents", "values"], optional=_OPTIONAL)
    for key in ("values", "decoder", "bias", "reconstruction", "encoder"):
        if key in arrays:
            _require(
                arrays[key].dtype.kind == "f" and bool(np.isfinite(arrays[key]).all()),
                name,
                key,
                "finite floats",
            )
    width = _width(arrays, name, most_latents)
    codes = _codes(arrays, name, rows, width)
    linear = "decoder" in arrays
    if linear:
        _require(arrays["decoder"].shape == (width, dim), name, "decoder", f"({width}, {dim})")
        _require("bias" in arrays and arrays["bias"].shape == (dim,), name, "bias", f"({dim},)")
    else:
        ok = "reconstruction" in arrays and arrays["reconstruction"].shape == (decoded, dim)
        _require(ok, name, "reconstruction", f"({decoded}, {dim}), or a decoder")
    encoder = arrays.get("encoder")
    _require(encoder is None or encoder.shape == (dim, width), name, "encoder", f"({dim}, {width})")
    return Coded(
        codes=codes,
        decoder=arrays["decoder"].astype(np.float32) if linear else None,
        bias=arrays["bias"].astype(np.float32) if linear else None,
        reconstruction=None if linear else arrays["reconstruction"].astype(np.float32),
        encoder=None if encoder is None else encoder.astype(np.float32),
    )


def _width(arrays: dict[str, np.ndarray], name: str, most: int) -> int:
    if "decoder" in arrays and arrays["decoder"].ndim == 2:
        width = len(arrays["decoder"])
    else:
        _require("width" in arrays and arrays["width"].ndim == 0, name, "width", "one whole number")
        width = int(arrays["width"])
    _require(0 < width <= most, name, "decoder" if "decoder" in arrays else "width", f"1 to {most} latents")
    return width


def _codes(arrays: dict[str, np.ndarray], name: str, rows: int, width: int) -> sparse.csr_matrix:
    starts, latents, values = arrays["starts"], arrays["latents"], arrays["values"]
    _require(
        starts.dtype.kind in "iu" and starts.shape == (rows + 1,),
        name,
        "starts",
        f"whole numbers ({rows + 1},)",
    )
    starts = starts.astype(np.int64)
    ordered = starts[0] == 0 and bool((np.diff(starts) >= 0).all()) and starts[-1] == len(values)
    _require(ordered, name, "starts", f"rising from 0 to the number of values, {len(values)}")
    fits = latents.dtype.kind in "iu" and latents.shape == values.shape == (len(values),)
    _require(fits, name, "latents", f"whole numbers {values.shape}")
    inside = len(latents) == 0 or (latents.min() >= 0 and latents.max() < width)
    _require(bool(inside), name, "latents", f"numbers in [0, {width})")
    codes = sparse.csr_matrix(
        (values.astype(np.float32), latents.astype(np.int64), starts), shape=(rows, width)
    )
    before = codes.nnz
    codes.sum_duplicates()
    _require(codes.nnz == before, name, "latents", "no latent twice in a row")
    codes.eliminate_zeros()
    return codes


def _require(fulfilled: bool, file: str, array: str, expected: str) -> None:
    if not fulfilled:
        raise InvalidOutput(f"{file}[{array}]: expected {expected}")
