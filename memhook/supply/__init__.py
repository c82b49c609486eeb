"""The sources of memories besides `remember`: files, other servers, assistants' own notes, sessions.

csv_table      A table with a header row: CSV or TSV
digests        One exchange of a session as a short note: what a person typed, and how it ended; sections of a summary
distiller      Facts extracted from digests by a model that the user chose; off until one is set
files          The formats that can be imported besides JSONL, one line each, and reading files and folders in them
git            Memories from git: commits that explain why, and decision records
host_memories  Memories that assistants keep in files of their own: instructions and memory folders, found and read
json_files     JSON of other tools: one list of records, and the graph of MCP's reference memory server
markdown       Memories from and to Markdown
recorded       The recorded sessions on this machine, or below folders that the user names; how far each was read
sessions       Extracting notes from a recorded session
signatures     The signature of a failed command, by which it is recognised with other operands
source         A format memories can be imported from, and the entries it yields
"""
