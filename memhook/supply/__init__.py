"""Where memories come from besides `remember`: files, other servers, what assistants keep themselves, sessions.

csv_table         A table with a header row: CSV or TSV
digests           One exchange of a session as a short note: what was asked, and how it ended; sections of a summary
distiller         Facts made of digests by a model that the user chose; off until one is set
files             The formats that can be imported besides JSONL, one line each, and reading files and folders in them
git               What git knows of a project: commits that say why, and records of decisions
host_memories     Memories that assistants keep in files of their own: instructions and memory folders, found and read
json_list         A file with one JSON list of records, as many tools export them
markdown          Memories from and to Markdown
recorded          The recorded sessions on this machine, or below folders that the user names; how far each was read
reference_server  The file of MCP's reference memory server: a graph of entities with observations
sessions          From a recorded session to the notes that are kept of it
source            A format memories can be imported from, and the entries it yields
typed             What a person typed, of a prompt as an assistant records or sends it
"""
