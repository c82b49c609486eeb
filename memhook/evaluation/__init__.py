"""Measuring memhook on prompts with known answers, in temporary stores.

sets          reading a set: a folder with memories.jsonl and queries.jsonl
stores        a temporary store with the memories of a set
policies      ways to spend a token budget, and the plan of an evaluation
metrics       the measures of `memhook eval`
baselines     simple methods to compare memhook with
sessions      a session's start and several prompts after it, with one ledger
report        every prompt of a set as a session of its own, and the figures of one set or several
"""
