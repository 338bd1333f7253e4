"""Reference models of the family `alignment`."""
