"""What a size has no time for: reference coders that take long."""

from __future__ import annotations

from bench.errors import MissingRequirement
from bench.spec import Unit


def require_affordable(tags: tuple[str, ...], unit: Unit) -> None:
    """Raise `MissingRequirement` for a reference with the tag that the setting `held_back` names.

    Submitted coders are never held back.
    """
    slow = str(unit.settings.get("held_back") or "")
    if slow and slow in tags and "reference" in tags:
        raise MissingRequirement(
            f"models with the tag {slow!r} take too long at size {unit.size}; size full runs them"
        )
