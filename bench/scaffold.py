"""Writes the files of a new model: an adapter that runs, or a command, or a card for artifacts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from string import Template

from bench.errors import UsageError
from bench.spec import SubmissionKind, Unit, check_name

_TEMPLATES = "bench.templates"
# Kind -> what it takes from the family: file of the model -> the template of a family.
_MODELS: dict[SubmissionKind, dict[str, str]] = {
    "class": {"model.py": "model_{}.py.txt", "test_model.py": "test_{}.py.txt"},
    "command": {"generate.py": "command_{}.py.txt"},
    "artifacts": {},
}


def families(kind: SubmissionKind = "class") -> list[str]:
    """The families for which there is a template of `kind`."""
    pattern = re.compile({"class": r"model_([a-z]+)\.py\.txt", "command": r"command_([a-z]+)\.py\.txt"}[kind])
    names = [f.name for f in resources.files(_TEMPLATES).iterdir()]
    return sorted(m[1] for n in names if (m := pattern.fullmatch(n)))


def new_model(
    name: str, family: str, parent: Path, kind: SubmissionKind = "class", units: Iterable[Unit] = ()
) -> list[Path]:
    """Create `parent`/`name`/ with submission.toml and whatever its kind needs; returns the files.

    A card for artifacts lists `units`, each with an empty hash.
    """
    check_name(name, "model")
    if kind != "artifacts" and family not in families(kind):
        known = ", ".join(families(kind))
        raise UsageError(f"there is no template for family {family!r} and kind {kind!r}; use one of {known}")
    folder = parent / name
    if folder.exists():
        raise UsageError(f"{folder} exists already; choose another name or remove it")
    values = _values(name, family, folder, list(units))
    if kind == "artifacts" and not values["units"]:
        raise UsageError(f"family {family!r} has no unit at this size; see `bench units --suite {family}`")
    files = {target: template.format(family) for target, template in _MODELS[kind].items()}
    files["submission.toml"] = f"card_{kind}.toml.txt"
    folder.mkdir(parents=True)
    return [_write(folder / target, template, values) for target, template in sorted(files.items())]


def artifact_path(unit: Unit) -> str:
    """Where the artifact of `unit` lies in a folder of artifacts, and its input in an exported folder."""
    return f"{unit.size}/{unit.task}/{unit.dataset}/{unit.repeat}"


def _write(path: Path, template: str, values: dict[str, str]) -> Path:
    text = resources.files(_TEMPLATES).joinpath(template).read_text(encoding="utf-8")
    path.write_text(Template(text).substitute(values), encoding="utf-8")
    return path


def _values(name: str, family: str, folder: Path, units: list[Unit]) -> dict[str, str]:
    words = [w for w in re.split(r"[._-]+", name) if w]
    class_name = "".join(w.capitalize() for w in words)
    if not class_name[0].isalpha():
        class_name = f"Model{class_name}"
    return {
        "name": name,
        "family": family,
        "class_name": class_name,
        "title": " ".join(words),
        "folder": str(folder),
        "size": units[0].size if units else "small",
        "units": "\n".join(_table(unit) for unit in units),
    }


def _table(unit: Unit) -> str:
    fields = {"task": unit.task, "dataset": unit.dataset, "size": unit.size}
    lines = [f'{key} = "{value}"' for key, value in fields.items()]
    lines += [f"repeat = {unit.repeat}", f"seed = {unit.seed}"]
    lines += [f'path = "artifacts/{artifact_path(unit)}"', 'sha256 = ""']
    return "\n".join(("[[units]]", *lines)) + "\n"
