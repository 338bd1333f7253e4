"""Selectivity metrics. Scores are in kcal/mol, lower is stronger; rows are molecules, columns off-targets.

A molecule without a score has NaN there and counts as not selective: no rate shrinks its denominator.
"""
