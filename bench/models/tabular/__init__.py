"""Reference adapters of the family `tabular`, one file per model."""
