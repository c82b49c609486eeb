"""Where memories come from besides `remember`: files, other servers, the memories assistants keep themselves.

files             The formats that can be imported besides JSONL, one line each, and reading files and folders in them
host_memories     Memories that assistants keep in files of their own: instructions and memory folders, found and read
markdown          Memories from and to Markdown
reference_server  The file of MCP's reference memory server: a graph of entities with observations
source            A format memories can be imported from, and the entries it yields
"""
