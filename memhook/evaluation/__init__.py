"""Measuring memhook: prompts with known answers, through the code the hooks use, in stores deleted afterwards.

sets        a set to evaluate on: memories and prompts, read from a folder
policies    ways to spend a budget on what was recalled, and the plan of an evaluation
stores      a temporary store with the memories of a set
asking      every prompt of a set as a session of its own
sessions    a session's start and several prompts after it, with one ledger
baselines   what simple methods would show in memhook's place
report      the figures of one set, or of several with those over all their prompts

How a block is judged is in core/metrics.
"""
