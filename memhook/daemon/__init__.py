"""The resident process, the wire to it, and the fast client of the hooks.

control      The daemon seen from a command: reach it, start it, stop it, or do without it
hook_client  The hook command: hands the event on stdin to the daemon and the daemon's answer to stdout
peer         Who is at the other end of a Unix socket, as the kernel says
place        The daemon's place: the lock and the socket in the state folder, as long as they are this process's own
server       The resident process: one per user and state folder, holding the store, the model and the ledger
wire         How doors and daemon talk: length-prefixed blocks over a Unix socket. The hook client speaks it by hand
"""
