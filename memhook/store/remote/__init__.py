"""Remote stores: written at their origin, read from a local replica.

origin   A store that many people write to at once, on an object store, a server or a shared folder
replica  The local copy of an origin: reads go to the copy, writes to the origin
"""
