"""Tables: their schema, real data sets from packages and downloads, and generators with known truth.

from bench.datasets.tabular.schema import TableSchema
"""
