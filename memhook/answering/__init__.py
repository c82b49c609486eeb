"""What a prompt or a question gets.

answer   what an event gets, from the search to the finished block; shared by hooks, `why` and `eval`
silence  every reason for which an event gets nothing
account  what a session has seen already
recall   finding and ranking memories: for a prompt, for a search, for the start of a session
block    ranked memories as the block of a hook: at which detail, within the budget
inject   `inject`: finished text for a prompt, from a search or from hits that are named
pack     `pack`: as many whole memories about a topic as fit a budget
explore  `search` and `list`: full records, a page at a time
paging   cursors of the pages
records  a memory as the plain record that leaves memhook: in `--json`, in an export, over MCP
why      why something was shown or not
usage    what memhook has cost and what it was good for, from the ledger
stages   how long each stage of an answer took
"""
