"""Reference models of the family `selectbench`."""
