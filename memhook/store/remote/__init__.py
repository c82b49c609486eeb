"""Stores elsewhere: written at their origin, read from a copy here.

origin   A store that many people write to at once, on an object store, a server or a shared folder
replica  Has a table here and an origin elsewhere: reads the one, writes to the other
"""
