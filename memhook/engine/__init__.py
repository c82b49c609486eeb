"""The one resident engine: its libraries, and the operations that may be called on it.

accounts    Calls that hooks make to the ledger, by session
browsing    Operations that look through memories, events and numbers
caller      The caller of an operation: rights, project, settings and stores
captures    Operations on captured memories
catalogue   Every operation: its function, the scope it needs, whether it may be repeated
condition   Operations for `status` and `doctor`
engine      The libraries, the ledger and the settings, opened once
explaining  Operations that explain: why, what a prompt would get with other settings, what memhook costs
following   The files that memories were imported from: a change of one updates its memories
inbox       Operations on what the user may decide about: the inbox, and the list of `tidy`
operations  Operations on memories
projects    Operations on projects
revising    Operations that change several memories and can be undone
repositories  Indexes of the repositories that prompts come from
scopes      What a caller may do: scopes and namespaces, checked before the store or the embedder is touched
"""
