"""Lifecycle events of assistants.

runner    the one entry point for events; it fails open
handlers  the action for each kind of event
saving    the lines that ask the assistant to save something: an instruction at a start, cues on prompts
sessions  the ongoing sessions: their exchanges, their starts, and which one saves what
stop      the end of an exchange or of a context: which memories were used, digests, and the spool they wait in
capture   storing the notes that a prompt contains, and the messages about them until a client has read them
parts     whether an answer can need its second part
withheld  recording which memories a hook may not show, for `why`
"""
