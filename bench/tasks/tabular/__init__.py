"""Tasks of the family `tabular`: how faithful is a synthetic table?

protocol    which real rows a model, an attacker and a predictor see
artifact    the synthetic table as a file, read as untrusted input
collecting  running a generator
encoding    frames as the encoded tables that metrics take
truth       what is known of generated data, in the form that metrics take
scoring     metrics, details and badges of one table
task        the four tasks
evaluate    two data frames without any adapter
"""
