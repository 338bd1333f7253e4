"""Image data sets: real images in three disjoint roles, the same for every model.

    from bench.datasets.images import ImageDataset, ImageSplit

One module per data set holds its loader `load()` and a cheap `locate()`; the cards are in
`bench/catalog/images.py`.
"""

from bench.datasets.images.dataset import ImageDataset, ImageSplit

__all__ = ["ImageDataset", "ImageSplit"]
