"""Tables that scores leave for the figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.spec import Exhibit

CONDITIONS, CATEGORIES = "conditions", "categories"  # names of the exhibits


def accuracy_table(
    names: Sequence[tuple[str, str]], accuracy: Sequence[float], human: Sequence[float], folder: Path
) -> Exhibit:
    """Accuracy of the model and of people under each condition."""
    records = [
        {"manipulation": name, "level": level, "accuracy": round(own, 5), "people": round(people, 5)}
        for (name, level), own, people in zip(names, accuracy, human, strict=True)
    ]
    return _written(records, CONDITIONS, "Accuracy of the model and of people under each condition", folder)


def bias_table(
    categories: Sequence[str], bias: Sequence[float | None], people: Sequence[float | None], folder: Path
) -> Exhibit:
    """Shape bias per category of the shape."""
    records = [
        {"category": name, "shape_bias": own, "people": other}
        for name, own, other in zip(categories, bias, people, strict=True)
    ]
    return _written(records, CATEGORIES, "Shape bias by category of the shape", folder)


def _written(records: Sequence[dict[str, Any]], name: str, caption: str, folder: Path) -> Exhibit:
    (folder / f"{name}.json").write_text(json.dumps(records, allow_nan=False), encoding="utf-8")
    return Exhibit(name=name, kind="table", file=f"{name}.json", caption=caption)
