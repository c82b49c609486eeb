"""Lifecycle events of assistants.

runner    the one entry point for events; it fails open
handlers  the action for each kind of event
capture   storing the notes that a prompt contains
reports   messages for the user, kept until a client has read them
withheld  recording which memories a hook may not show, for `why`
"""
