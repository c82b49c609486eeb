"""why: what was shown, what was not, and the reason for each."""

from __future__ import annotations

import textwrap
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from memhook.assistants.claude import PART_LIMIT
from memhook.cli.output import counted, say, say_json, say_title, width
from memhook.cli.place import Place
from memhook.core.fencing import collapsed
from memhook.core.memory import shortened

BAR = 30
SELDOM_NEEDED = -1.0  # log odds that the kind of request contributes
LABEL = 11
MARGIN = " " * 8
SMALLEST = 0.005  # of a number that is printed with two digits
BELOW_RELEVANCE = "below relevance"
SPENT = "session budget used up"

Report = Mapping[str, Any]


def why(args: Namespace, place: Place) -> int:
    prompt = " ".join(args.prompt) if args.prompt else None
    asked = {"prompt": prompt, "session": args.session, "shown": args.shown, "part_units": PART_LIMIT.size}
    report = place.call("why", **asked)
    if args.json:
        say_json(report)
        return 0
    say_title(_heading(report))
    say(*_summary(report))
    say(*_candidates(report))
    say(*_emitted(report))
    if report.get("last_shown"):
        say("", f"Something was last shown on {_moment(report['last_shown'])}: memhook why --shown")
    return 0


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
    yield from _row("relevance", _standing(relevance))
    if signs := _signs(relevance):
        yield from _row("prompt", f"{signs} (log odds)")
    if relevance["grade"] == "far":
        yield from _row("lacking", _lacking(relevance))


def _standing(relevance: Report) -> str:
    """The grade, and the edges it is measured by."""
    return (
        f"{relevance['grade']}: the chance that a memory bears on this prompt is {relevance['chance']:.2f} (unsure from"
        f" {relevance['unsure_from']:.2f}, sure from {relevance['sure_from']:.2f} on; hooks.relevance ="
        f" {relevance['level']})"
    )


def _signs(relevance: Report) -> str:
    """What the prompt itself contributes to the chance, in log odds."""
    signs = (("kind of request", relevance["request"]), ("small talk", relevance["talk"]))
    return ", ".join(f"{name} {value:+.2f}" for name, value in signs if value and abs(value) >= SMALLEST)


def _lacking(relevance: Report) -> str:
    """What would have had to be different for memhook to speak."""
    ways = []
    if relevance["nearest"] is not None:
        needed, nearest = relevance["nearness_needed"], f"{relevance['nearest']:.2f}"
        ways.append(
            f"a memory as near as {needed:.2f}, where the nearest has {nearest} (dense)"
            if needed
            else f"a memory nearer than {nearest} (dense)"
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
    """What was shown, what was left out for a reason of its own, and what was not near enough."""
    candidates = report["candidates"]
    shown = [one for one in candidates if one["shown"]]
    below = [one for one in candidates if one["reason"] == BELOW_RELEVANCE]
    left_out = [one for one in candidates if one["reason"] not in ("", BELOW_RELEVANCE)]
    for name, some in (("Shown", shown), ("Left out", left_out)):
        if some:
            yield from ("", f"{name}:")
        for one in some:
            yield from _entry(one, len(report["parts"]))
    if below:
        yield from ("", f"Below relevance ({len(below)}){_bound(report['relevance'])}:", *_table(below))


def _bound(relevance: Report | None) -> str:
    """Which bound they are below: where memhook speaks, each one's own score counts."""
    speaks = relevance and relevance["grade"] in ("sure", "unsure")
    return f", with a score under {relevance['floor']:.2f}" if relevance and speaks else ""


def _entry(one: Report, parts: int) -> Iterator[str]:
    yield f"  {one['score']:.2f}  {_title(one, width() - len(MARGIN))}"
    yield f"{MARGIN}{one['urn']}  {_showing(one) if one['shown'] else one['reason']}"
    facts = [f"{name} {value:.2f}" for name, value in one["score_parts"].items() if abs(value) >= SMALLEST]
    facts += [f"part {one['part']} of {parts}"] if one["shown"] and parts > 1 else []
    if facts:
        yield f"{MARGIN}{', '.join(facts)}"


def _showing(one: Report) -> str:
    if one["is_whole"]:
        return f"whole, {one['tokens']} tokens"
    places = [f"{start} to {end}" for start, end in one["passages"]]
    passages = f", {len(places)} passages" if len(places) > 1 else f", characters {places[0]}" if places else ""
    return f"{one['level']}{passages}, {one['tokens']} tokens"


def _table(below: Sequence[Report]) -> Iterator[str]:
    """A line each: score, its parts, URN and what room is left for the title."""
    parts = [part for one in below for part in one["score_parts"].items()]
    names = list(dict.fromkeys(name for name, value in parts if abs(value) >= SMALLEST))
    heads = "".join(f"{name:>{_column(name)}}" for name in names)
    yield f"  {'score':>5}{heads}  {'urn':<24}  title"
    for one in below:
        values = "".join(f"{one['score_parts'].get(name, 0.0):>{_column(name)}.2f}" for name in names)
        start = f"  {one['score']:>5.2f}{values}  {one['urn']}  "
        yield start + _title(one, max(width() - len(start), 8))


def _column(name: str) -> int:
    return max(len(name), 4) + 2


def _title(one: Report, room: int) -> str:
    if not one["exists"]:
        return shortened("(no longer exists)", room)
    title = collapsed(one["title"])
    return shortened(f"(changed since) {title}" if one["changed_since"] else title, room)


def _emitted(report: Report) -> Iterator[str]:
    """The text exactly as the model receives it."""
    parts = report["parts"]
    for number, part in enumerate(parts, start=1):
        of = f", part {number} of {len(parts)}" if len(parts) > 1 else ""
        yield from ("", f"The text{of}:", *part.split("\n"))


def _row(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        width(),
        initial_indent=f"{label:<{LABEL}}",
        subsequent_indent=" " * LABEL,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _moment(iso: str) -> str:
    return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M:%S}"
