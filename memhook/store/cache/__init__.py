"""The in-memory part of a table, kept consistent by every write.

cached_table     A table with its cache and the vectors for other languages: changes are made here
cache            The cached part of a table: all of it while it is small, else the projects worked on, kept current
snapshot         An in-memory copy of a small store at one state of its table, searched without LanceDB; its file
words            The words of a store: an index of the terms of memories, and how common each term is
anchor_cache     The anchors of a snapshot's memories, indexed by what tool calls touch
"""
