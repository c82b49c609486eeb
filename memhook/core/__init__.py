"""The memory itself, and how it is ranked, graded, packed and rendered. Pure: no I/O, no clock.

memory           the memory, its URN, and where it was learned: assistant, session, turn
anchors          the files, commands, identifiers and codes that a memory names
actions          the files a tool call touches, the commands it runs, the text it writes, and its error
commands         commands that a memory names, and whether a call runs one
manifests        the packages that the manifest of a project names
sentences        the sentences of a note, and how one continues after the name of a tool
directives       whether a note asks for something or forbids it
spoken_commands  commands and tools that a text may name in plain words
error_messages   the messages of errors that a note may have, and whether an error is one of them
scopes           the objects and places that a note limits its names to, and the names that it is not about
mentions         commands, tools and files that a short note may name in plain words; a tool call is the proof
anchor_index     the memories whose anchors a tool call touches
anchor_keys      the keys under which anchors and mentions are indexed, and how specific each is
anchor_details   the details of a memory that decide whether it matches a call with one of its keys
anchor_checks    whether a call has what a memory means by an anchor
tool_calls       a tool call with the data by which it is compared with memories
call_keys        the keys for which a tool call is looked up
terms            the terms of a text: one analyser for stored text and queries
spelling         typing errors in a prompt, corrected to words of the store
languages        whether a text is in English
small_talk       prompts that need no search; their author's own words without pasted text and courtesies
pasted           the line of a prompt at which pasted text begins
phrases          the phrases of requests to remember, corrections and orders, in many languages
cues             corrections and standing orders in a prompt, and the line that asks to save them
note_requests    requests to remember something, and `forget that`, in a prompt
ranking          the evidence for each candidate, and the order it gives; sorting by relevance, recency or both
grading          the chance that a result is relevant, and the results to show by it, captured memories included
receipts         whether an assistant used a memory in its answer
staleness        the files, commands and symbols of a memory, checked against an index of the repository
passages         the one passage of a long text to show
excerpts         the several passages of a long text to show
tokens           the token estimate, without a tokenizer
rendering        a memory as text for a model: levels of detail, styles, frames
packing          filling a token budget
fencing          making remembered text safe to print and to show to a model; removing entries from a block
normal           Unicode normalization in linear time
"""
