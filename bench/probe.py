"""Reads the model card of a submitted class, in a process of its own.

    python -m bench.probe FILE CLASS

imports FILE (untrusted code), finds CLASS and prints one JSON line: {"info": {...}} or {"error": "..."}.
The coordinator calls it through `bench.submissions`, so that no submitted code runs in the coordinator.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from bench.spec import Adapter, ModelInfo


def load_class(file: Path, name: str) -> Any:
    """The attribute `name` of the module in `file`, imported under a private module name."""
    spec = importlib.util.spec_from_file_location(f"_submitted_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def describe(file: Path, name: str) -> dict[str, Any]:
    """The JSON answer for class `name` of `file`."""
    sys.path.insert(0, str(file.parent))
    try:
        cls = load_class(file, name)
    except BaseException as error:
        return {"error": f"{_place(error, file)}: {type(error).__name__}: {error}"}
    if not (isinstance(cls, type) and issubclass(cls, Adapter)):
        return {"error": f"{file}: {name} is not an Adapter; derive it from a class of bench.adapters"}
    info = getattr(cls, "info", None)
    if not isinstance(info, ModelInfo):
        return {
            "error": f"{file}: {name}.info is missing; set `info = ModelInfo(name=..., version=..., ...)`"
        }
    return {"info": dataclasses.asdict(info)}


def _place(error: BaseException, file: Path) -> str:
    """file:line of the innermost frame inside `file`."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    return f"{file}:{frames[-1].lineno}" if frames else str(file)


def main() -> None:
    # The answer goes to the original stdout; whatever the file prints goes to stderr instead.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    answer.write(json.dumps(describe(Path(sys.argv[1]), sys.argv[2]), default=str) + "\n")
    answer.flush()
    os._exit(0)  # threads that the file may have started do not keep the process alive


if __name__ == "__main__":
    main()
