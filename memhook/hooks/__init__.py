"""Lifecycle events of assistants.

runner    the one entry point for events; it fails open
handlers  the action for each kind of event
saving    the lines that ask the assistant to save something: an instruction at a start, cues on prompts
sessions  the sessions that go on: their exchanges, their starts, and which of them saves what
stop      the end of an exchange or of a context: which memories were used, and digests
spool     captured records that are not stored yet
capture   storing the notes that a prompt contains
parts     whether an answer can need its second part
reports   messages for the user, kept until a client has read them
withheld  recording which memories a hook may not show, for `why`
"""
