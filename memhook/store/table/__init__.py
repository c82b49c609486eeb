"""One LanceDB table: opened, migrated, written, searched, repaired.

table         The table, which may not exist yet: connected, created, read, written under a lock and synced
lance         LanceDB, imported when it is first needed, without the part that takes longest and is never called
own           What is particular to a table of one's own: repaired, migrated, indexed, with checksums
changes       The changes that can be written, to a table of one's own as to a shared one
schema        The columns, how rows turn into memories and candidates for an answer, and the migrations of older tables
opening       Opening a store without harming it: what cannot be read, is newer or is not memhook's
filters       Which memories a query may see, as the condition LanceDB evaluates before anything is ranked
disk_search   Searching the table itself, through its indexes: what is not in memory
indexes       The table's indexes: created when they pay, and again when the table has outgrown them; sizes that decide
maintenance   When a table is compacted, indexed and rid of old versions, and how
expunge       Deleting memories from a table so that no file of it has them any more
recovery      Recovery from damaged files: open the last version that is whole, or read what is readable
checksums     Checksums of a table's files, and copies of those that name the others. LanceDB has neither
manifest      A version of a table as its manifest lists it: which data files it has
release       Returning memory to the system: what reading a store took stays with the allocators
arrow_file    The rows of a table as one file, and back
"""
