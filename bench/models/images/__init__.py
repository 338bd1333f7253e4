"""Reference adapters of the family `images`, one file per model."""
