"""Answers to prompts and queries.

answer   the answer to an event, from the search to the finished block; shared by hooks, `why` and `eval`
action   the answer to a tool call: the memories anchored to what it touches
start    the answer to the start of a session or of a subagent: what matters most for the project
silence  every reason for an empty answer
account  the memories that a session has seen, and the tokens spent on them
recall   finding and ranking memories: for a prompt, for a search
doubts   evidence for and against a memory to show: superseded, out of date, used, never used
block    ranked memories as the block of a hook: level of detail, budget
inject   `inject`: finished text for a prompt, from a search or from given hits
pack     `pack`: as many whole memories about a topic as fit a budget
explore  `search` and `list`: plain records, a page at a time
why      the reasons for which a memory was shown or not
usage    cost and use of memhook, from the ledger
stages   the duration of each stage of an answer
"""
