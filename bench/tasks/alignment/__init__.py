"""Tasks of the family `alignment`: does a model see as people do?

    stimuli     what each task shows, generated or loaded, kept between jobs
    seeing      how a model is shown images: resized once, checked, in batches
    readout     logits for a label space: the model's own head, or a probe on its features
    scores      metric results -> measures, over the trainings of a model
    artifact    what models hand in, checked

A module per task: similarity, gloss, uncertainty, robustness, cue_conflict, attribution.
"""
