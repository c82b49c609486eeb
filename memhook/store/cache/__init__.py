"""The part of a table that is in memory, and how it stays current.

by_project  A store too large to be held in memory, held by project
cache       What is in memory of a store, to be answered from: all of it while it is small
refresh     Keeping what is in memory of a store current, without anybody waiting for it
release     Giving memory back: what reading a store took stays with the allocators, hundreds of megabytes of it
snapshot    A small store in memory, as of one state of its table: one query of LanceDB's costs more than all of this
word_index  The words of a small store in memory: which memory holds a term how often, and what that says for a prompt
"""
