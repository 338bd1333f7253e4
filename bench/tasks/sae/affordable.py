"""What a size has no time for: coders that add little to what others show run on a part of its units."""

from __future__ import annotations

from bench.errors import MissingRequirement
from bench.spec import Unit

CORE = "core"


def require_affordable(tags: tuple[str, ...], unit: Unit) -> None:
    """Raise `MissingRequirement` if this size runs only models with the tag `core` on this unit.

    Settings: `core_datasets`, names with commas between on which only they run, and `others_repeats`, from which on
    only they run; `held_back`, a tag whose models do not run at all. Submitted coders are never held back.
    """
    if CORE in tags or "reference" not in tags:
        return
    slow = str(unit.settings.get("held_back") or "")
    if slow and slow in tags:
        raise MissingRequirement(
            f"models with the tag {slow!r} take too long at size {unit.size}; size full runs them"
        )
    only = [name for name in str(unit.settings.get("core_datasets") or "").split(",") if name]
    repeats = int(unit.settings.get("others_repeats") or unit.repeat + 1)
    if unit.dataset in only or unit.repeat >= repeats:
        raise MissingRequirement(
            f"at size {unit.size} only the reference coders with the tag {CORE!r} run here, to keep it short; "
            "size full runs them all"
        )
