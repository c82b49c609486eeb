"""why: show what came up, what did not, and the reason for each."""

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, cast

from memhook.assistants.claude import PART_LIMIT
from memhook.assistants.events import TOOL_KINDS
from memhook.cli.output import counted, cut, often, said_json, say, say_title, say_wrapped, width, wrapped
from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.core.fencing import collapsed
from memhook.core.memory import ID_LENGTH, URN_PREFIX, is_id
from memhook.errors import InvalidInput, NotFound

BAR = 30
SELDOM_NEEDED = -1.0  # log odds that the kind of request contributes
LABEL = 11
MARGIN = " " * 8
SMALLEST = 0.005  # of a number that is printed with two digits
BELOW_RELEVANCE = "below relevance"
SUPERSEDED = "superseded"
SPENT = "session budget used up"
SPEAKING = ("sure", "unsure")
MOST_BELOW = 10
REMEDIES = {
    "switched off": "memhook config set enabled true",
    "paused": "memhook resume",
    "another project": "memhook edit {urn} --global",
    "confidential": "memhook edit {urn} --sensitivity normal",
    "restricted": "memhook edit {urn} --sensitivity normal",
    "redacted": "it cannot be undone",
    "quarantined": "memhook release {urn}",
    "muted": "memhook unmute {urn}",
    SUPERSEDED: "memhook get {urn} names its successor",
    "expired": 'memhook edit {urn} --expires ""',
    "another namespace": "memhook config get namespaces",
}

_START_OF_ID = re.compile(rf"[a-z0-9]{{4,{ID_LENGTH}}}")

Report = Mapping[str, Any]


def add_parser(commands: Commands) -> None:
    why = command(commands, run, "why", 'memhook why "how do we deploy?"')
    why.add_argument("prompt", metavar="PROMPT", nargs="*", help="a prompt, or the URN of a memory or its start")
    why.option("--session", "ID", "of this session, wherever it was", default="")
    why.flag("--shown", "the last time that anything was shown")


def run(args: Namespace, place: Place) -> None:
    """Show what came up last in this project, what did not, and why.

    With a prompt: what it would get now, in a new session or in the one of
    --session; nothing is recorded. With a URN: when that memory was shown, or
    what keeps it from being shown.
    """
    prompt = " ".join(args.prompt) if args.prompt else None
    if prompt and (explained := _explained(prompt, place)):
        if not said_json(args, explained):
            _say_explained(explained)
        return
    asked = {"prompt": prompt, "session": args.session, "shown": args.shown, "part_units": PART_LIMIT.size}
    report = place.call("why", **asked)
    if said_json(args, report):
        return
    say_title(_heading(report))
    say(*_summary(report))
    say(*_candidates(report))
    say(*_emitted(report))
    if report.get("last_shown"):
        say("", f"Something was last shown on {_moment(report['last_shown'])}: memhook why --shown")


def _explained(prompt: str, place: Place) -> Report | None:
    """Return the explanation of one memory, if the prompt is its URN, its id or the start of one."""
    name = prompt.strip()
    if name.startswith(URN_PREFIX) and " " not in name:
        return cast(Report, place.call("explain", reference=name))
    if not _START_OF_ID.fullmatch(name):
        return None
    with suppress(NotFound, InvalidInput):  # a word, which looks like an id, or like the start of several
        found = cast(Report, place.call("explain", reference=name))
        # A shorter word may also be the alias of a memory: as a prompt it means more.
        return found if is_id(name) or found["urn"].startswith(URN_PREFIX + name) else None
    return None


def _say_explained(one: Report) -> None:
    say_title(one["title"] or "(confidential, restricted, redacted or quarantined: not named here)")
    say(one["urn"])
    for reason in one["withheld_because"]:
        say_wrapped(f"never shown here: {_obstacle(reason, one)}")
    if not one["withheld_because"]:
        say_wrapped("may be shown here, when a prompt is near enough: memhook why PROMPT")
        if one["anchors"]:
            say_wrapped(f"and when a tool touches: {', '.join(map(collapsed, one['anchors']))}")
        if one["anchors_in_words"]:
            say_wrapped(f"and when a tool call has these words: {', '.join(map(collapsed, one['anchors_in_words']))}")
    if one.get("checked"):
        say_wrapped(f"checked against the repository: {collapsed(one['checked'])}")
    if readers := one.get("loaded_by"):
        say_wrapped(f"not shown to {' and '.join(readers)}: it reads the file of this memory by itself")
    if captured := one.get("captured"):
        say_wrapped(
            f"captured {captured['date']} from {captured['from'] or 'a session'}, unreviewed."
            f" It needs a score of {captured['gate']:.2f}. If it is right: memhook inbox keep {one['urn']}"
        )
    say(_shown_so_far(one))
    for event in one["history"]:
        shown = "shown and used" if event["used"] else "shown"
        if event["event"] in TOOL_KINDS and event["score_parts"]:
            shown += f", for {', '.join(map(collapsed, event['score_parts']))}"
        fate = f"left out ({event['left_out']})" if event["left_out"] else shown
        say_wrapped(f"  {_moment(event['at'])}  {event['event']} by {event['client']}: {fate}")


def _obstacle(reason: str, one: Report) -> str:
    """Return why a memory is withheld, and the command that changes that."""
    if reason == SUPERSEDED and (newer := one["superseded_by"]):
        by = f"{collapsed(newer['title'])}  {newer['urn']}"
        return f'superseded by {by}. To change that: memhook edit {newer["urn"]} --supersedes ""'
    remedy = REMEDIES[next(name for name in REMEDIES if reason.startswith(name))]
    return f"{reason}. To change that: {remedy.format(urn=one['urn'])}"


def _shown_so_far(one: Report) -> str:
    if not one["times_shown"]:
        return "not shown so far"
    used = f"used {often(one['times_used'])}" if one["times_used"] else "not used"
    return f"shown {often(one['times_shown'])} so far, {used}"


def _heading(report: Report) -> str:
    if not report["recorded"]:
        session = f"session {report['session']}" if report["session"] else "a new session"
        return f"What this prompt would get now in {session}"
    return f"{report['event']} on {_moment(report['at'])}"


def _summary(report: Report) -> Iterator[str]:
    for name in ("session", "agent"):
        if report["recorded"] and report[name]:
            yield from _row(name, report[name])
    yield from _row("outcome", _outcome(report))
    if report["relevance"] and report["relevance"]["chance"] is not None:
        yield from _judgement(report["relevance"])
    if read_as := report.get("read_as"):
        yield from _row("read", ", ".join(f"'{word}' as '{meant}'" for word, meant in read_as.items()))
    yield from _row("budget", f"{_bar(report['tokens'], report['budget'])} tokens")
    if spent := report["session_budget"]["spent"]:
        until = ": silent until the context is compacted or cleared" if report["outcome"] == SPENT else ""
        yield from _row("in all", f"{spent} of {report['session_budget']['of']} tokens (session_max_tokens){until}")
    yield from _row("time", _times(report["milliseconds"]))
    if report["withheld"]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in report["withheld"].items())
        yield from _row("counted", f"{kinds}: such memories are never shown, and not named here")


def _outcome(report: Report) -> str:
    shown = sum(candidate["shown"] for candidate in report["candidates"])
    if not report["parts"]:
        return f"nothing was added: {report['outcome']}" if report["recorded"] else f"nothing: {report['outcome']}"
    parts = f" in {len(report['parts'])} parts" if len(report["parts"]) > 1 else ""
    return f"{counted(shown)} shown{parts}"


def _judgement(relevance: Report) -> Iterator[str]:
    grade, level = relevance["grade"], relevance["level"]
    edges = f"unsure from {relevance['unsure_from']:.2f}, sure from {relevance['sure_from']:.2f} on"
    chance = f"the chance that a memory bears on this prompt is {relevance['chance']:.2f}"
    yield from _row("relevance", f"{grade}: {chance} ({edges}; hooks.relevance = {level})")
    if signs := _signs(relevance):
        yield from _row("prompt", f"{signs} (log odds)")
    if grade == "far":
        yield from _row("lacking", _lacking(relevance))


def _signs(relevance: Report) -> str:
    """Return the contribution of the prompt itself to the chance, in log odds."""
    signs = (("kind of request", relevance["request"]), ("small talk", relevance["talk"]))
    return ", ".join(f"{name} {value:+.2f}" for name, value in signs if value and abs(value) >= SMALLEST)


def _lacking(relevance: Report) -> str:
    """Return the changes with which memhook would have shown memories."""
    ways = []
    if relevance["nearest"] is not None:
        needed, nearest = relevance["nearness_needed"], f"{relevance['nearest']:.2f}"
        ways.append(
            f"a memory as near as {needed:.2f}, where the nearest has {nearest} ({relevance['cosine']})"
            if needed
            else f"a memory nearer than {nearest} ({relevance['cosine']})"
        )
    else:
        ways.append("a memory with more of the prompt's words")
    if (relevance["talk"] or 0.0) <= -SMALLEST:
        ways.append("a prompt that reads less like small talk")
    elif (relevance["request"] or 0.0) < SELDOM_NEEDED:
        ways.append("another kind of request: this one seldom needs a memory")
    if relevance["speaks_at"]:
        ways.append(f"hooks.relevance = {relevance['speaks_at']}")
    return ", or ".join(ways)


def _bar(tokens: int, budget: int) -> str:
    filled = min(BAR, -(-tokens * BAR // max(1, budget)))
    return f"[{'#' * filled}{'-' * (BAR - filled)}] {tokens} of {budget}"


def _times(milliseconds: Mapping[str, float]) -> str:
    stages = ", ".join(f"{stage} {spent:.1f}" for stage, spent in milliseconds.items() if stage != "total")
    total = f"{milliseconds.get('total', 0.0):.1f} ms"
    return f"{total}: {stages}" if stages else total


def _candidates(report: Report) -> Iterator[str]:
    """Yield the candidates in groups: shown, left out for a reason of their own, and not near enough."""
    candidates, relevance = report["candidates"], report["relevance"] or {}
    below = [one for one in candidates if one["reason"] == BELOW_RELEVANCE]
    near = [one for one in below if relevance.get("grade") in SPEAKING and one["score"] >= relevance["floor"]]
    far = [one for one in below if one not in near]
    groups = {
        "Shown": [one for one in candidates if one["shown"]],
        "Left out": [one for one in candidates if one["reason"] not in ("", BELOW_RELEVANCE)],
        f"Left out by an earlier hooks.relevance ({len(near)}), which is {relevance.get('level')} now": near,
        f"Below relevance ({len(far)}){_bound(relevance)}": far,
    }
    for name, some in groups.items():
        if not some:
            continue
        listed = some if name in ("Shown", "Left out") else some[:MOST_BELOW]
        yield from ("", *wrapped(f"{name}:", ""))
        for one in listed:
            yield from _entry(one, len(report["parts"]))
        if len(listed) < len(some):
            yield f"  and {len(some) - len(listed)} more: memhook why --json"


def _bound(relevance: Report) -> str:
    """Return the bound they are below: of the score if memhook shows anything, else of the chance of the prompt."""
    if relevance.get("grade") in SPEAKING:
        return f", with a score under {relevance['floor']:.2f}"
    if relevance.get("grade"):
        return f": nothing is shown, whatever its score, while the chance is under {relevance['unsure_from']:.2f}"
    return ""


def _entry(one: Report, parts: int) -> Iterator[str]:
    yield f"  {one['score']:.2f}  {cut(_title(one), width() - len(MARGIN))}"
    yield from wrapped(f"{one['urn']}  {_showing(one) if one['shown'] else one['reason']}", MARGIN)
    facts = [f"{name} {value:.2f}" for name, value in one["score_parts"].items() if abs(value) >= SMALLEST]
    facts += [f"part {one['part']} of {parts}"] if one["shown"] and parts > 1 else []
    if facts:
        yield from wrapped(", ".join(facts), MARGIN)


def _showing(one: Report) -> str:
    if one["is_whole"]:
        return f"whole, {one['tokens']} tokens"
    places = [f"{start} to {end}" for start, end in one["passages"]]
    passages = f", {len(places)} passages" if len(places) > 1 else f", characters {places[0]}" if places else ""
    return f"{one['level']}{passages}, {one['tokens']} tokens"


def _title(one: Report) -> str:
    if not one["exists"]:
        return "(no longer exists)"
    return f"{'(changed since) ' if one['changed_since'] else ''}{collapsed(one['title'])}"


def _emitted(report: Report) -> Iterator[str]:
    """Yield the text exactly as the model receives it."""
    parts = report["parts"]
    for number, part in enumerate(parts, start=1):
        of = f", part {number} of {len(parts)}" if len(parts) > 1 else ""
        yield from ("", f"The text{of}:", *part.split("\n"))


def _row(label: str, text: str) -> list[str]:
    return wrapped(text, " " * LABEL, before=f"{label:<{LABEL}}")


def _moment(iso: str) -> str:
    return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M:%S}"
