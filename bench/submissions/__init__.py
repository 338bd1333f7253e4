"""Models that live outside the package: a class, a command, or artifacts made elsewhere."""

from bench.submissions.card import CARD, line_of, unknown_key
from bench.submissions.loading import add_folder, from_folder, from_path, is_path, submitted

__all__ = ["CARD", "add_folder", "from_folder", "from_path", "is_path", "line_of", "submitted", "unknown_key"]
