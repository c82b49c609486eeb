"""The sessions that assistants record, read into one form: prompts, replies, commands, edits.

recording  A recorded session and its steps
reading    What the readers share: lines, objects, words, times, commands
claude     Claude Code: a line per event, tool results in the user's lines
codex      Codex: a line per event, wrapped in a payload
copilot    Copilot CLI: a line per event, named with dots
gemini     Gemini CLI: one object, or since 0.4x a line per message
opencode   OpenCode: one SQLite database, or before 1.2 a file per session, message and part
qwen       Qwen Code: a line per message, in the format of Google's API
"""
