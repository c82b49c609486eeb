"""The commands: a module has their options (`add_parser`) and their functions, such as `run`, with the help."""

COMMANDS = {
    "remember": "remember add edit",
    "search": "get source search list",
    "forget": "forget rm delete redact",
    "inbox": "inbox tidy",
    "distill": "distill",
    "mute": "share mute unmute release",
    "inject": "inject pack",
    "import_": "import",
    "export": "export",
    "backup": "backup restore",
    "why": "why",
    "stats": "stats",
    "eval": "eval",
    "projects": "projects",
    "pause": "pause resume",
    "config": "config models",
    "daemon": "daemon",
    "install": "install uninstall",
    "status": "status",
    "doctor": "doctor",
    "doors": "ui mcp hook statusline",
    "token": "token",
    "help": "guide help version completion",
}
"""Each module of this folder with its commands, in the order of `memhook --help`."""
