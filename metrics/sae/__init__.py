"""Metrics of sparse coders: rate, distortion, polysemanticity, recovery, and proxies for the second and third.

Codes are `scipy.sparse` matrices, float32 (n, m): row = input, column = latent, "active" = not zero. Atoms are the
rows w_j of a decoder (m, d); every metric that uses both is the same under f_j -> c f_j, w_j -> w_j / c, c > 0.
"""
