"""Metrics of human alignment: similarity, gloss, uncertainty, robustness and error consistency, cues, attribution.

Every function takes arrays and returns a small frozen result. What is not defined is None with a reason, never 0 and
never NaN. Values above a human ceiling or below chance are kept as they are.
"""
