"""Reading arrays from .npz files: sizes are checked before anything is unpacked, pickles are never read."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bench.errors import InvalidOutput

if TYPE_CHECKING:
    import numpy as np

MAX_NPZ_BYTES = 4 * 2**30


def load_npz(
    path: Path, names: Sequence[str], *, optional: Sequence[str] = (), max_bytes: int = MAX_NPZ_BYTES
) -> dict[str, np.ndarray]:
    """The arrays `names` (and those of `optional` that exist) of the .npz file `path`.

    Reads no pickles and nothing larger than `max_bytes`, compressed or not: sizes are taken from the
    archive's directory and the arrays' headers before anything is unpacked. Raises `InvalidOutput` naming
    the file, the array and the cause. Other arrays in the file are ignored.
    """
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise InvalidOutput(f"{path.name} is not a plain file")
        if status.st_size > max_bytes:
            raise InvalidOutput(f"{path.name} has {status.st_size} bytes; at most {max_bytes} are read")
        with zipfile.ZipFile(path) as archive:
            members = _members(archive, path.name, names, optional)
            total = sum(member.file_size for member in members.values())
            if total > max_bytes:
                raise InvalidOutput(f"{path.name} unpacks to {total} bytes; at most {max_bytes} are read")
            return {name: _read_array(archive, member, path.name) for name, member in members.items()}
    except FileNotFoundError:
        raise InvalidOutput(f"there is no file {path.name!r} in the artifact") from None
    except InvalidOutput:
        raise
    # zipfile raises NotImplementedError for a compression that it does not know.
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise InvalidOutput(f"{path.name} can't be read as npz: {type(error).__name__}: {error}") from error
    except Exception as error:  # zlib.error, struct.error, tokenize errors of a forged header
        raise InvalidOutput(f"{path.name} is damaged: {type(error).__name__}: {error}") from error


def _members(
    archive: zipfile.ZipFile, file: str, names: Sequence[str], optional: Sequence[str]
) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name in found:
            raise InvalidOutput(f"{file} holds the array {name!r} twice")
        found[name] = member
    missing = [name for name in names if name not in found]
    if missing:
        raise InvalidOutput(f"{file} lacks the array {missing[0]!r}; it has {sorted(found) or 'none'}")
    return {name: found[name] for name in (*names, *(o for o in optional if o in found))}


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: str) -> np.ndarray:
    import numpy as np

    label = f"{file}[{member.filename.removesuffix('.npy')}]"
    with archive.open(member) as stream:
        dtype, count, header = _announced(stream, label)
        expected = header + count * dtype.itemsize
        if expected != member.file_size:
            raise InvalidOutput(f"{label} announces {expected} bytes but holds {member.file_size}")
    with archive.open(member) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _announced(stream: IO[bytes], label: str) -> tuple[Any, int, int]:
    """(dtype, number of elements, length of the header) that an array's header announces."""
    import numpy as np

    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise InvalidOutput(f"{label} has the array format {version}; (1, 0) and (2, 0) are read")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise InvalidOutput(f"{label} holds Python objects; store numbers or strings")
    if dtype.itemsize == 0:  # any number of elements would fit into no bytes
        raise InvalidOutput(f"{label} has elements without size")
    count = 1
    for extent in shape:
        count *= int(extent)
    return dtype, count, stream.tell()
