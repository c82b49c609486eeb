"""Files: written durably, locked, and edited in place.

durable      Files that survive a power cut: new data is on disk before old data is deleted
json_edit    One entry of a JSON file added or taken out in place: comments, order, layout and everything else stay
json_layout  Where in a JSON file each value stands, comments and trailing commas allowed
leftovers    Files and folders that are only wanted while something runs: what a kill leaves of them
locking      One writer at a time, across processes and threads
toml_layout  Where in a valid TOML file each value stands. What it means is tomllib's business
toml_table   One table of a TOML file added at its end or taken out: nothing else of the file changes
"""
