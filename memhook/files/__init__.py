"""Files: written durably, locked, and edited in place.

durable      Files that survive a power cut: new data is on disk before old data is deleted
json_edit    Adding or removing one entry of a JSON file in place: comments, order and layout stay
json_layout  The position of each value in a JSON file, comments and trailing commas allowed
leftovers    Temporary files and folders: those of a killed process are removed by the next run
locking      One writer at a time, across processes and threads
toml_layout  The position of each value in a valid TOML file; tomllib reads what it means
toml_table   Adding a table at the end of a TOML file or removing it: nothing else of the file changes
"""
