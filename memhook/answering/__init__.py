"""What a prompt or a question gets: recall, grade, block, inject, pack, explore, why.

answer   What a prompt gets: decided here for the hook and for `why`, so that the two cannot disagree
block    From ranked memories to finished text: what is new to the session, at which detail, within the budget
explore  Search and list, a page at a time. What changes between two pages neither shifts nor repeats the rest
inject   `inject`: finished text for a prompt, from a search or from memories that are named
pack     `pack`: as many whole memories about a topic as fit a budget
paging   Cursors: where the next page of one particular question starts. Opaque to whoever carries them
recall   Finding memories: for a prompt, for a search, for the start of a session
records  A memory as the plain record that leaves memhook: in `--json`, in an export, over MCP
stages   How long each stage of an answer took
usage    What memhook has cost and what it was good for, from the ledger
why      Why something was shown or not: what was recorded of an event, or what a prompt would get now
"""
