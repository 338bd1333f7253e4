"""Data of sparse coders: worlds whose concepts are known, and activations of language models that fit in a package."""
