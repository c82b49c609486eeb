"""The one resident engine: its libraries, and the operations that may be called on it.

accounts    Calls that hooks make to the ledger, by session
agents      The settings for a subagent of a given type
caller      The caller of an operation: rights, project, settings and stores
catalogue   Every operation: its function, the scope it needs, whether it may be repeated
condition   Operations for `status` and `doctor`
engine      The libraries, the ledger and the settings, opened once
operations  Operations on memories
projects    Operations on projects
scopes      What a caller may do: scopes and namespaces, checked before the store or the embedder is touched
"""
