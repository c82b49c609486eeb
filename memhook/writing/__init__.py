"""Writing: store, change, supersede, share, move, delete, import, export, back up.

remember          storing, editing and forgetting memories
twins             finding the stored memory that a new one repeats
notes             notes typed into a prompt, and undoing them
captured          memories captured from sessions, stored on probation
closeness         finding near-duplicates of a memory, and those that it contradicts
revision          versions of a memory, and putting it back as it was
succession        marking the memories that others supersede
projects          listing projects, and moving memories between them
sharing           finding the store that has a memory, and copying it to another
expunge           deleting a memory from everything memhook wrote: redact and purge
transfer          import and export as JSONL
backup            backup, restore, and rebuilding a damaged store
archive           reading a backup without trusting it
offered_settings  the settings in a backup, and what each would change here
moments           dates and durations as typed: 2026-02-14, 30d, 12h
"""
