"""Statistics of the bench: intervals, paired tests, rankings."""
