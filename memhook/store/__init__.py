"""Everything on disk: the table of memories, the ledger, projects, pauses and access tokens.

cache/           The part of a table that is in memory, and how it stays current
embedding/       Texts as vectors: the models that arrive inside packages
remote/          Stores that several people write to, read from a local copy
table/           One LanceDB table of memories: opened, written, searched, repaired
access_tokens    Bearer tokens for agents on other machines: one small private file
ledger           The ledger: what was shown in which session, what was left out, and why. Prompts are not kept
pauses           memhook at rest: everywhere or in one project, for a while or until it is resumed
project          Which project a directory is, so that a clone, a worktree and a subdirectory share their memories
project_aliases  Projects that count as another one: a small file beside the store
"""

import os

os.environ.setdefault("LANCEDB_LOG", "error")  # read when lancedb is imported; its warnings are none for a terminal
