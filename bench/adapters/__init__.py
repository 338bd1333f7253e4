"""What a model must offer to be measured: one module per family.

from bench.adapters.images import ImageGenerator
"""
