"""The memory itself, and how it is ranked, graded, packed and rendered. Pure: no I/O, no clock.

memory         the memory and its URN
terms          the terms of a text: one analyser for stored text and queries
spelling       typing errors in a prompt, corrected to words of the store
languages      whether a text is in English
small_talk     prompts that need no search
gist           the author's own words in a prompt, without pasted text and courtesies
pasted         the line of a prompt at which pasted text begins
note_requests  `remember: ...` and `forget that` in a prompt
ranking        the evidence for each candidate, and the order it gives
grading        the probability that a result is relevant, and what to show by it
ordering       sorting by relevance, recency or both
passages       the one passage of a long text to show
excerpts       the several passages of a long text to show
tokens         the token estimate, without a tokenizer
rendering      a memory as text for a model: levels of detail, styles, frames
topics         whole memories as text, for `pack`
packing        filling a token budget
fencing        making remembered text safe to print and to show to a model
entries        the memories in an emitted block, found again
normal         Unicode normalization in linear time
"""
