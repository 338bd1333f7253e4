"""Tasks of the family `sae`: rate, distortion and polysemanticity of sparse coders."""
