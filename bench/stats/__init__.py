"""Statistics of the bench; arrays in, small frozen results out, nothing else of the bench imported.

=================  =====================================================================================
`intervals`        one number: repeats, proportions, samples, clustered samples, group means
`paired`           two models on the same units, planned in advance; Holm and Benjamini-Hochberg
`bets`             the stakes and wealth from which everything valid at any time is built
`confseq`          confidence sequences for one bounded mean
`eprocess`         paired comparison that may be looked at after every item
`regions`          joint regions for the means of several metrics
`evalues`          many claims at once, models that arrive over time
`scores`           from a long table to one utility per model and task, with stated failure policies
`ranking`          mean ranks, critical differences, win rates, normalised scores
`bradley_terry`    ratings on the Elo scale
`compare`          two models, task by task: what `bench compare` prints
`groups`           all pairs of several models on one task: who can be told apart
`unit_scale`       scores in [0, 1] from values of any range, for sequential comparisons
`validity`         the measured false-alarm rates that the methods page shows
=================  =====================================================================================

Whatever is said to be "valid at any time" comes from `confseq`, `eprocess`, `regions` or `evalues`
(`groups` applies `eprocess` to many pairs).
"""
