"""Models that live outside the package: a class, a command, or artifacts made elsewhere."""

from bench.submissions.loading import (
    CARD,
    add_folder,
    from_folder,
    from_path,
    is_path,
    line_of,
    unknown_key,
)

__all__ = ["CARD", "add_folder", "from_folder", "from_path", "is_path", "line_of", "unknown_key"]
