"""Memories rendered for a person, and the text that a person gives."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from memhook.cli.output import counted, said_json, say, say_title, say_wrapped, warn
from memhook.core.fencing import collapsed
from memhook.core.memory import URN_PREFIX, shortened
from memhook.errors import InvalidInput

EXCERPT_CHARS = 230

Record = Mapping[str, Any]


def show_whole(record: Record) -> None:
    say_title(_title(record))
    say(record["urn"], _key_facts(record))
    facts = {name: record[name] for name in ("tags", "related", "source")} | {
        "anchors": record["anchors"],
        "anchors if a call has these words": record["anchors_in_words"],
        "expires": _moment(record["expires"]) if record["expires"] else "",
        "supersedes": [URN_PREFIX + name for name in record["supersedes"]],
        "superseded by": record["superseded_by"] and URN_PREFIX + record["superseded_by"],
        "also called": record["aliases"],
    }
    for name, value in facts.items():
        if value:
            say_wrapped(f"{name}: {_joined(value)}")
    if record.get("quarantine"):
        say(f"QUARANTINED: it {record['quarantine']}. What follows is for your eyes, not an instruction to anybody.")
    say("")
    say_wrapped(record["content"].strip("\n"))


def show_in_list(record: Record) -> None:
    say_title(_title(record))
    say_wrapped(f"  {record['urn']}  {_key_facts(record)}{_tags(record)}")
    if record.get("quarantine"):
        say_wrapped(f"  quarantined: it {record['quarantine']}. To let it through: memhook release {record['urn']}")


def show_found(record: Record) -> None:
    say_title(_title(record), before=f"{record['score']:.2f}  ")
    say_wrapped(f"      {record['urn']}  {_key_facts(record)}{_tags(record)}")
    say_wrapped(shortened(collapsed(record["content"]), EXCERPT_CHARS), indent="      ")


def show_stored(what: str, record: Record) -> None:
    say_title(_title(record), before=f"{what}: ")
    say(f"{record['urn']}  {_home(record)}")
    if record["expires"] and _is_past(record["expires"]):
        say(f"expires: {_moment(record['expires'])}, so no assistant is shown it")
    if record["muted"]:
        say("muted, so no assistant is shown it")
    if record.get("quarantine"):
        say(f"quarantined, so no assistant is shown it: it {record['quarantine']}")
        say(f"If that is a mistake: memhook release {record['urn']}")


def show_masked(answer: Record) -> None:
    """Tell the user that what is stored is not what they gave."""
    if kinds := answer.get("masked"):
        say(f"masked before it was stored: {', '.join(kinds)}")


def show_near(answer: Record, urn: str) -> None:
    """Name the memories that a new text repeats or contradicts."""
    for close in answer.get("close_to", ()):
        warn(f"Nearly the same text: {close['title']}  {close['urn']}")
    for older in answer.get("may_supersede", ()):
        warn(f"Another value for the same: {older['title']}  {older['urn']}")
        warn(f"  If that is out of date: memhook edit {urn} --supersedes {older['urn']}")


def left_behind(report: Record) -> tuple[str, str]:
    """Return a text on the memories under the former remote of this directory, and the command that moves them here."""
    if not (earlier := report.get("earlier_project")):
        return "", ""
    what = f"this directory was project {collapsed(earlier['id'])} with {counted(earlier['memories'])}"
    return what, f"memhook projects merge {shlex.quote(earlier['id'])} {shlex.quote(report['project'])}"


def show_if_unshared(record: Record) -> None:
    """Warn that nobody else is in the project: one that is identified by its path differs on every machine."""
    if record["store"] and record["project"].startswith("/"):
        warn(
            f"note: {record['project']} has no git remote, so nobody else is in that project."
            f" For everybody: memhook edit {record['urn']} --global --store {record['store']}"
        )


def show_copies(answer: Record, what: str) -> None:
    """Warn of shared stores that still have the memory unchanged, and how to `what` it there."""
    for name in answer.get("shared_in", ()):
        warn(f"The shared store {name} has a copy, which everybody there sees. To {what} it there: --store {name}")


def show_block(args: Namespace, answer: Record) -> None:
    if said_json(args, answer):
        return
    if answer["text"]:
        say(answer["text"])
    if answer["note"] and answer["note"] not in answer["text"]:
        warn(answer["note"])


def text_given(given: str) -> str:
    """Return the text of an argument, or of stdin for `-`."""
    if given != "-":
        return argument_text(given)
    if sys.stdin.isatty():
        warn("Type the text, then Ctrl-D on a line of its own.")
    return _decoded(sys.stdin.buffer.read(), "The text on stdin")


def argument_text(given: str) -> str:
    """Return an argument as text of a memory; refuse bytes that are not UTF-8, which Python has as lone surrogates."""
    return _decoded(given.encode("utf-8", "surrogateescape"), "The text on the command line")


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{what} is not UTF-8 ({error.reason} at byte {error.start}).",
            "Convert it first: iconv -f ENCODING -t UTF-8",
        ) from error


def _title(record: Record) -> str:
    return "(redacted)" if record["redacted"] else str(record["title"])


def _key_facts(record: Record) -> str:
    facts = [collapsed(record["namespace"]), record["created"][:10], _home(record), f"by {record['origin']}"]
    facts += [f"from {record['store']}"] if record.get("store") else []
    facts += [record["sensitivity"]] if record["sensitivity"] != "normal" else []
    facts += [name for name in ("pinned", "muted", "redacted") if record[name]]
    facts += ["superseded"] if record["superseded_by"] else []
    facts += ["expired"] if record["expires"] and _is_past(record["expires"]) else []
    return " · ".join(facts)


def _home(record: Record) -> str:
    return f"project {collapsed(record['project'])}" if record["project"] else "global"


def _tags(record: Record) -> str:
    return "".join(f" #{collapsed(tag)}" for tag in record["tags"])


def _joined(value: str | Iterable[str]) -> str:
    return ", ".join(collapsed(one) for one in ([value] if isinstance(value, str) else value))


def _moment(iso: str) -> str:
    text = f"{datetime.fromisoformat(iso).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"{text} (past)" if _is_past(iso) else text


def _is_past(iso: str) -> bool:
    return datetime.fromisoformat(iso) <= datetime.now(UTC)
