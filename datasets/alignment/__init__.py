"""Stimuli of the family `alignment`: worlds generated with known truth, and human data found or downloaded."""
