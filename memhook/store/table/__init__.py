"""One LanceDB table of memories: opened, written, searched, repaired.

arrow_file       The rows of a table as one file, and back
checksums        Checksums of a table's files, and copies of those that name the others. LanceDB keeps neither
compaction       Old versions of a table are deleted once the newest is on disk
disk_search      Searching the table itself, through its indexes: what is not held in memory
expunge          Taking memories out of a table so that no file of it holds them any more
filters          Which memories a query may see, as the condition LanceDB evaluates before anything is ranked
id_pages         Going through a million ids in their order, a page at a time, without listing them all for each page
indexes          The table's indexes: made when they pay, made anew when the table has outgrown them
manifest         A version of a table as its manifest lists it: which data files it has
markers          What was once done to a store, noted in its folder: a copy of it says the same
memories         The memories: one LanceDB table, searched by meaning and by words
opening          Opening a store without harming it: what cannot be read
read_gate        Many may pass at a time, or one alone: what clears old files away waits for those who still read them
recovery         What to do about damaged files: open the last version that is whole, or read what is readable
schema           The shape of the memories table, and how rows and memories turn into each other
sizes            How large a store may be for which way of answering. Nobody sets these; tests pass in smaller ones
term_statistics  How common each term is in the store: what makes a rare word of a prompt count for more
upkeep           Keeping a large table in shape: small files joined, indexes extended and made, old versions dropped
"""
