"""Stores that several people write to, read from a local copy.

origin   A store that many people write to at once, on an object store, a server or a shared folder
replica  A store elsewhere, read from a copy of it here: however slow or far it is
waiting  Waiting for a store elsewhere only for as long as something is there to wait for
"""
