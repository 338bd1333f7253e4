"""Reading what models hand in: artifact folders, arrays, molecules, pictures, tables, text.

An artifact may come from anyone. Nothing in it is executed, followed or believed: links and special files
are refused, sizes are checked before anything is unpacked, and an error names the file, and the row or line
where there is one. Every reader raises `InvalidOutput`.
"""

from bench.artifacts.folders import (
    MAX_ARTIFACT_BYTES,
    MAX_FILES,
    NOTES_FILE,
    artifact_digest,
    manifest,
    regular_files,
)
from bench.artifacts.molecules import MoleculeRecord, load_sdf, load_smiles, parse_smiles
from bench.artifacts.npz import MAX_NPZ_BYTES, load_npz
from bench.artifacts.pictures import load_pictures
from bench.artifacts.tables import load_parquet
from bench.artifacts.texts import load_json_lines, load_lines

__all__ = [
    "MAX_ARTIFACT_BYTES",
    "MAX_FILES",
    "MAX_NPZ_BYTES",
    "NOTES_FILE",
    "MoleculeRecord",
    "artifact_digest",
    "load_json_lines",
    "load_lines",
    "load_npz",
    "load_parquet",
    "load_pictures",
    "load_sdf",
    "load_smiles",
    "manifest",
    "parse_smiles",
    "regular_files",
]
