"""The part of a table that is in memory, kept in step with every write.

cached_table     A table with its cache and the vectors for other languages: changes are made here
cache            The cached part of a table: all of it while it is small, else the projects worked on, kept current
snapshot         A small store in memory, as of one state of its table, searched without LanceDB; its file
words            The words of a store: which memory has a term how often, and how common each term is
anchor_cache     The anchors of a snapshot's memories, indexed by what tool calls touch
"""
