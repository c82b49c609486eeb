"""What a memory is, and how it is ranked, graded, packed and rendered. Pure: no I/O, no clock.

entries        The memories in a block that was emitted, told apart again by what memhook alone can write
excerpts       Which passages of a long text to show, together: those that bear on the prompt
fencing        Remembered text is data: nothing in it may act on a terminal
gist           What of a prompt its author says, without what was pasted into it and without courtesies
grading        How sure memhook is: whether anything found bears on the prompt, and how likely each memory does
languages      Whether a text is in English, told by its script and its small words
memory         What a memory is, and the name it is called by
normal         Unicode normalisation in linear time
note_requests  What a prompt asks memhook itself to do: to remember something, or to take the last such note back
ordering       In which order memories are offered: by relevance, by recency, or by both
packing        Filling a token budget with memories
passages       Which part of a long text to show
pasted         Where in a prompt the user's own words end and text begins that looks pasted
ranking        How strongly each candidate is supported by a prompt, and the order this gives
rendering      How a memory is written down for a model: four levels of detail, two styles, and the frames around them
small_talk     Prompts that need no search: nothing in them could find a memory
spelling       Typing errors in a prompt, repaired where the store has the word that was meant
terms          The words a text is found by: one analyser for what is stored and for what is asked
tokens         What a text costs in tokens, without a tokenizer
topics         Whole memories about a topic, as `pack` writes them down
"""
