"""Writing: store, change, supersede, share, move, delete, import, export, back up.

remember          storing, editing and forgetting memories
twins             which stored memory a new one repeats
notes             notes typed into a prompt, and taking them back
captured          digests of sessions, stored on probation
closeness         finding near-duplicates of a memory
revision          versions of a memory, and putting it back as it was
succession        which memory supersedes which
projects          listing projects, and moving memories between them
sharing           which store has a memory, and copying it to another
expunge           deleting a memory from everything memhook wrote: redact and purge
transfer          import and export as JSONL
backup            backup, restore, and rebuilding a damaged store
archive           reading a backup without trusting it
offered_settings  the settings in a backup, and what each would change here
moments           dates and durations as typed: 2026-02-14, 30d, 12h
"""
