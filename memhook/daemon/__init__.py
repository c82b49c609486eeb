"""The daemon, its protocol, and the fast client of the hooks.

server       the daemon: accepts, loads, answers, stops when idle
place        its lock and its socket in the state folder
wire         the protocol: length-prefixed blocks over a Unix socket
peer         the user at the other end of a socket
control      the daemon from a command: call, start, stop, or do without it
hook_client  the hook command: stdin to the daemon, its answer to stdout
"""
