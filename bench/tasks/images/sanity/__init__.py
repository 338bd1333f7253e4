"""Task `images.sanity`: metrics of fidelity and diversity measured on made sets of points."""
