"""Sheets that show people what was done to the images."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.spec import Exhibit
from bench.tasks.images.audit.pools import DAMAGE, AuditUnit, Images, blends, damaged, severities
from bench.tasks.images.sheets import write_sheet

_COLUMNS = 8


def galleries(plan: AuditUnit, strangers: Images, folder: Path) -> tuple[Exhibit, ...]:
    """One sheet for each damage of images: the same held-out images, below each other, from no damage to the worst."""
    clean = plan.held.images[:_COLUMNS]
    found = []
    for name, (levels, _) in DAMAGE.items():
        kept = severities(levels, plan.levels)
        caption = (
            f"{name.replace('_', ' ').capitalize()}: none, then {', '.join(f'{level:g}' for level in kept)}"
        )
        found.append(_sheet(name, np.concatenate([clean, *damaged(plan, name, clean)]), caption, folder))
    mixed = blends(plan)[: 2 * _COLUMNS]
    return (
        *found,
        _sheet("interpolation", mixed, "Mixtures of two held-out images", folder),
        _sheet("invention", strangers[: 2 * _COLUMNS], "Images of another kind", folder),
    )


def _sheet(name: str, images: Images, caption: str, folder: Path) -> Exhibit:
    file = f"gallery-{name}.png"
    write_sheet(images, folder / file, rows=-(-len(images) // _COLUMNS), columns=_COLUMNS)
    return Exhibit(name=f"gallery-{name}", kind="image", file=file, caption=caption)
