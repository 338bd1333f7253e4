"""The tasks of the family `selectbench`: are generated molecules selective, and how far can the scorer be trusted?

standardize -> protonate -> conformers -> engines (docking) -> scoring (cache, workers) -> evaluate -> report.
"""
