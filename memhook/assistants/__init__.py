"""The assistants: one module for each, and the machinery that switches memhook on in them.

assistant  The description of an assistant: events, answers, configuration, notes, sessions
claude     Claude Code: the format of events and answers that the others adopted, and two settings files
codex      Codex: Claude Code's events with a turn instead of a prompt's id, a limit in bytes, servers in TOML
copilot    Copilot CLI: Claude Code's events, or its own in camelCase; context at the top level of the answer
edits      An edit of an assistant's file that can be undone: hooks, an MCP server, or a file of memhook's own
events     The common form of the assistants' events, and parsing their payloads
gemini     Gemini CLI: a prompt is BeforeAgent there, timeouts are milliseconds, and memhook is an extension
known      The supported assistants, one line each, and which of them an event came from
opencode   OpenCode: a plugin in JavaScript, which memhook installs, sends Claude Code's events
qwen       Qwen Code: Claude Code's events and answers, Gemini CLI's settings
reading    Recorded sessions and their steps, and the helpers of their readers: lines, objects, times, commands
switching  Switching memhook on and off: the changes to be shown, then writing them, with a record to undo each
"""
