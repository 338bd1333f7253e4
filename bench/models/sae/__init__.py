"""Reference models of the family `sae`."""
