"""The command line. Each file of `commands/` has the options of its commands beside their code.

ahead       Calls to the daemon sent ahead of the answers, for imports
commands/   The commands
editor      The user's own editor
main        The command `memhook`, which starts hooks, the MCP server and the page without the other commands
output      Printing: readable in a terminal, plain when piped, JSON on request
parser      The argument parser, and the options that commands share
place       The directory a command runs in, and its connection to the memories
round_trip  One real round trip of a memory through a hook, for `doctor`
run         Run one command, and turn what it raises into an exit code
serving     `memhook mcp` and `memhook ui`, parsed and served without importing the other commands
statusline  One line about a session, for an assistant's status line
session_import  Import of the sessions that assistants recorded
views       Memories rendered for a person
"""
