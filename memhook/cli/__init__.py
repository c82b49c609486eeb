"""The command line: one function for each command.

asking            Asking the user, who must be there to answer
backup            backup and restore. They open the store themselves: the daemon opens no path that it is told
completion        completion: the script that completes memhook's commands and options in a shell
config            config show, get, set, unset, path, edit
context_commands  inject, pack, mcp
daemon            daemon start, stop, restart, status
doctor            doctor: what is well, what is not, and the command that mends it
editor            The user's own editor
evaluate          eval: what the prompt hook is worth on a set of memories and prompts
exporting         Export into a folder of Markdown, a file for each memory
expunging         redact, and forget --purge: what was remembered is taken out of everything memhook wrote
guide             guide: the documentation that ships with memhook, one Markdown file per topic
installing        install and uninstall: memhook switched on and off in the assistants, shown before it is done
main              The command `memhook`. Hooks and the MCP server have doors of their own
memories          remember, get, search, list, edit, forget, share, mute, unmute, release
memory_options    The commands about memories, their options, and what those mean to the engine
models            models list, pull
output            How commands speak: readable in a terminal, plain when piped, JSON on request
parser            Every command with its options, a line of what it does and an example
pauses            pause and resume
place             Where a command runs, and the way from there to the memories
projects          projects, and mending them: merge, split, move
registration      Where an assistant was told to run memhook's hooks, as far as its own settings say
round_trip        One real round trip: a memory in a temporary store
run               From arguments to one command, and from whatever it raises to an exit code
stats             stats: what memhook has cost and what it was good for
status            status, and `memhook` alone: where you are
token_options     The commands about tokens, and their options
tokens            token create, list and revoke
transfer          import and export
views             Memories as they are shown to a person
why               why: what was shown, what was not, and the reason for each
"""
