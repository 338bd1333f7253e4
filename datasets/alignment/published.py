"""Published figures of people: facts, small enough to stand here."""

from __future__ import annotations

# Share of comparisons that a bump level 0..6 wins as the glossier one: 20 observers, 10 surfaces, 8,400 trials each.
# Source: K. R. Storrs, B. L. Anderson and R. W. Fleming (2021), Unsupervised learning predicts human perception and
# misperception of gloss, experiments 3a and 3b.
WIN_RATES = {
    "3a": (0.098, 0.251, 0.425, 0.587, 0.690, 0.741, 0.708),
    "3b": (0.072, 0.214, 0.368, 0.520, 0.658, 0.785, 0.884),
}
# Shape bias of people, per category of the shape. Source: R. Geirhos et al. (2019), ImageNet-trained CNNs are biased
# towards texture; 10 observers, 12,000 trials.
SHAPE_BIAS = 0.9587
SHAPE_BIAS_BY_CATEGORY = {
    "airplane": 0.893, "bear": 0.935, "bicycle": 0.997, "bird": 0.968, "boat": 0.872, "bottle": 0.987, "car": 0.974,
    "cat": 0.959, "chair": 0.991, "clock": 0.996, "dog": 0.941, "elephant": 0.963, "keyboard": 0.942, "knife": 0.891,
    "oven": 0.968, "truck": 0.983,
}  # fmt: skip
# Mean accuracy of people (16 categories, 4 observers), by manipulation and level in the order of strength. Source: R.
# Geirhos et al. (2018), Generalisation in humans and deep neural networks.
ACCURACY: dict[str, dict[str, float]] = {
    "uniform-noise": {
        "0.0": 0.7969, "0.03": 0.8344, "0.05": 0.7641, "0.1": 0.7703, "0.2": 0.6469, "0.35": 0.3984, "0.6": 0.1484,
        "0.9": 0.0703,
    },
    "contrast": {
        "100": 0.8562, "50": 0.8266, "30": 0.7953, "15": 0.7344, "10": 0.5953, "5": 0.3531, "3": 0.15, "1": 0.0625,
    },
    "low-pass": {
        "0": 0.9203, "1": 0.9141, "3": 0.7953, "5": 0.6297, "7": 0.5875, "10": 0.3797, "15": 0.2, "40": 0.0609,
    },
    "high-pass": {
        "inf": 0.8828, "3.0": 0.8078, "1.5": 0.7391, "1.0": 0.6156, "0.7": 0.3531, "0.55": 0.1781, "0.45": 0.0734,
        "0.4": 0.0641,
    },
    "rotation": {"0": 0.8906, "90": 0.8414, "180": 0.8023, "270": 0.8461},
    "phase-scrambling": {
        "0": 0.8984, "30": 0.8797, "60": 0.7953, "90": 0.6859, "120": 0.3906, "150": 0.1062, "180": 0.1016,
    },
}  # fmt: skip
ACCURACY_CLASSES = 16
