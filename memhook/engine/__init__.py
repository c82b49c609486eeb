"""The one resident engine: its libraries, and the operations that may be called on it.

accounts    Calls to the ledger, with a default for each where it cannot be opened or fails
browsing    Operations that browse memories, events and statistics
caller      The caller of an operation: rights, project, settings and stores
captures    Operations on captured memories
catalogue   Every operation: its function, the scope it needs, whether it may be repeated
condition   Operations for `status` and `doctor`
engine      The libraries, the ledger and the settings, opened once
explaining  Operations that explain: why, what a prompt would get with other settings, what memhook costs
following   Followed files, which memories were imported from: a change of a file updates its memories
inbox       Operations for the user's review: the inbox, and the list of `tidy`
operations  Operations on memories
projects    Operations on projects
revising    Operations that change several memories and can be undone
repositories  Indexes of the repositories that prompts come from
scopes      The rights of a caller: scopes and namespaces, checked before the store or the embedder is used
"""
