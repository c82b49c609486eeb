"""Files: written durably, locked, and edited in place.

durable      Files that survive a power cut: new data is on disk before old data is deleted; temporary folders
json_edit    Adding or removing one entry of a JSON file in place: comments, order and layout stay
layout       The position of each value in a JSON or TOML text; json and tomllib parse the values
locking      One writer at a time, across processes and threads
toml_edit    Changing a key or a table of a TOML file in place: comments, order and everything else stay
"""
