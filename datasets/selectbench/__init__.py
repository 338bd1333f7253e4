"""Data of the family `selectbench`: receptors, cases, literature ligands, approved drugs, the reference library."""
