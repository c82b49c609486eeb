"""Everything on disk: the memories, the ledger, projects, pauses and access tokens.

embedding/       Texts as vectors: the models that arrive inside packages
table/           One LanceDB table: opened, migrated, written, searched, repaired
cache/           The part of a table that is in memory, kept in step with every write
remote/          Stores elsewhere: written at their origin, read from a copy here
memories         What the rest of memhook uses: the memories of one store, found and written
vectors          The vectors of a store: which are missing, making them again, searching by those for other languages
access_tokens    Bearer tokens for agents on other machines: one small private file
ledger           What was shown in which session, what was left out, and why. Prompts are not stored
pauses           Pauses of memhook: everywhere or in one project, for a while or until it is resumed
project          Which project a directory is, so that a clone, a worktree and a subdirectory share their memories
project_aliases  Projects that count as another one: a small file beside the store
repository       the index of a repository that memories are checked against
"""
