"""Where memories come from besides `remember`: files, other servers, the memories assistants keep themselves.

files             What can be imported besides JSONL: Markdown, in files and folders
host_memories     What assistants already keep in files of their own: instructions and memory folders, found and read
markdown          Memories from and to Markdown
reference_server  The file of MCP's reference memory server: a graph of entities with observations
"""
