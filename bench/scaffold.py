"""Writes the files of a new model: an adapter that runs, its card, and a test."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from string import Template

from bench.errors import UsageError
from bench.spec import check_name

_TEMPLATES = "bench.templates"


def families() -> list[str]:
    """The families for which there is a template."""
    names = [f.name for f in resources.files(_TEMPLATES).iterdir()]
    return sorted(m[1] for n in names if (m := re.fullmatch(r"model_([a-z]+)\.py\.txt", n)))


def new_model(name: str, family: str, parent: Path) -> list[Path]:
    """Create `parent`/`name`/ with model.py, submission.toml and test_model.py; returns the files."""
    check_name(name, "model")
    if family not in families():
        raise UsageError(f"there is no template for family {family!r}; use one of {', '.join(families())}")
    folder = parent / name
    if folder.exists():
        raise UsageError(f"{folder} exists already; choose another name or remove it")
    words = [w for w in re.split(r"[._-]+", name) if w]
    class_name = "".join(w.capitalize() for w in words)
    if not class_name[0].isalpha():
        class_name = f"Model{class_name}"
    values = {"name": name, "family": family, "class_name": class_name, "title": " ".join(words)}
    files = {
        "model.py": f"model_{family}.py.txt",
        "submission.toml": "submission.toml.txt",
        "test_model.py": f"test_{family}.py.txt",
    }
    folder.mkdir(parents=True)
    written = []
    for target, template in files.items():
        text = resources.files(_TEMPLATES).joinpath(template).read_text(encoding="utf-8")
        path = folder / target
        path.write_text(Template(text).substitute(values), encoding="utf-8")
        written.append(path)
    return written
