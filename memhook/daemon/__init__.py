"""The daemon, its protocol, and the fast client of the hooks.

server       the daemon: accepts, loads, answers, stops when idle
place        its lock and its socket in the state folder
wire         the protocol: length-prefixed blocks over a Unix socket, and the user id of the peer
control      the daemon from a command: call, start, stop, or do without it
hook_client  the hook command: stdin to the daemon, its answer to stdout; its .pl is faster if the daemon is running
"""
