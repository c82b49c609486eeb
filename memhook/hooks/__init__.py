"""The one door for lifecycle events. It fails open.

capture    What a prompt asks to be remembered, stored beside the prompt: it waits for that a moment, never for long
handlers   What memhook does at each event: one function for each
kept_back  What the last prompts did not get because it may not come up by itself, for `why`
reports    Lines for the user about what their prompts changed, kept until a client has read them to their end
runner     The one door through which events come in. It fails open: whatever goes wrong
"""
