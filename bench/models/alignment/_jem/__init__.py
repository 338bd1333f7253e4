"""Training of joint energy-based models: one loss between a classifier and a generative model.

    log p(y|x) = f_y - logsumexp f,   log p(x) = logsumexp f - log Z,   log p(x, y) = f_y - log Z

    loss = (1 - lambda) * cross-entropy + lambda * G

`objectives` has the three forms of G, `chains` the sampler, `training` the loop.

Source: W. Grathwohl et al. (2020), Your classifier is secretly an energy based model and you should treat it like one.
"""
