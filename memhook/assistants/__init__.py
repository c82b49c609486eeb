"""The assistants: what each sends and expects, and which of its files memhook writes.

choice     Which assistant an event came from: as the command line says, as the payload shows
claude     Claude Code: its payload on stdin, its JSON on stdout. What others took over from it, they take from here
codex      Codex: Claude Code's events with a turn instead of a prompt's id, and a limit in bytes
copilot    Copilot CLI: Claude Code's events, or its own in camelCase without a name
edits      What memhook writes into one file of an assistant, and how it takes exactly that out again
events     An event of an assistant in memhook's own words, and the answer to it
gemini     Gemini CLI: a prompt is BeforeAgent there; no limit was found up to 100,000 characters
known      The assistants memhook can be switched on in, and what each wants to be told, in which file
launcher   The small shell script that every assistant runs: it knows the interpreter
limits     How much of a budget the assistant's own limits let through
opencode   OpenCode: its plugin, which memhook brings
payload    Reading a payload that others wrote: any field may be missing or of another kind
presence   Which assistants are on this machine, and in which of them memhook is on, and how
qwen       Qwen Code: Claude Code's names; no limit was found up to 100,000 characters
receipts   What memhook wrote into whose files, so that each can be put back byte for byte
switching  Switching memhook on and off: first what would change, to be shown and confirmed, then the change itself
"""
