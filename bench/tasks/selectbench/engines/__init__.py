"""Engines: what gives a molecule a score on a receptor (kcal/mol, lower is stronger)."""
