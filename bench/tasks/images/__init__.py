"""The protocols of the family `images`."""
