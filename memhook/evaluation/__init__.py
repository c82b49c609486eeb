"""Measuring memhook on prompts with known answers, in stores that are deleted afterwards.

asking        Every prompt of a set as a session of its own
baselines     What simple methods would show in memhook's place: whole memories, without any frame around them
metrics       What `memhook eval` measures, each measure defined once
plain_search  What memhook's search is measured against: LanceDB's full text and vectors as they come
policies      Ways to spend a token budget on what was recalled for a prompt, and the plan of an evaluation
report        The figures of one set, or of several with those over all their prompts
sessions      A session's start and several prompts after it, with one ledger
sets          A set to evaluate on: a folder with memories.jsonl and queries.jsonl
stores        A temporary store with the memories of a set. The user's own store is not opened
"""
