"""How memories come in and change: remember, supersede, share, expunge, transfer, backup.

archive           A backup read without trusting it: everything is checked, in bounded memory
backup            Everything memhook keeps in one file, and back again; and what is left of a damaged store
closeness         Whether something very close to a memory is there already
expunge           Gone means gone: a memory taken out of everything memhook ever wrote about it
moments           Points in time as people type them: 2026-02-14, 2026-02-14T09:30+01:00, 30d, 12h, 2w
notes             Notes that a user types into a prompt, and taking them back: the only writing that a hook does
offered_settings  The settings in a backup, which somebody else may have written: what each would change here
projects          The projects there are, and mending them: memories moved to where they belong
remember          Writing memories down, changing them and forgetting them
sharing           Between stores: which of them holds a memory, and copying one over
succession        Which memory took the place of which: `supersedes` is what is written down
transfer          Memories from and to JSONL, one record a line
"""
