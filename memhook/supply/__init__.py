"""Where memories come from besides `remember`: files, other servers, what assistants keep themselves, sessions.

csv_table      A table with a header row: CSV or TSV
digests        One exchange of a session as a short note: what a person typed, and how it ended; sections of a summary
distiller      Facts made of digests by a model that the user chose; off until one is set
files          The formats that can be imported besides JSONL, one line each, and reading files and folders in them
git            What git knows of a project: commits that say why, and records of decisions
host_memories  Memories that assistants keep in files of their own: instructions and memory folders, found and read
json_files     JSON of other tools: one list of records, and the graph of MCP's reference memory server
markdown       Memories from and to Markdown
recorded       The recorded sessions on this machine, or below folders that the user names; how far each was read
sessions       From a recorded session to the notes that are kept of it
signatures     What a command that failed is known by when it fails again, on whatever it is run
source         A format memories can be imported from, and the entries it yields
"""
