"""One LanceDB table: opened, migrated, written, searched, repaired.

table         The table, which may not exist yet: connected, created, read, written under a lock and synced
lance         LanceDB, imported when it is first needed, without the part that takes longest and is never called
own           The user's own table: repaired, migrated, indexed, with checksums
changes       The changes that can be made to a table, own or shared
schema        The columns, how rows turn into memories and candidates for an answer, and the migrations of older tables
opening       Opening a store safely: one that is unreadable, newer or not memhook's is left unchanged
filters       Which memories a query may return, as an SQL condition that LanceDB evaluates before ranking
disk_search   Searching the rows that are not in memory, through the table's indexes
indexes       The table's indexes: created when worthwhile, rebuilt when outgrown; the sizes that decide
maintenance   Compaction, indexing and deletion of old versions: when and how
expunge       Deleting memories from a table so that none of its files contains them any more
recovery      Recovery from damaged files: open the last undamaged version, or salvage the readable rows
checksums     Checksums of a table's files, and copies of its manifests and deletion lists. LanceDB has neither
manifest      A version of a table as its manifest lists it: its data and index files
release       Returning memory to the system that allocators keep after a store was read
arrow_file    The rows of a table as one file, and back
"""
