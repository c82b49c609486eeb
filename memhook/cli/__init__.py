"""The command line. Commands are files of `commands/`: their options beside what they do.

ahead       Calls that are made ahead, for imports
commands/   The commands
editor      The user's own editor
main        The command `memhook`. Hooks and the MCP server have doors of their own
output      Printing: readable in a terminal, plain when piped, JSON on request
parser      The command line as a whole, and what the commands share
place       Where a command runs, and the way from there to the memories
round_trip  One real round trip of a memory through a hook, for `doctor`
run         From arguments to one command, and from whatever it raises to an exit code
serving     `memhook mcp` and `memhook ui`, parsed and served without importing the other commands
statusline  One line about a session, for an assistant's status line
session_import  Import of the sessions that assistants recorded
views       Memories as a person sees them
"""
