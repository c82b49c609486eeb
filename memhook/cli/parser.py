"""Every command with its options, a line of what it does and an example."""

from __future__ import annotations

import sys
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    RawDescriptionHelpFormatter,
)
from typing import NoReturn

from memhook import __version__
from memhook.assistants.known import KNOWN
from memhook.cli import guide, memory_options, token_options
from memhook.cli.memory_options import Commands, command
from memhook.mcp_server import main as mcp_main

DESCRIPTION = "Memory for coding assistants: the right memories at the right moment,\nwithin a token budget."
BUDGETS = (500, 1000, 2000, 4000)
SHELLS = ("bash", "zsh", "fish", "tcsh")
EPILOG = """\
examples:
  memhook remember "Deploys hang at 40 % without the VPN" --tag deploy
  memhook search "why does the deploy hang"
  memhook why
  memhook doctor

Each command has its own help: memhook remember --help"""


def parser() -> ArgumentParser:
    top: ArgumentParser = _Parser(
        "memhook",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"memhook {__version__}")
    top.add_argument("-C", dest="directory", metavar="DIRECTORY", help="run as if started there")
    top.add_argument("--no-daemon", action="store_true", help="work in this process, under the store's lock")
    commands: Commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    memory_options.add_commands(commands)
    _add_context(commands)
    _add_transfer(commands)
    _add_backup(commands)
    _add_insight(commands)
    _add_eval(commands)
    _add_projects(commands)
    _add_pauses(commands)
    _add_config(commands)
    _add_models(commands)
    _add_daemon(commands)
    _add_assistants(commands)
    _add_others(commands)
    guide.add_parser(commands)
    return top


class _Parser(ArgumentParser):
    """Says where to look when the arguments cannot be understood."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {message}\nSee: {self.prog} --help\n")


def _add_context(commands: Commands) -> None:
    inject = command(
        commands,
        "inject",
        "finished context for a prompt, within a token budget",
        'memhook inject "why does the deploy hang" --max-tokens 1500',
        "With hits exactly those memories are shown, without a search:\n"
        "memhook search --json QUERY | memhook inject --hits -",
    )
    inject.add_argument("query", metavar="QUERY", nargs="*", help="what to look for; with hits, the heading")
    inject.add_argument("--max-tokens", type=_tokens, metavar="N", help="of the whole text (setting max_tokens)")
    inject.add_argument("--hit", action="append", metavar="ID:SCORE", help="show this memory; repeatable")
    inject.add_argument("--hits", metavar="FILE", help="show these: what search --json prints, or - for stdin")
    inject.add_argument("--namespace", action="append", metavar="NAME", help="of this namespace; repeatable")
    inject.add_argument("--include-restricted", action="store_true", help="restricted memories too")
    pack = command(
        commands,
        "pack",
        "as many whole memories about a topic as fit a token budget",
        'memhook pack "release process" --budget-tokens 2000',
    )
    pack.add_argument("topic", metavar="TOPIC", nargs="+")
    pack.add_argument("--budget-tokens", type=int, metavar="N", help="of the whole text (2000)")
    pack.add_argument("--ordering", metavar="ORDER", help=f"{', '.join(memory_options.ORDERINGS)} (the last)")
    mcp = command(
        commands,
        "mcp",
        "the MCP server, on stdin and stdout or over HTTP",
        "memhook mcp --scopes memory:read --namespaces frontend,shared",
        "With --http it serves agents on other machines at http://HOST:PORT/mcp. Each\n"
        "request brings a token (memhook token create), which says what it may do.\n"
        "Calls count for no project, only for the global memories, or with -C DIR for\n"
        "the project of that directory too; searching looks in all projects.\n"
        "What is sent is not encrypted: beyond loopback use a TLS proxy or a tunnel.\n"
        "memhook mcp --http 8765",
        json=False,
    )
    mcp_main.add_options(mcp)
    token_options.add_commands(commands)


def _tokens(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ArgumentTypeError(f"{text!r} is not a number of tokens")
    return int(text)


def _add_transfer(commands: Commands) -> None:
    importing = command(
        commands,
        "import",
        "store the memories of a file or a folder, none of them twice",
        "memhook import notes.jsonl",
        "What it is shows its content: JSONL; Markdown (CLAUDE.md, AGENTS.md, notes),\n"
        "where front matter becomes fields and each top heading a memory, updated when\n"
        "imported again; the graph of MCP's reference memory server.\n"
        'A line: {"content" or "text", "title"?, "created"?, "namespace"?, "tags"?, ...}.\n'
        "What is bad is listed on stderr while the rest is stored; the exit code is 1\n"
        "then.",
    )
    importing.add_argument("file", metavar="FILE", nargs="?", help="the file or folder, or - for stdin")
    importing.add_argument(
        "--assistants",
        action="store_true",
        help="what assistants keep (CLAUDE.md, AGENTS.md, memory folders), after asking; FILE may name one of them",
    )
    importing.add_argument("-y", "--yes", action="store_true", help="do not ask")
    importing.add_argument("--project", action="store_true", help="into this project, unless a line says otherwise")
    importing.add_argument("--again", action="store_true", help="bring back what was forgotten before")
    importing.add_argument("--dry-run", action="store_true", help="only show what would come in")
    memory_options.add_store(importing, "into this shared store instead of your own")
    exporting = command(
        commands, "export", "write every memory as JSONL, as import reads it", "memhook export backup.jsonl"
    )
    exporting.add_argument("file", metavar="FILE", nargs="?", default="-", help="the file; stdout without one")
    exporting.add_argument("--markdown", action="store_true", help="FILE is a folder, for a Markdown file each")
    memory_options.add_store(exporting, "of this shared store instead of your own")


def _add_backup(commands: Commands) -> None:
    backup = command(
        commands,
        "backup",
        "write everything memhook keeps into one file",
        "memhook backup memhook-2026-02-14.zip",
        "Memories with their vectors, the traces of forgotten ones, the record of what\n"
        "was shown, and your settings; consistent also while something is written.",
    )
    backup.add_argument("file", metavar="FILE")
    backup.add_argument("--replace", action="store_true", help="in place of a file that is there")
    restore = command(
        commands,
        "restore",
        "put a backup back, or rebuild a damaged store",
        "memhook restore memhook-2026-02-14.zip",
        "Settings in it that differ from yours are shown and asked for; stores and models\n"
        "apart from the others. The daemon is stopped; the next prompt starts it. With\n"
        "--from-damaged what can be read of the store becomes a new one, the rest is\n"
        "counted, and the damaged one is kept.",
    )
    restore.add_argument("file", metavar="FILE", nargs="?")
    restore.add_argument("--replace", action="store_true", help="replace what is there; a copy of it is kept")
    restore.add_argument("-y", "--yes", action="store_true", help="take over its settings, except stores and models")
    restore.add_argument("--with-stores", action="store_true", help="take over the stores and models it names, too")
    restore.add_argument("--from-damaged", action="store_true", help="rebuild the store from what is readable")


def _add_insight(commands: Commands) -> None:
    why = command(
        commands,
        "why",
        "what was shown last in this project, what was not, and why",
        'memhook why "how do we deploy?"',
        "With a prompt: what that would get now, in a new session or in the one of\n"
        "--session. Nothing of it is recorded.",
    )
    why.add_argument("prompt", metavar="PROMPT", nargs="*")
    why.add_argument("--session", metavar="ID", default="", help="of this session, wherever it was")
    why.add_argument("--shown", action="store_true", help="the last time that anything was shown")
    stats = command(
        commands,
        "stats",
        "prompts, tokens, and the memories shown most and never",
        "memhook stats --days 7",
    )
    stats.add_argument("--days", type=_days, metavar="N", help="the last N days; without it, all that is recorded")
    stats.add_argument("--project", action="store_true", help="only this project")


def _add_eval(commands: Commands) -> None:
    evaluation = command(
        commands,
        "eval",
        "measure on memories and prompts of your own what the prompt hook finds",
        "memhook eval my-set --baselines",
        "DIR holds memories.jsonl, lines {id, text, title?, created?, namespace?}, and\n"
        "queries.jsonl, lines {prompt, gold: [ids], kind?, namespace?, needs?}; an empty\n"
        "gold says that nothing answers the prompt, needs is the part of a gold memory\n"
        "that has to reach the model. A folder of such folders is evaluated set by set.\n"
        "Each goes into a temporary store; nothing of it is recorded.",
    )
    evaluation.add_argument("folders", metavar="DIR", nargs="+")
    evaluation.add_argument(
        "--budgets", type=_budgets, metavar="N,N", default=BUDGETS, help="in tokens (500,1000,2000,4000)"
    )
    evaluation.add_argument(
        "--detail", choices=("preview", "cascade", "full", "pack"), help="how much is shown (setting hooks.detail)"
    )
    evaluation.add_argument(
        "--baselines", "--baseline", action="store_true", help="BM25, vectors and other simple methods beside it"
    )
    evaluation.add_argument(
        "--session-prompts", type=_lengths, metavar="N,N", default=(), help="sessions of N prompts and their start too"
    )
    evaluation.add_argument(
        "--within-namespace", action="store_true", help="a query's namespace is the project it is asked in"
    )
    evaluation.add_argument("--sample", type=_prompts, metavar="N", help="only N of the prompts")
    evaluation.add_argument("--seed", type=int, default=0, metavar="S", help="which ones (0)")


def _lengths(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_prompts(part.strip()) for part in text.split(",")))


def _budgets(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_tokens(part.strip()) for part in text.split(",")))


def _prompts(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ArgumentTypeError(f"{text!r} is not a number of prompts")
    return int(text)


def _add_projects(commands: Commands) -> None:
    projects = command(
        commands,
        "projects",
        "the projects there are, and mending them",
        "memhook projects",
        "A project is known by its git remote, else by its main worktree, a root marker\n"
        "or its directory. It is named by its id, by its name, as a directory or as here.",
    )
    actions: Commands = projects.add_subparsers(dest="action", metavar="ACTION")
    merge = command(
        actions,
        "merge",
        "make the first part of the second, its later sessions too",
        "memhook projects merge /home/me/old-name here",
        "Every memory keeps its URN.",
    )
    merge.add_argument("source", metavar="A")
    merge.add_argument("target", metavar="B")
    split = command(
        actions,
        "split",
        "let later sessions of a merged one be its own again",
        "memhook projects split /home/me/old-name",
    )
    split.add_argument("source", metavar="A")
    move = command(
        actions,
        "move",
        "move memories to another project, or make them global",
        "memhook projects move urn:memhook:k3v9x2m4p7qa --to global",
    )
    move.add_argument("references", metavar="URN", nargs="*")
    move.add_argument("--from", dest="source", metavar="PROJECT", default="", help="all memories of this project")
    move.add_argument("--to", dest="target", metavar="PROJECT", required=True, help="its id, here or global")
    for one in (merge, move):
        one.add_argument("-y", "--yes", action="store_true", help="do not ask")


def _add_pauses(commands: Commands) -> None:
    pause = command(
        commands,
        "pause",
        "keep memhook silent, for a while or until resume",
        "memhook pause --project 30m",
        "It works at once, also in sessions that are open.",
    )
    pause.add_argument("duration", metavar="DURATION", nargs="?", help="30m, 2h, 1d, 1w; without it, until resume")
    pause.add_argument("--project", action="store_true", help="only in this project")
    resume = command(commands, "resume", "end a pause", "memhook resume")
    resume.add_argument("--project", action="store_true", help="the pause of this project")


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 100_000):
        raise ArgumentTypeError(f"{text!r} is not a number of days")
    return int(text)


def _add_config(commands: Commands) -> None:
    config = command(
        commands, "config", "see and change the settings", "memhook config set max_tokens 2000", json=False
    )
    actions: Commands = config.add_subparsers(dest="action", metavar="ACTION", required=True)
    command(actions, "show", "every setting, its value and where that came from", "memhook config show")
    get = command(actions, "get", "the value of one setting", "memhook config get max_tokens")
    get.add_argument("key", metavar="KEY")
    change = command(
        actions,
        "set",
        "change one setting in your file; the rest of the file stays as it is",
        "memhook config set hooks.detail cascade",
        json=False,
    )
    change.add_argument("key", metavar="KEY")
    change.add_argument("value", metavar="VALUE", help='as in TOML (2000, true, ["a", "b"]) or plain text')
    unset = command(
        actions, "unset", "take one setting out of your file", "memhook config unset max_tokens", json=False
    )
    unset.add_argument("key", metavar="KEY")
    command(actions, "path", "where your settings are", "memhook config path", json=False)
    command(actions, "edit", "open your settings in $VISUAL or $EDITOR", "memhook config edit", json=False)


def _add_models(commands: Commands) -> None:
    models = command(commands, "models", "the embedding models one may choose from", "memhook models list", json=False)
    actions: Commands = models.add_subparsers(dest="action", metavar="ACTION", required=True)
    command(
        actions,
        "list",
        "every model, which is configured and which are on this machine",
        "memhook models list",
        "Nothing is asked of the network.",
    )
    pull = command(
        actions,
        "pull",
        "download one of fastembed's own models",
        "memhook models pull BAAI/bge-small-en-v1.5",
        "Nothing else in memhook downloads a model.",
        json=False,
    )
    pull.add_argument("name", metavar="NAME")


def _add_daemon(commands: Commands) -> None:
    daemon = command(
        commands, "daemon", "the resident process that makes hooks fast", "memhook daemon status", json=False
    )
    actions: Commands = daemon.add_subparsers(dest="action", metavar="ACTION", required=True)
    command(actions, "start", "start it, unless it runs", "memhook daemon start", json=False)
    command(actions, "stop", "stop it; the next prompt starts it again", "memhook daemon stop", json=False)
    command(actions, "restart", "stop it and start it again", "memhook daemon restart", json=False)
    command(actions, "status", "whether it runs (exit code 0) or not (1)", "memhook daemon status --json")


def _add_assistants(commands: Commands) -> None:
    install = command(
        commands,
        "install",
        "switch memhook on in the assistants: their hooks and the MCP server",
        "memhook install claude codex",
        "Without a name: in those found on this machine. It shows what will be written\n"
        "where and asks. Other settings and comments stay; a copy of each file is kept.\n"
        "Then it asks whether to import what the assistants keep (not with --yes).",
        json=False,
    )
    uninstall = command(
        commands,
        "uninstall",
        "switch memhook off again, each file as it was before",
        "memhook uninstall --dry-run",
        "A file that was changed since loses memhook's entries only. Your memories stay.",
        json=False,
    )
    uninstall.add_argument("--purge", action="store_true", help="delete the memories, settings and records too")
    for added in (install, uninstall):
        added.add_argument(
            "assistants", metavar="NAME", nargs="*", choices=_NoneOrSome(KNOWN), help=f"of {', '.join(KNOWN)}"
        )
        added.add_argument("--project", action="store_true", help="only in the project you are in")
        added.add_argument("--dry-run", action="store_true", help="only print the difference it would make")
        added.add_argument("-y", "--yes", action="store_true", help="do not ask")


class _NoneOrSome(tuple[str, ...]):
    """Choices for as many names as one likes: argparse looks for the empty list among them, too."""

    __slots__ = ()

    def __contains__(self, given: object) -> bool:
        return given == [] or super().__contains__(given)


def _add_others(commands: Commands) -> None:
    command(commands, "status", "project, memories, model, budget and daemon on one screen", "memhook status")
    command(
        commands,
        "doctor",
        "look for problems and say what mends them",
        "memhook doctor",
        "The exit code is 1 when there is one.",
    )
    hook = command(
        commands,
        "hook",
        "what the plugin runs: an event on stdin, an answer on stdout",
        "memhook hook UserPromptSubmit",
        json=False,
    )
    hook.add_argument("event", metavar="EVENT", nargs="?")
    hook.add_argument("part", metavar="PART", nargs="?")
    hook.add_argument("--client", metavar="NAME", help="the assistant, where it cannot be recognised")
    completion = command(
        commands,
        "completion",
        "print the completion script for a shell",
        'eval "$(memhook completion bash)"',
        json=False,
    )
    completion.add_argument("shell", choices=SHELLS)
