"""The one resident engine: its libraries, and the operations that the doors may call.

accounts    The sessions' accounts: every call that hooks make to the ledger
agents      Which settings hold for a subagent of a given type
caller      Who makes a call, and what answers it
condition   Calls about how memhook is: for `status` and `doctor`
engine      What the daemon holds: the libraries, the ledger and the settings
operations  What other doors may ask of the daemon. Plain values in, plain values out, for they cross a socket
projects    Calls about projects: which there are, and mending what counts as one
scopes      What a caller may do: scopes and namespaces, checked before the store or the embedder is touched
"""
