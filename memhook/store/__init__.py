"""Everything on disk: the memories, the ledger, projects, pauses and access tokens.

embedding/       Texts as vectors: the models that come inside packages
table/           One LanceDB table: opened, migrated, written, searched, repaired
cache/           The in-memory part of a table, kept consistent by every write
remote/          Remote stores: written at their origin, read from a local replica
memories         The memories of one store, found and written: the interface for the rest of memhook
vectors          The vectors of a store: finding missing ones, recomputing them, searching by those for other languages
access_tokens    Bearer tokens for agents on other machines: one small private file
ledger           Which memories each session was shown, which were left out, and why. Prompts are not stored
pauses           Pauses of memhook: everywhere or in one project, for a while or until it is resumed
project          The project of a directory, so that a clone, a worktree and a subdirectory share their memories
project_aliases  Aliases of projects: a small file beside the store
repository       The index of a repository that memories are checked against
"""
